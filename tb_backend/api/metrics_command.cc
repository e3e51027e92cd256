#include "tb_backend/api/metrics_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "handler/event_file_writer.h"
#include "tb_backend/analysis/step_scalars.h"
#include "tb_backend/api/metric_book.h"
#include "tb_backend/api/summary.h"
#include "tb_backend/api/terminal_text.h"
#include "tb_backend/ingest/ingest.h"

namespace traceglass {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A run of its own in TensorBoard for each worker, so that the files of a program that still
// writes are left alone. The name tells the trace: written again, it is the same file.
fs::path target_of(const TraceFile& file, double start) {
  const std::string worker = file.worker.empty() ? "worker" : file.worker;
  const std::string name = fmt::format("events.out.tfevents.{:010}.{:05}.traceglass",
                                       static_cast<std::int64_t>(std::max(0.0, start)), file.index);
  return file.path.parent_path() / "traceglass" / worker / name;
}

enum class Outcome { kWritten, kSame, kFailed };

Outcome write_scalars(const fs::path& target, double base, const std::vector<StepScalars>& steps) {
  std::error_code error;
  fs::path temporary = target;
  temporary += ".tmp";
  libtrace::Status status;
  {
    libtrace::EventFileWriter writer(libtrace::EventFileName{temporary, base});
    status = writer.status();
    for (const StepScalars& step : steps) {
      const double at = base + static_cast<double>(step.end) / 1e9;
      for (const auto& [name, value] : step.values) {
        if (status.ok()) status = writer.add_scalar("traceglass/" + name, value, step.number, at);
      }
    }
  }
  if (!status.ok()) {
    fmt::print(stderr, "{}\n", printable(status.message()));
    fs::remove(temporary, error);
    return Outcome::kFailed;
  }
  if (fs::exists(target, error) && content_of(target) == content_of(temporary)) {
    fs::remove(temporary, error);
    return Outcome::kSame;
  }
  fs::rename(temporary, target, error);
  if (error) {
    fmt::print(stderr, "{}: {}\n", printable(target.string()), error.message());
    fs::remove(temporary, error);
    return Outcome::kFailed;
  }
  return Outcome::kWritten;
}

void print_steps(const TraceFile& file, const std::vector<StepScalars>& steps) {
  for (const StepScalars& step : steps) {
    fmt::print("{}  step {}", printable(file.file.empty() ? file.path.string() : file.file),
               step.number);
    for (const auto& [name, value] : step.values) fmt::print("  {} {:.6g}", name, value);
    fmt::print("\n");
  }
}

struct Tally {
  int failed = 0, without_steps = 0, written = 0, same = 0;
};

void do_file(const TraceFile& file, bool write, Tally& tally) {
  const IngestResult loaded = ingest_file(file.path);
  if (loaded.error) {
    fmt::print(stderr, "{}: {}\n", printable(file.path.string()), printable(loaded.error->message));
    ++tally.failed;
    return;
  }
  const std::vector<StepScalars> steps = find_step_scalars(*loaded.trace);
  if (steps.empty()) {
    ++tally.without_steps;
    return;
  }
  if (!write) {
    print_steps(file, steps);
    return;
  }
  const double base = base_seconds(file, *loaded.trace);
  const fs::path target = target_of(file, base);
  switch (write_scalars(target, base, steps)) {
    case Outcome::kFailed:
      ++tally.failed;
      break;
    case Outcome::kSame:
      ++tally.same;
      break;
    case Outcome::kWritten:
      ++tally.written;
      fmt::print("{}\n", printable(target.string()));
      break;
  }
}

}  // namespace

int run_metrics(const MetricsCommand& command) {
  std::vector<Json> errors;
  const std::vector<TraceFile> files = files_of({command.path}, errors);
  for (const Json& error : errors) {
    fmt::print(stderr, "{}\n", printable(error["message"].get<std::string>()));
  }
  Tally tally;
  for (const TraceFile& file : files) do_file(file, command.write, tally);
  if (tally.same > 0) fmt::print("{} written before and unchanged\n", tally.same);
  if (tally.without_steps > 0) {
    fmt::print(stderr, "{} without steps: call the profiler's step() once a step.\n",
               tally.without_steps == 1 ? "One trace is"
                                        : std::to_string(tally.without_steps) + " traces are");
  }
  return tally.failed > 0 || !errors.empty() ? 1 : 0;
}

}  // namespace traceglass
