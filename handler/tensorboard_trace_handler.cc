#include "libtrace/tensorboard_trace_handler.h"

#include <unistd.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "handler/local_path.h"
#include "handler/trace_folder.h"

namespace libtrace {
namespace {

class Handler {
 public:
  Handler(std::filesystem::path dir, std::string worker_name, bool use_gzip)
      : dir_(std::move(dir)), worker_name_(std::move(worker_name)), use_gzip_(use_gzip) {}
  ~Handler() { delete mine_.load(std::memory_order_acquire); }
  Handler(const Handler&) = delete;
  Handler& operator=(const Handler&) = delete;

  void write(const Trace& trace) {
    Mine& mine = of_this_process();
    const std::lock_guard lock(mine.mutex);
    const Status status = mine.folder.write(trace);
    if (!status.ok()) throw std::runtime_error(status.message());
  }

 private:
  struct Mine {
    pid_t pid;
    std::mutex mutex;
    TraceFolder folder;
  };

  // A forked child starts anew, under its own name: another thread of the parent may have held the
  // parent's lock as it forked. What was the parent's stays as it is.
  Mine& of_this_process() {
    Mine* known = mine_.load(std::memory_order_acquire);
    while (known == nullptr || known->pid != getpid()) {
      auto* const fresh = new Mine{getpid(), {}, {dir_, worker_name_, use_gzip_}};
      if (mine_.compare_exchange_strong(known, fresh, std::memory_order_acq_rel)) return *fresh;
      delete fresh;
    }
    return *known;
  }

  const std::filesystem::path dir_;
  const std::string worker_name_;
  const bool use_gzip_;
  std::atomic<Mine*> mine_{nullptr};
};

}  // namespace

TraceHandler tensorboard_trace_handler(std::filesystem::path dir, std::string worker_name,
                                       bool use_gzip) {
  if (const Status status = check_local_path(dir); !status.ok()) {
    throw std::invalid_argument(status.message());
  }
  if (worker_name.find('/') != std::string::npos || worker_name.find('\0') != std::string::npos) {
    throw std::invalid_argument("A worker name is part of a file name");
  }
  // Copies of the function share their state.
  const auto handler = std::make_shared<Handler>(std::move(dir), std::move(worker_name), use_gzip);
  return [handler](const TracePtr& trace) { handler->write(*trace); };
}

}  // namespace libtrace
