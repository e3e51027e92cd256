#include "libtrace/cupti/device_source.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <optional>
#include <utility>

#include "libtrace/cupti/collector.h"
#include "libtrace/cupti/rows.h"
#include "libtrace/cupti/session.h"
#include "libtrace/record/chunk_pool.h"
#include "libtrace/record/json.h"
#include "libtrace/record/process.h"

namespace libtrace::cupti {
namespace {

using Metadata = std::vector<std::pair<std::string, std::string>>;

constexpr std::chrono::seconds kStopLimit{5};
// After a forced flush CUPTI hands everything over at once; what is not back then stays with it.
constexpr std::chrono::milliseconds kSilence{100};
constexpr std::size_t kPerThreadBytes = std::size_t{1} << 20, kFewestBytes = std::size_t{64} << 10;

class CudaRecording final : public detail::DeviceRecording {
 public:
  [[nodiscard]] Metadata metadata() const override { return metadata_; }
  [[nodiscard]] std::unique_ptr<detail::DeviceRows> rows(
      TraceBuilder& builder, const detail::DeviceFrame& frame) const override {
    return make_rows(log_, devices_, own_clock_, builder, frame);
  }
  [[nodiscard]] std::uint64_t dropped() const noexcept override {
    const Losses& l = log_.losses;
    return l.dropped_by_cupti + l.dropped_here + l.without_time + l.unreadable;
  }

  void text(std::string key, std::string_view value) {
    metadata_.emplace_back(std::move(key), detail::json_quoted(value));
  }
  void number(std::string key, std::uint64_t value) {
    metadata_.emplace_back(std::move(key), std::to_string(value));
  }

  Metadata metadata_;
  EventLog log_;
  std::vector<DeviceInfo> devices_;
  bool own_clock_ = false;
};

class CudaSource final : public detail::DeviceSource {
 public:
  explicit CudaSource(LoadOptions options) : load_options_(std::move(options)) {}
  ~CudaSource() override { release(); }

  Status prepare(const detail::DeviceOptions& options) noexcept override {
    try {
      options_ = options;
      refusal_ = begin();
      if (!refusal_) return {};
      return Status::io_error(refusal_.why + " " + refusal_.advice);
    } catch (const std::exception& e) {
      refusal_ = {e.what(), ""};
      return Status::io_error(e.what());
    }
  }

  void start(std::uint64_t) noexcept override {
    if (!recording()) return;
    try {
      Collector::instance().keep(options_.max_bytes);
      session_->dropped();  // before the window: not its loss
      session_->flush_periodically(true);
      in_window_ = true;
    } catch (...) {
      give_up("out of memory");
    }
  }

  void finish_work() noexcept override {
    if (!recording() || !options_.sync_on_stop) return;
    try {
      session_->contexts().synchronize(libraries_->driver);
    } catch (...) {
      return;  // no memory to list the contexts
    }
  }

  std::unique_ptr<detail::DeviceRecording> stop(std::uint64_t) noexcept override {
    try {
      auto recording = std::make_unique<CudaRecording>();
      finish(*recording);
      return recording;
    } catch (...) {
      return nullptr;
    }
  }

  void set_collecting(bool on) noexcept override {
    if (!is_mine() || !session_ || !session_->is_open()) return;
    try {
      if (on) {
        if (Refusal refusal = session_->enable(options_)) refusal_ = std::move(refusal);
      } else {
        session_->disable();
      }
    } catch (...) {
      give_up("out of memory");
    }
  }

  void release() noexcept override {
    if (!is_mine() || !session_) return;
    detail::chunk_pool().discharge(std::exchange(set_aside_, 0));
    session_->forget_refusal();
    if (session_->is_open() && !session_->driver_is_gone()) {
      session_->flush_periodically(false);
      session_->disable();
      session_->flush(true);
      session_->close();
    }
    Collector::instance().stop();
  }

  void abandon_after_fork() noexcept override { abandoned_ = true; }

 private:
  [[nodiscard]] bool is_mine() const noexcept {
    return !abandoned_ && !Collector::instance().belongs_to_parent();
  }
  [[nodiscard]] bool recording() const noexcept {
    return is_mine() && session_ && session_->is_open() && !refusal_;
  }

