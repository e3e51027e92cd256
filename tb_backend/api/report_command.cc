#include "tb_backend/api/report_command.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "tb_backend/api/report_markdown.h"
#include "tb_backend/api/report_page.h"
#include "tb_backend/api/static_files.h"
#include "tb_backend/api/terminal_text.h"
#include "tb_backend/api/trace_argument.h"

namespace traceglass {
namespace {

namespace fs = std::filesystem;

// One trace of its folder, loaded; the folder's metrics are beside it.
class Loaded {
 public:
  explicit Loaded(const fs::path& path)
      : watcher_(single_logdir(folder_of(path).string()), Watcher::kMaxAge),
        registry_(Registry::Options{}),
        ranks_(registry_, Registry::Options{}) {
    const auto found = watcher_.snapshot();
    for (const TraceFile& file : found->files) {
      std::error_code error;
      if (fs::equivalent(file.path, path, error)) file_ = &file;
    }
    snapshot_ = found;
    if (file_ == nullptr) throw NoSuchTrace(path.string() + ": " + found->message);
    registry_.ask(*file_);
    registry_.wait_idle();
    const LoadStatus status = registry_.ask(*file_);
    if (status.error) throw NoSuchTrace(path.string() + ": " + status.error->message);
    if (!status.loaded) throw NoSuchTrace(path.string() + ": it changes while it is read.");
    trace_ = status.loaded;
  }

  [[nodiscard]] const LoadedTrace& trace() const { return *trace_; }
  Services services() { return {watcher_, registry_, ranks_, metrics_, notes_}; }

 private:
  // Only itself where its folder would not list it: a name that other programs use.
  static fs::path folder_of(const fs::path& path) {
    const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    for (const TraceFile& file : scan(single_logdir(folder.string())).files) {
      std::error_code error;
      if (fs::equivalent(file.path, path, error)) return folder;
    }
    return path;
  }

  Watcher watcher_;
  Registry registry_;
  RankParts ranks_;
  MetricBook metrics_;
  Notes notes_{{}};  // nowhere
  std::shared_ptr<const Snapshot> snapshot_;
  const TraceFile* file_ = nullptr;  // of the snapshot
  std::shared_ptr<const LoadedTrace> trace_;
};

int refuse(const std::string& sentence) {
  fmt::print(stderr, "{}\n", printable(sentence));
  return 1;
}

// Whole or not at all: a reader never sees half of it.
bool write_file(const fs::path& path, const std::string& text) {
  fs::path temporary = path;
  temporary += ".tmp";
  std::error_code error;
  {
    std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    out.flush();
    if (!out) {
      fs::remove(temporary, error);
      return false;
    }
  }
  fs::rename(temporary, path, error);
  if (!error) return true;
  fs::remove(temporary, error);
  return false;
}

bool is_markdown(const ReportCommand& command) {
  if (!command.format.empty()) return command.format == "markdown";
  return command.output.empty() || command.output == "-" || command.output.ends_with(".md");
}

}  // namespace

int run_report(const ReportCommand& command) try {
  const std::size_t top = command.top == 0 ? SIZE_MAX : command.top;
  const bool markdown = is_markdown(command);
  const bool to_screen = command.output.empty() || command.output == "-";
  if (!markdown && to_screen) return refuse("A page needs a file: -o page.html.");
  std::string page;
  if (!markdown) {
    page = report_template(find_web_dir(command.web_dir));
    if (page.empty()) {
      return refuse("The page is not built or was not found (report.html; see --web-dir).");
    }
  }
  Loaded loaded(trace_argument(command.path).path);
  std::string text = report_markdown(loaded.trace(), top);
  if (!markdown) {
    Services services = loaded.services();
    text = report_page(page, services, loaded.trace(), text,
                       static_cast<std::size_t>(command.most_mb * 1e6));
    if (text.empty()) return refuse("The page that was found is of another version.");
  }
  if (to_screen) {
    fmt::print("{}", text);
    return 0;
  }
  if (!write_file(command.output, text)) {
    return refuse(command.output + ": it could not be written.");
  }
  fmt::print("{} ({:.2f} MB)\n", printable(command.output), static_cast<double>(text.size()) / 1e6);
  return 0;
} catch (const NoSuchTrace& failure) {
  return refuse(failure.what());
}

}  // namespace traceglass
