#include "libtrace/tensorboard_trace_handler.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "handler/chrome_writer.h"
#include "handler/file_sink.h"
#include "handler/gzip_sink.h"

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

class Handler {
 public:
  Handler(fs::path dir, std::string worker_name, bool use_gzip)
      : dir_(std::move(dir)), given_name_(std::move(worker_name)), use_gzip_(use_gzip) {}

  void write(const Trace& trace) {
    const std::lock_guard lock(mutex_);
    std::error_code error;
    fs::create_directories(dir_, error);
    if (error) throw std::runtime_error("Can't create directory: " + dir_.string());
    if (pid_ != getpid()) {
      pid_ = getpid();
      worker_ = given_name_.empty() ? host_name() + "_" + std::to_string(pid_) : given_name_;
      remove_leftovers();
    }
    // Viewers number a worker's spans by this stamp: it grows whatever the clock does.
    stamp_ = std::max(stamp_ + 1, unix_ns());
    const fs::path path = dir_ / (worker_ + "." + std::to_string(stamp_) + ".pt.trace.json" +
                                  (use_gzip_ ? ".gz" : ""));
    FileSink file(path);
    std::optional<GzipSink> gzip;
    if (use_gzip_) gzip.emplace(file);
    const Status status =
        write_chrome_trace(trace, gzip ? static_cast<ByteSink&>(*gzip) : file, path.string());
    if (!status.ok()) throw std::runtime_error(status.message());
  }

 private:
  // Temporary files of writers that were killed. Only those of our own worker name or host: on a
  // shared disk the processes of others cannot be asked whether they live.
  void remove_leftovers() {
    const std::string host = host_name() + "_";
    std::error_code error;
    for (fs::directory_iterator it(dir_, error), end; !error && it != end; it.increment(error)) {
      const auto temporary = FileSink::parse_temporary(it->path().filename().string());
      if (!temporary || temporary->name.find(".pt.trace.json") == std::string::npos) continue;
      const bool ours =
          temporary->name.starts_with(worker_ + ".") || temporary->name.starts_with(host);
      if (!ours || kill(temporary->pid, 0) == 0 || errno != ESRCH) continue;
      std::error_code ignored;
      fs::remove(it->path(), ignored);
    }
  }

  const fs::path dir_;
  const std::string given_name_;
  const bool use_gzip_;
  std::mutex mutex_;
  pid_t pid_ = 0;
  std::string worker_;
  std::int64_t stamp_ = 0;
};

}  // namespace

TraceHandler tensorboard_trace_handler(fs::path dir, std::string worker_name, bool use_gzip) {
  if (worker_name.find('/') != std::string::npos || worker_name.find('\0') != std::string::npos) {
    throw std::invalid_argument("A worker name is part of a file name");
  }
  // Copies of the function share their state.
  const auto handler = std::make_shared<Handler>(std::move(dir), std::move(worker_name), use_gzip);
  return [handler](const TracePtr& trace) { handler->write(*trace); };
}

}  // namespace libtrace
