// One window of a device source, from prepare to a Trace, with a clock whose ticks the test knows.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libtrace/cupti/device_clock.h"
#include "libtrace/record/clock.h"
#include "tests/libtrace/cupti/fake.h"

namespace libtrace::cupti {

class Window {
 public:
  explicit Window(const Fake& fake, const detail::DeviceOptions& options = {})
      : Window(fake.source(), options) {}
  explicit Window(std::unique_ptr<detail::DeviceSource> source,
                  const detail::DeviceOptions& options = {})
      : source_(std::move(source)), options_(options) {
    select_best_clock();
    ClockMap::process_ns_per_tick();
  }

  Status prepare() { return source_->prepare(options_); }
  void start() {
    start_clock_ = read_clock_pair();
    start_ = detail::ordered_ticks();
    source_->start(start_);
  }
  void stop() {
    source_->finish_work();
    stop_ = detail::ordered_ticks();
    recording_ = source_->stop(stop_);
  }

  // The rows of what was recorded, times in ns after the Unix epoch.
  TracePtr trace(std::vector<detail::HostScope> scopes = {}, bool host_reports_memory = false) {
    TraceBuilder builder;
    builder.set_base_unix_ns(base());
    // By the process's rate, as the device's clock: durations come back as they were written.
    const ClockMap clock(start_clock_, start_clock_, ClockMap::process_ns_per_tick());
    for (detail::HostScope& s : scopes) s.name = builder.intern("scope");
    const detail::DeviceFrame frame{.clock = clock,
                                    .base_unix_ns = base(),
                                    .start_ticks = start_,
                                    .stop_ticks = stop_,
                                    .pid = builder.intern("4711"),
                                    .host_reports_device_memory = host_reports_memory,
                                    .user_scopes = scopes};
    const auto rows = recording_->rows(builder, frame);
    std::int64_t last = INT64_MIN;
    while (const TimeRange* const head = rows->head()) {
      EXPECT_GE(head->start, last);
      last = head->start;
      rows->add_head();
    }
    return builder.finish();
  }

  // Of one window with what `script` makes happen in it.
  TracePtr record(const Fake& fake, const std::string& script) {
    EXPECT_TRUE(prepare().ok());
    start();
    fake.run(script);
    stop();
    return trace();
  }

  [[nodiscard]] std::int64_t base() const { return start_clock_.unix_ns; }
  [[nodiscard]] detail::DeviceSource& source() { return *source_; }
  [[nodiscard]] const detail::DeviceRecording& recording() const { return *recording_; }
  // The JSON text of a key; "" when it is not there.
  [[nodiscard]] std::string metadata(std::string_view key) const {
    for (const auto& [name, json] : recording_->metadata()) {
      if (name == key) return json;
    }
    return {};
  }

 private:
  std::unique_ptr<detail::DeviceSource> source_;
  detail::DeviceOptions options_;
  ClockPair start_clock_;
  std::uint64_t start_ = 0, stop_ = 0;
  std::unique_ptr<detail::DeviceRecording> recording_;
};

inline std::optional<EventId> find(const Trace& trace, std::string_view name) {
  for (EventId e = 0; e < trace.size(); ++e) {
    if (trace.name(e) == name) return e;
  }
  return std::nullopt;
}
inline std::vector<EventId> all(const Trace& trace, Kind kind) {
  std::vector<EventId> found;
  for (EventId e = 0; e < trace.size(); ++e) {
    if (trace.kind(e) == kind) found.push_back(e);
  }
  std::sort(found.begin(), found.end(),
            [&](EventId a, EventId b) { return trace.order(a) < trace.order(b); });
  return found;
}

}  // namespace libtrace::cupti
