// CUPTI's switches, in the order that it wants them: subscribe, thread ids, attributes, clock,
// buffers, kinds; and back. One thread at a time.
#pragma once

#include <string>
#include <vector>

#include "libtrace/cupti/contexts.h"
#include "libtrace/cupti/loader.h"
#include "libtrace/record/device_source.h"

namespace libtrace::cupti {

class Session {
 public:
  explicit Session(const Libraries& libraries) : libraries_(libraries) {}

  // Makes us CUPTI's one subscriber and gives it clock and buffers. Nothing is recorded yet. Once
  // somebody else has turned out to be that, CUPTI is left alone until forget_refusal().
  Refusal open();
  void forget_refusal() noexcept { occupied_ = {}; }
  // Records the kinds that `options` ask for. On refusal none is.
  Refusal enable(const detail::DeviceOptions& options);
  void disable() noexcept;
  // Within a window only: has CUPTI hand over what is complete now and then.
  void flush_periodically(bool on) noexcept;
  // What is complete; then, if `forced`, everything.
  void flush(bool forced) noexcept;
  // Records that CUPTI dropped since the last call.
  std::uint64_t dropped() noexcept;
  void close() noexcept;

  [[nodiscard]] bool is_open() const noexcept { return subscriber_ != nullptr; }
  [[nodiscard]] bool has_own_clock() const noexcept { return own_clock_; }
  // The driver has ended, the process is about to.
  [[nodiscard]] bool driver_is_gone() const noexcept;
  [[nodiscard]] Contexts& contexts() noexcept { return contexts_; }
  // Kinds wished for that this CUPTI does not record, as text.
  [[nodiscard]] const std::vector<std::string>& missing_kinds() const noexcept { return missing_; }

 private:
  Refusal refuse(std::string_view call, Result code, std::string_view other = {}) const;
  Refusal subscribe();
  Refusal refused_subscription(std::string_view call, Result code, std::string_view other = {});
  static void on_resource(void* self, std::uint32_t domain, std::uint32_t cbid, const void* data);

  const Libraries& libraries_;
  const CuptiApi& api_ = libraries_.cupti;
  Subscriber subscriber_ = nullptr;
  Refusal occupied_;  // by another subscriber
  bool own_clock_ = false;
  std::vector<ActivityKind> enabled_;
  std::vector<std::string> missing_;
  Contexts contexts_;
};

}  // namespace libtrace::cupti
