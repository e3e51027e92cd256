#include <unistd.h>

#include <chrono>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "libtrace/profile.h"
#include "libtrace/range.h"
#include "libtrace/record/build_trace.h"
#include "libtrace/record/chunk_pool.h"
#include "libtrace/record/clock.h"
#include "libtrace/record/json.h"
#include "libtrace/record/lane.h"
#include "libtrace/record/nvtx_recorder.h"
#include "libtrace/record/process.h"
#include "libtrace/record/session.h"
#include "libtrace/record/window.h"

namespace libtrace {
namespace {

using detail::Metadata;

Options checked(Options options) {
  if (options.activities.has(Activities::cuda())) {
    if (options.log)
      options.log("CUDA activities cannot be recorded here; recording goes on without");
    options.activities = options.activities - Activities::cuda();
  }
  if (options.activities.empty()) {
    throw std::invalid_argument("No valid profiler activities found");
  }
  if (options.schedule && !*options.schedule) {
    throw std::invalid_argument("Empty schedule function");
  }
  if (options.schedule) {
    const auto* const schedule = options.schedule->target<Schedule>();
    if (schedule != nullptr && Schedule::make(*schedule).warmup == 0 && options.log) {
      options.log("Profiler won't be using warmup, this can skew profiler results");
    }
  }
  const auto& d = options.distributed;
  if (d && (d->rank < 0 || d->world_size < 1 || d->rank >= d->world_size)) {
    throw std::invalid_argument("Rank outside of the world");
  }
  return options;
}

ScheduleFn schedule_of(const Options& options) {
  if (options.schedule) return *options.schedule;
  return [](std::uint64_t) { return ProfilerAction::kRecord; };
}

void set(Metadata& metadata, std::string_view key, std::string_view json) {
  for (auto& [known, value] : metadata) {
    if (known == key) {
      value = json;
      return;
    }
  }
  metadata.emplace_back(key, json);
}

// Keys with a meaning of their own, and those that the recorder fills in (Options::distributed).
bool is_reserved(std::string_view key) {
  for (const char* const name :
       {"schemaVersion", "deviceProperties", "displayTimeUnit", "baseTimeNanoseconds",
        "traceEvents", "traceName", "distributedInfo", "dropped_events", "clock_jump_ns"}) {
    if (key == name) return true;
  }
  return false;
}

Status check_metadata(std::string_view key, std::string_view json) {
  if (is_reserved(key)) {
    return Status::invalid_argument("Metadata key is reserved: " + std::string(key));
  }
  if (!detail::is_json(json)) {
    return Status::invalid_argument("Metadata is no JSON value: " + std::string(key));
  }
  return {};
}

std::string host_name() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

class Stopwatch {
 public:
  explicit Stopwatch(std::int64_t& us) : us_(us) {}
  ~Stopwatch() {
    using std::chrono::duration_cast, std::chrono::microseconds;
    us_ = duration_cast<microseconds>(std::chrono::steady_clock::now() - start_).count();
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  std::int64_t& us_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

// Locks: `mutex` guards what handlers and other threads may ask for while a call runs; it is never
// held across the handler or the building of a trace. Everything else belongs to the calling
// thread, of which `in_call` admits one at a time.
struct Profiler::Impl final : TraceControl {
  explicit Impl(Options o)
      : options(checked(std::move(o))),
        session(schedule_of(options), options.schedule.has_value(), *this) {
    detail::install_fork_handlers();
    select_best_clock();
  }

  Options options;
  Session session;
  std::atomic<bool> in_call{false};
  std::uint64_t born_in_fork = 0;  // fork_count() when the session started
  detail::Record* step_scope = nullptr;
  detail::Snapshot snapshot;
  Metadata snapshot_metadata;

  std::mutex mutable mutex;
  Metadata preset, pending;
  TracePtr trace;
  Stats stats;

  void warn(std::string_view text) override {
    if (options.log) options.log(text);
  }

  void prepare_trace() override {
    std::int64_t us = 0;
    {
      const Stopwatch watch(us);
      snapshot = {};  // of a window that was closed but not delivered
      detail::chunk_pool().set_max_bytes(options.max_bytes);
      ClockMap::process_ns_per_tick();
      detail::Window::prepare();
    }
    const std::lock_guard lock(mutex);
    stats.prepare_us = us;
  }

  void start_trace() override {
    std::int64_t us = 0;
    {
      const Stopwatch watch(us);
      detail::Window::open(static_cast<std::uint32_t>(Detail::kRanges));
    }
    const std::lock_guard lock(mutex);
    stats.start_us = us;
  }

  void stop_trace() override {
    std::int64_t us = 0;
    {
      const Stopwatch watch(us);
      snapshot = detail::Window::close();
    }
    const std::lock_guard lock(mutex);
    stats.stop_us = us;
    snapshot_metadata = preset;
    for (const auto& [key, json] : pending) set(snapshot_metadata, key, json);
    pending.clear();
  }

  void trace_ready() override {
    const TracePtr built = build();
    if (options.on_trace_ready) options.on_trace_ready(built);
  }

  TracePtr build() {
    detail::TraceInfo info;
    info.metadata = {{"schemaVersion", "1"}, {"deviceProperties", "[]"}};
    if (const auto& d = options.distributed) {
      info.rank = d->rank;
      info.world_size = d->world_size;
      // With a blank behind each colon: HTA looks for `"rank": 3` as text.
      info.metadata.emplace_back("distributedInfo",
                                 "{\"backend\": " + detail::json_quoted(d->backend) +
                                     ", \"rank\": " + std::to_string(d->rank) +
                                     ", \"world_size\": " + std::to_string(d->world_size) + "}");
    }
    info.metadata.emplace_back("host_name", detail::json_quoted(host_name()));
    for (const auto& [key, json] : std::exchange(snapshot_metadata, {})) {
      set(info.metadata, key, json);
    }
    info.metadata.emplace_back("displayTimeUnit", "\"ms\"");
    // Gives the chunks back at the end of this block, before the handler takes its time.
    const detail::Snapshot taken = std::exchange(snapshot, {});
    TracePtr built = detail::build_trace(taken, info);
    const std::lock_guard lock(mutex);
    trace = built;
    ++stats.cycles;
    stats.events += built->size() - 1;  // but for the row of the window itself
    stats.dropped += taken.dropped;
    stats.lanes = taken.lanes.size();
    return built;
  }

  void open_step(std::uint64_t step) override { step_scope = detail::begin_step(step); }
  void close_step() override {
    if (detail::Record* const scope = std::exchange(step_scope, nullptr)) {
      detail::end_scope(scope);
    }
  }

  // The session this object thinks it runs is the parent's.
  bool abandoned() const { return session.running() && born_in_fork != detail::fork_count(); }
  void forget_if_abandoned() {
    if (!abandoned()) return;
    session.abandon();
    step_scope = nullptr;
    snapshot = {};
  }

  void finish_session() noexcept {
    snapshot = {};
    detail::Window::release();
    detail::release_recorder(this);
  }

  void stop() {
    if (!session.running()) return;
    std::exception_ptr error;
    try {
      session.stop();
    } catch (...) {
      error = std::current_exception();
    }
    finish_session();
    if (error) report(error);
  }

  void report(const std::exception_ptr& error) {
    if (options.on_error == HandlerError::kRethrow) std::rethrow_exception(error);
    log(error);
  }
  void log(const std::exception_ptr& error) noexcept {
    try {
      if (!options.log) return;
      try {
        std::rethrow_exception(error);
      } catch (const std::exception& e) {
        options.log(std::string("Profiler: ") + e.what());
      } catch (...) {
        options.log("Profiler: unknown exception");
      }
    } catch (...) {
      return;  // a log sink that throws has had its say
    }
  }
};

namespace {

// Admits one call at a time.
class Call {
 public:
  explicit Call(std::atomic<bool>& in_call) : in_call_(in_call) {
    if (in_call_.exchange(true, std::memory_order_acquire)) {
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
  const Call call(p.in_call);
  p.forget_if_abandoned();
  if (p.session.running()) throw std::logic_error("Profiler is running already");
  if (!detail::claim_recorder(&p)) {
    throw std::logic_error("Profiler is not reentrant: another one is running in this process");
  }
  p.born_in_fork = detail::fork_count();
  nvtx::attach_to_injection();
  p.session.start();
}

void Profiler::step() {
  Impl& p = *impl_;
  const Call call(p.in_call);
  if (p.abandoned()) return;  // a forked worker that shares the loop: nothing records here
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
  const Call call(p.in_call);
  p.forget_if_abandoned();
  p.stop();
}

std::uint64_t Profiler::step_num() const noexcept { return impl_->session.step_num(); }

TracePtr Profiler::trace() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->trace;
}

Stats Profiler::stats() const {
  const std::lock_guard lock(impl_->mutex);
  Stats stats = impl_->stats;
  stats.bytes = detail::chunk_pool().bytes_in_use();
  return stats;
}

void Profiler::add_metadata(std::string_view key, std::string_view value) {
  // A reserved key is the only way to fail: it would make the file say something else.
  if (is_reserved(key))
    throw std::invalid_argument("Metadata key is reserved: " + std::string(key));
  const std::lock_guard lock(impl_->mutex);
  set(impl_->pending, key, detail::json_quoted(value));
}

Status Profiler::add_metadata_json(std::string_view key, std::string_view json) {
  if (Status status = check_metadata(key, json); !status.ok()) return status;
  const std::lock_guard lock(impl_->mutex);
  set(impl_->pending, key, json);
  return {};
}

Status Profiler::preset_metadata_json(std::string_view key, std::string_view json) {
  if (Status status = check_metadata(key, json); !status.ok()) return status;
  const std::lock_guard lock(impl_->mutex);
  set(impl_->preset, key, json);
  return {};
}

}  // namespace libtrace