  Refusal begin() {
    if (!is_mine()) return forked();
    if (!libraries_) {
      if (load_refusal_) return load_refusal_;  // it takes a while, and will not have changed
      libraries_ = load_cupti(load_options_, load_refusal_);
      if (!libraries_) return load_refusal_;
      devices_ = read_devices(libraries_->driver);
      session_.emplace(*libraries_);
    }
    const CuptiApi& api = libraries_->cupti;
    Collector& collector = Collector::instance();
    BufferLimits limits;
    // With one for each thread that calls CUDA, less for each.
    if (api.version >= api_version::k12_3) limits.bytes = kPerThreadBytes;
    limits.may_refuse = api.version >= api_version::k12_9;
    limits.bytes = std::min(limits.bytes, std::max(options_.max_bytes / 32, kFewestBytes));
    limits.ceiling = std::clamp(options_.max_bytes / 8, 4 * limits.bytes, limits.ceiling);
    // What CUPTI writes into is set aside, so that all together stays below the ceiling.
    if (set_aside_ == 0 && detail::chunk_pool().charge(limits.ceiling)) {
      set_aside_ = limits.ceiling;
    }
    if (!collector.start(api, limits)) return cupti_failed("A thread", error::kOutOfMemory, {});
    if (Refusal refusal = session_->open()) return refusal;
    if (Refusal refusal = session_->enable(options_)) {
      session_->close();
      return refusal;
    }
    return {};
  }

  void finish(CudaRecording& to) {
    // What was recorded counts, even where a pause could not be ended.
    if (std::exchange(in_window_, false) && is_mine() && !session_->driver_is_gone()) {
      Collector& collector = Collector::instance();
      session_->flush_periodically(false);
      session_->disable();
      session_->flush(true);
      kept_by_cupti_ = collector.wait_all_back(kStopLimit, kSilence, kept_by_cupti_);
      collector.note_dropped_by_cupti(session_->dropped());
      to.log_ = collector.take();
      for (const auto& [id, device] : session_->contexts().device_by_id()) {
        to.log_.device_of_context.insert_or_assign(id, device);
      }
      to.own_clock_ = session_->has_own_clock();
      if (kept_by_cupti_ != 0) to.number("cupti_buffers_not_returned", kept_by_cupti_);
    }
    to.devices_ = devices_;
    to.metadata_.emplace(to.metadata_.begin(), "deviceProperties", devices_json(devices_));
    describe(to);
  }

  void describe(CudaRecording& to) const {
    if (refusal_) {
      to.text("cupti_error", refusal_.why);
      if (!refusal_.advice.empty()) to.text("cupti_advice", refusal_.advice);
    }
    if (libraries_) {
      to.number("cupti_version", libraries_->cupti.version);
      to.number("cuda_driver_version", static_cast<std::uint64_t>(libraries_->driver.version));
      if (libraries_->untested()) to.number("cupti_untested_version", libraries_->cupti.version);
    }
    if (session_ && !session_->missing_kinds().empty()) {
      std::string kinds;
      for (const std::string& kind : session_->missing_kinds()) {
        kinds += (kinds.empty() ? "" : ", ") + kind;
      }
      to.text("cupti_not_recorded", kinds);
    }
    const Losses& l = to.log_.losses;
    if (l.dropped_by_cupti != 0) to.number("cupti_dropped_records", l.dropped_by_cupti);
    if (l.dropped_here != 0) to.number("gpu_records_dropped", l.dropped_here);
    if (l.without_time != 0) to.number("gpu_records_without_time", l.without_time);
    if (l.unreadable != 0) to.number("gpu_records_unreadable", l.unreadable);
  }

  void give_up(const char* why) noexcept {
    try {
      refusal_ = {std::string(why) + ". GPU work was not recorded.", ""};
    } catch (...) {
      abandoned_ = true;
    }
  }

  const LoadOptions load_options_;
  detail::DeviceOptions options_;
  std::optional<Libraries> libraries_;
  std::vector<DeviceInfo> devices_;
  std::optional<Session> session_;
  Refusal refusal_, load_refusal_;
  std::size_t set_aside_ = 0;      // of what recording may hold
  std::size_t kept_by_cupti_ = 0;  // buffers, at the last stop
  bool in_window_ = false, abandoned_ = false;
};

}  // namespace

std::unique_ptr<detail::DeviceSource> make_cuda_source(LoadOptions options) {
  detail::install_fork_handlers();
  return std::make_unique<CudaSource>(std::move(options));
}

}  // namespace libtrace::cupti

namespace libtrace::detail {

std::unique_ptr<DeviceSource> make_device_source() {
  return cupti::make_cuda_source(cupti::LoadOptions::from_environment());
}

}  // namespace libtrace::detail
