// What a range of a program can carry beyond its name: an operator's inputs, arguments, its place
// in the autograd graph; ranges that end on another thread; memory, modules, marks and counters.
// Made for adapters (libtorch, NVTX, an own engine). Nothing here allocates by malloc, blocks,
// prints or throws; all texts and arrays are read during the call and not kept.
//
//   libtrace::RangeDetails details;
//   if (libtrace::wants(libtrace::Detail::kShapes)) { ...; details.inputs = …; }
//   const libtrace::RecordFunction range("aten::mm", libtrace::RecordScope::kFunction, details);
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "libtrace/event.h"
#include "libtrace/record_function.h"

namespace libtrace {

// What the running profile asks for. Each follows from an option of the Profiler.
enum class Detail : std::uint32_t {
  kRanges = 1U << 0,   // activities: CPU
  kShapes = 1U << 1,   // record_shapes, with_flops
  kMemory = 1U << 2,   // profile_memory
  kStacks = 1U << 3,   // with_stack; taken by the recorder itself
  kModules = 1U << 4,  // with_modules
};

// Whether a window is open that asks for it. One relaxed load.
inline bool wants(Detail detail) noexcept {
  return (detail::recording.load(std::memory_order_relaxed) & static_cast<std::uint32_t>(detail)) !=
         0;
}

// One input of an operator.
struct Input {
  enum class Kind : std::uint8_t { kOther, kTensor, kTensorList, kScalar, kScalarList };
  Kind kind = Kind::kOther;
  std::uint32_t dims = 0;                 // kTensor: entries of sizes and strides
  const std::int64_t* sizes = nullptr;    // nullptr: none
  const std::int64_t* strides = nullptr;  // nullptr: none
  std::string_view type;                  // kTensor: as torch names it: "float", "long int"
  std::string_view value;                 // kScalar…: printed: "1", "[1, 512]", "False"
  const Input* items = nullptr;           // kTensorList: tensors; more than 30 are left out
  std::size_t item_count = 0;
};

// One argument of the user's. Keys that the recorder itself writes are left out.
struct RangeArg {
  std::string_view key;
  Value value;
};

struct RangeDetails {
  const Input* inputs = nullptr;  // recorded when wants(kShapes)
  std::size_t input_count = 0;
  const RangeArg* args = nullptr;
  std::size_t arg_count = 0;
  // Autograd: forward and backward operators of one sequence number are joined by an arrow. -1: no
  // part of a graph. `thread`: the number that `forward_thread` of a backward operator names (in
  // torch RecordFunction::currentThreadId); `forward_thread` 0 in forward operators.
  std::int64_t sequence_number = -1;
  std::uint64_t thread = 0, forward_thread = 0;
};

// A range without a block of its own. nullptr: not recorded; ending it does nothing. Ends at most
// once, on the thread that began it.
using OpenRange = detail::Record;
inline OpenRange* begin_range(std::string_view name, RecordScope scope,
                              const RangeDetails& details = {}) noexcept {
  return wants(Detail::kRanges) ? detail::begin_scope(name, scope, details) : nullptr;
}
inline void end_range(OpenRange* range) noexcept {
  if (range != nullptr) detail::end_scope(range);
}

// A range that need not nest and may end on any thread, once. It is no part of its thread's tree of
// calls: rows of its own show it.
OpenRange* begin_async_range(std::string_view name, RecordScope scope = RecordScope::kUserScope,
                             const RangeDetails& details = {}) noexcept;
void end_async_range(OpenRange* range) noexcept;

// The same as an object: ends at end() or with its life, wherever that is.
class AsyncRange {
 public:
  AsyncRange() = default;
  explicit AsyncRange(std::string_view name, RecordScope scope = RecordScope::kUserScope) noexcept
      : range_(begin_async_range(name, scope)) {}
  AsyncRange(AsyncRange&& other) noexcept : range_(std::exchange(other.range_, nullptr)) {}
  AsyncRange& operator=(AsyncRange&& other) noexcept {
    if (this != &other) {
      end();
      range_ = std::exchange(other.range_, nullptr);
    }
    return *this;
  }
  ~AsyncRange() { end(); }
  void end() noexcept { end_async_range(std::exchange(range_, nullptr)); }

 private:
  OpenRange* range_ = nullptr;
};

// A module (layer) being run. Operators within carry the names of the modules around them, joined
// by ".". Recorded when wants(kModules).
class ModuleScope {
 public:
  explicit ModuleScope(std::string_view name) noexcept;
  ~ModuleScope() { end_range(range_); }
  ModuleScope(const ModuleScope&) = delete;
  ModuleScope& operator=(const ModuleScope&) = delete;

 private:
  OpenRange* range_;
};

// An allocation or its release. Recorded when wants(kMemory).
struct MemoryReport {
  std::uint64_t address = 0;
  std::int64_t bytes = 0;  // + allocated, - freed
  // Of the allocator, after this. -1: not known; the recorder then counts from the window's start.
  std::int64_t total_allocated = -1, total_reserved = -1;
  std::int32_t device_type = 0, device_index = -1;  // c10::DeviceType: 0 CPU (index -1), 1 CUDA
  bool out_of_memory = false;                       // `bytes` were asked for and not given
};
void report_memory(const MemoryReport& report) noexcept;

// A moment, and a number that changes over time.
void mark(std::string_view name) noexcept;
void mark(std::string_view name, const RangeDetails& details) noexcept;
void count(std::string_view name, double value) noexcept;

}  // namespace libtrace
