// The events that torch's profiler lists of a trace, with torch's call tree: what key_averages()
// sums and export_stacks() prints. Differs on purpose from the model's tree (model/nest.cc).
//
// Per lane, host rows and Python frames together, sorted by (start, -end): a row that is not wholly
// inside the innermost open one closes it. Utility rows are left out, asynchronous rows have
// neither parent nor children, and a sole child of its parent's name is merged into the parent.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libtrace/averages/function_names.h"
#include "libtrace/trace.h"

namespace libtrace {

class FunctionEvents {
 public:
  // `memory_by_thread`: a row has the memory of its own thread only; torch goes by time alone.
  explicit FunctionEvents(const Trace& trace, bool memory_by_thread = false);

  // What a slice is here; kNo: not an event (or merged into its parent).
  enum class What : std::uint8_t { kNo, kHost, kAsync, kPython, kDevice };
  [[nodiscard]] What what(EventId e) const noexcept { return what_[e]; }
  [[nodiscard]] bool is_annotation(EventId e) const noexcept {
    return trace_.kind(e) == Kind::kAnnotation || trace_.kind(e) == Kind::kDeviceAnnotation;
  }
  // In torch's tree; kNone for roots, asynchronous and device rows.
  [[nodiscard]] EventId parent(EventId e) const noexcept { return parent_[e]; }
  [[nodiscard]] FunctionNames::Key name(EventId e) const noexcept { return name_[e]; }

  struct Figures {
    std::int64_t cpu = 0, self_cpu = 0, device = 0, self_device = 0;                      // ns
    std::int64_t memory = 0, self_memory = 0, device_memory = 0, self_device_memory = 0;  // bytes
  };
  [[nodiscard]] Figures figures(EventId e) const noexcept;

  // cpu and self_cpu in us, rounded as torch's additions of doubles do: its times count from the
  // start of the profile in us.
  [[nodiscard]] double torch_cpu_us(EventId e) const noexcept;
  [[nodiscard]] double torch_self_cpu_us(EventId e) const noexcept;

  // All events but those of memory, in torch's order: by (start, -end), then as in the file.
  [[nodiscard]] std::vector<EventId> in_order() const;

  // Memory rows in no host event of any thread, and all out-of-memory rows: indices of
  // Trace::memory(), in time order. torch lists them as events of no length.
  [[nodiscard]] const std::vector<std::uint32_t>& loose_memory() const noexcept {
    return loose_memory_;
  }
  static std::int64_t host_bytes(const MemoryEvent& m) noexcept;
  static std::int64_t device_bytes(const MemoryEvent& m) noexcept;

  [[nodiscard]] const Trace& trace() const noexcept { return trace_; }
  [[nodiscard]] const FunctionNames& names() const noexcept { return names_; }
  // "cuda", "xpu", "mtia"; "" without device rows.
  [[nodiscard]] const std::string& device() const noexcept { return device_; }

  [[nodiscard]] bool before(EventId a, EventId b) const noexcept;

 private:
  void classify();
  void build_tree();
  void merge_repeated();
  void add_device_times();
  void add_memory(bool by_thread);

  const Trace& trace_;
  FunctionNames names_;
  std::string device_;
  std::vector<What> what_;
  std::vector<EventId> parent_;
  std::vector<FunctionNames::Key> name_;
  std::int64_t zero_ = 0;                                // start of the profile
  std::vector<std::int64_t> children_;                   // ns in direct children
  std::vector<double> children_us_;                      // the same as torch rounds it
  std::vector<std::int64_t> device_total_, device_own_;  // empty without device rows
  struct Bytes {
    std::int64_t host = 0, device = 0;
  };
  std::vector<Bytes> memory_, children_memory_;  // empty without memory rows
  std::vector<std::uint32_t> loose_memory_;
};

}  // namespace libtrace
