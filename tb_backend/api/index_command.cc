#include "tb_backend/api/index_command.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>

#include "tb_backend/api/summary.h"
#include "tb_backend/api/terminal_text.h"
#include "tb_backend/ingest/ingest.h"

namespace traceglass {
namespace {

bool do_file(index::Cache& cache, const TraceFile& file) {
  const std::string name = printable(file.path.string());
  const auto failed = [&](const std::string& why) {
    fmt::print(stderr, "{}: {}\n", name, printable(why));
    return false;
  };
  const std::optional<index::Content> content = index::content_of(file.path);
  if (!content) return failed("The file cannot be read.");
  if (const libtrace::TracePtr trace = cache.open(*content)) {
    fmt::print("{}  indexed before, {} events\n", name, trace->size());
    return true;
  }
  const auto begin = std::chrono::steady_clock::now();
  const IngestResult loaded = ingest_file(file.path);
  if (loaded.error) return failed(loaded.error->message);
  const std::string fault = cache.save(*content, *loaded.trace, [] { return true; });
  if (!fault.empty()) return failed("No index was saved: " + fault + '.');
  std::error_code gone;
  const auto bytes = std::filesystem::file_size(cache.place_of(*content), gone);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  fmt::print("{}  indexed, {} events, {:.1f} MB, {:.2f} s\n", name, loaded.trace->size(),
             gone ? 0.0 : static_cast<double>(bytes) / 1e6, took.count());
  return true;
}

}  // namespace

int run_index(const IndexCommand& command) {
  const auto cache = make_cache(command.index);
  if (!cache) {
    fmt::print(stderr,
               "traceglass index: no folder for indexes is known: give --index "
               "DIR.\n");
    return 2;
  }
  std::vector<Json> errors;
  const std::vector<TraceFile> files = files_of(command.paths, errors);
  for (const Json& error : errors) {
    fmt::print(stderr, "{}\n", printable(error["message"].get<std::string>()));
  }
  bool good = errors.empty();
  for (const TraceFile& file : files) {
    good = do_file(*cache, file) && good;
    std::fflush(stdout);  // a line a file, as each is done
  }
  return good ? 0 : 1;
}

}  // namespace traceglass
