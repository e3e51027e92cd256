#include "handler/trace_folder.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>

#include "handler/file_sink.h"
#include "libtrace/exports.h"

namespace libtrace {
namespace {

namespace fs = std::filesystem;

std::string host_name() {
  char name[256] = {};
  if (gethostname(name, sizeof name - 1) != 0 || name[0] == '\0') return "localhost";
  return name;
}

std::int64_t unix_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

TraceFolder::TraceFolder(fs::path dir, const std::string& worker_name, bool use_gzip)
    : dir_(std::move(dir)),
      worker_(worker_name.empty() ? host_name() + "_" + std::to_string(getpid()) : worker_name),
      use_gzip_(use_gzip) {}

Status TraceFolder::write(const Trace& trace) {
  std::error_code error;
  fs::create_directories(dir_, error);
  if (error) {
    return Status::io_error("Can't create directory: " + dir_.string() + ": " + error.message());
  }
  if (!std::exchange(swept_, true)) remove_leftovers();
  return export_chrome_trace(trace, next_path().string());
}

// Viewers number a worker's spans by this stamp: it grows whatever the clock does, and steps over
// what another process of the same worker name has taken.
fs::path TraceFolder::next_path() {
  stamp_ = std::max(stamp_ + 1, unix_ns());
  for (;; ++stamp_) {
    const std::string stem = worker_ + "." + std::to_string(stamp_) + ".pt.trace.json";
    fs::path path = dir_ / (stem + (use_gzip_ ? ".gz" : ""));
    std::error_code error;
    if (!fs::exists(path, error)) return path;
  }
}

// Temporary files of writers that were killed. Only those of our own worker name or host: on a
// shared disk the processes of others cannot be asked whether they live. A container of the same
// host name has other process numbers: there the lock tells.
void TraceFolder::remove_leftovers() {
  const std::string host = host_name() + "_";
  std::error_code error;
  for (fs::directory_iterator it(dir_, error), end; !error && it != end; it.increment(error)) {
    const auto temporary = FileSink::parse_temporary(it->path().filename().string());
    if (!temporary || temporary->name.find(".pt.trace.json") == std::string::npos) continue;
    const bool ours =
        temporary->name.starts_with(worker_ + ".") || temporary->name.starts_with(host);
    if (!ours || kill(temporary->pid, 0) == 0 || errno != ESRCH) continue;
    if (FileSink::is_being_written(it->path())) continue;
    std::error_code ignored;
    fs::remove(it->path(), ignored);
  }
}

}  // namespace libtrace
