#include <exception>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "libtrace/profile.h"
#include "libtrace/record/chunk_pool.h"
#include "libtrace/record/json.h"
#include "libtrace/record/metadata.h"
#include "libtrace/record/nvtx_recorder.h"
#include "libtrace/record/process.h"
#include "libtrace/record/profiler_impl.h"
#include "libtrace/record/stack.h"

namespace libtrace {
namespace {

// Admits one call at a time, and none of the handler's: on a thread of its own it would wait for
// itself.
class Call {
 public:
  Call(std::atomic<bool>& in_call, bool of_handler) : in_call_(in_call) {
    if (of_handler || in_call_.exchange(true, std::memory_order_acquire)) {
      throw std::logic_error("Profiler is not reentrant: called from its handler or two threads");
    }
  }
  ~Call() { in_call_.store(false, std::memory_order_release); }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

 private:
  std::atomic<bool>& in_call_;
};

}  // namespace

Profiler::Profiler(Options options) : impl_(std::make_unique<Impl>(std::move(options))) {}

Profiler::~Profiler() { stop_and_log(); }

void Profiler::stop_and_log() noexcept {
  try {
    stop();
  } catch (...) {
    impl_->log(std::current_exception());
  }
}

void Profiler::start() {
  Impl& p = *impl_;
  const Call call(p.in_call, p.on_handler_thread());
  p.forget_if_abandoned();
  if (p.session.running()) throw std::logic_error("Profiler is running already");
  if (!detail::claim_recorder(&p)) {
    throw std::logic_error("Profiler is not reentrant: another one is running in this process");
  }
  nvtx::attach_to_injection();
  if (p.options.with_stack) detail::select_stack_method(detail::choose_stack_method());
  try {
    p.session.start();
  } catch (...) {  // no memory: as if nobody had asked
    p.session.abandon();
    p.finish_session();
    throw;
  }
}

void Profiler::step() {
  Impl& p = *impl_;
  const Call call(p.in_call, p.on_handler_thread());
  // A forked worker that shares the loop: nothing records here.
  if (p.session.running() && p.abandoned()) return;
  if (!p.session.running()) throw std::logic_error("Profiler has not been started");
  std::exception_ptr error;
  try {
    p.session.step();
  } catch (...) {
    error = std::current_exception();
  }
  if (error) p.report(error);
}

void Profiler::stop() {
  Impl& p = *impl_;
  const Call call(p.in_call, p.on_handler_thread());
  p.forget_if_abandoned();
  p.stop();
}

std::uint64_t Profiler::step_num() const noexcept { return impl_->session.step_num(); }

TracePtr Profiler::trace() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->traces.empty() ? nullptr : impl_->traces.back();
}

std::vector<TracePtr> Profiler::traces() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->traces;
}

void Profiler::toggle_collection(bool enable, Activities activities) {
  Impl& p = *impl_;
  const Call call(p.in_call, p.on_handler_thread());
  if (!p.abandoned()) p.toggle(enable, activities);
}

Status Profiler::flush(std::chrono::milliseconds timeout) {
  Impl& p = *impl_;
  if (p.abandoned()) return {};
  detail::Background* background = nullptr;
  {
    const std::lock_guard lock(p.mutex);
    background = p.background.get();
  }
  if (background == nullptr) return {};
  if (background->on_its_thread()) {
    return Status::invalid_argument("flush() waits for the handler that calls it");
  }
  return background->flush(timeout);
}

Stats Profiler::stats() const {
  const std::lock_guard lock(impl_->mutex);
  Stats stats = impl_->stats;
  stats.bytes = detail::chunk_pool().bytes_in_use();
  return stats;
}

void Profiler::add_metadata(std::string_view key, std::string_view value) {
  // A reserved key is the only way to fail: it would make the file say something else.
  if (detail::is_reserved_key(key))
    throw std::invalid_argument("Metadata key is reserved: " + std::string(key));
  const std::lock_guard lock(impl_->mutex);
  detail::set_metadata(impl_->pending, key, detail::json_quoted(value));
}

Status Profiler::add_metadata_json(std::string_view key, std::string_view json) {
  if (Status status = detail::check_metadata(key, json); !status.ok()) return status;
  const std::lock_guard lock(impl_->mutex);
  detail::set_metadata(impl_->pending, key, json);
  return {};
}

Status Profiler::preset_metadata_json(std::string_view key, std::string_view json) {
  if (Status status = detail::check_metadata(key, json); !status.ok()) return status;
  const std::lock_guard lock(impl_->mutex);
  detail::set_metadata(impl_->preset, key, json);
  return {};
}

}  // namespace libtrace
