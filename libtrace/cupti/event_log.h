// What CUPTI's records of one window said, in our own words. Names are copied: CUPTI's pointers
// die with the module they came from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "libtrace/cupti/segments.h"
#include "libtrace/record/chunk_pool.h"

namespace libtrace::cupti {

inline constexpr std::uint32_t kNoStream = 0xFFFF'FFFF;  // a synchronisation of no stream

// Times are CUPTI's: ns of the recorder's clock, or of the wall clock before 11.6.
struct KernelEvent {
  std::uint64_t start = 0, end = 0, queued = 0;
  std::uint32_t correlation = 0, device = 0, context = 0, stream = 0, name = 0;
  std::uint32_t grid[3] = {}, block[3] = {};
  std::uint32_t static_shared = 0, dynamic_shared = 0;
  std::uint32_t graph = 0;
  std::uint64_t graph_node = 0;
  std::uint32_t channel = 0, channel_type = 0;
  std::uint16_t registers = 0;
};

struct CopyEvent {
  std::uint64_t start = 0, end = 0, bytes = 0;
  std::uint32_t correlation = 0, device = 0, context = 0, stream = 0;
  std::uint32_t graph = 0;
  std::uint64_t graph_node = 0;
  std::uint32_t source_device = 0, source_context = 0, target_device = 0, target_context = 0;
  std::uint8_t kind = 0, source = 0, target = 0;
  bool peer = false;  // the four above hold
};

struct SetEvent {
  std::uint64_t start = 0, end = 0, bytes = 0;
  std::uint32_t correlation = 0, device = 0, context = 0, stream = 0;
  std::uint32_t graph = 0;
  std::uint64_t graph_node = 0;
  std::uint16_t memory = 0;
};

struct CallEvent {
  std::uint64_t start = 0, end = 0;
  std::uint32_t thread = 0, correlation = 0, cbid = 0, result = 0;
  bool driver = false;
};

struct SyncEvent {
  std::uint64_t start = 0, end = 0;
  std::uint32_t type = 0, correlation = 0, context = 0, stream = kNoStream, event = 0;
};

// The last record of a CUDA event: what a wait for it waited for. In the order of the file.
struct EventRecord {
  std::uint32_t correlation = 0, context = 0, stream = 0, event = 0;
};

struct OverheadEvent {
  std::uint64_t start = 0, end = 0;
  std::uint32_t kind = 0, thread = 0;  // 0: of no thread
};

struct AllocationEvent {
  std::uint64_t at = 0, address = 0, bytes = 0;
  std::uint32_t correlation = 0, device = 0, kind = 0;
  bool release = false;
};

struct GraphEvent {
  std::uint64_t start = 0, end = 0;
  std::uint32_t correlation = 0, device = 0, context = 0, stream = 0, graph = 0;
};

// A function of the CUDA API, by (domain, callback id).
struct CallName {
  std::string text;
  bool wanted = true;  // false: so frequent and so cheap that it only costs
};
constexpr std::uint64_t call_key(bool driver, std::uint32_t cbid) noexcept {
  return (std::uint64_t{driver} << 32) | cbid;
}

// What did not make it into the log.
struct Losses {
  std::uint64_t dropped_by_cupti = 0;  // it had no buffer, or no memory
  std::uint64_t dropped_here = 0;      // at our ceiling, or in scrap buffers
  std::uint64_t without_time = 0;      // device work whose times CUPTI did not get
  std::uint64_t unreadable = 0;        // records that ended a buffer early, or make no sense
};

// Memory of a log, as the recorder counts it: under one ceiling with the host's records and with
// the logs of earlier windows that are still being written.
class Charge {
 public:
  Charge() = default;
  Charge(Charge&& other) noexcept : bytes_(std::exchange(other.bytes_, 0)) {}
  Charge& operator=(Charge&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Charge() { detail::chunk_pool().discharge(bytes_); }

  // Covers so much; false: the ceiling is reached.
  bool cover(std::size_t bytes) noexcept {
    if (__builtin_expect(bytes <= bytes_, 1)) return true;
    constexpr std::size_t kStep = 65536;
    const std::size_t more = (bytes - bytes_ + kStep - 1) / kStep * kStep;
    if (!detail::chunk_pool().charge(more)) return false;
    bytes_ += more;
    return true;
  }

 private:
  std::size_t bytes_ = 0;
};

class EventLog {
 public:
  Segments<KernelEvent> kernels;
  Segments<CopyEvent> copies;
  Segments<SetEvent> sets;
  Segments<CallEvent> calls;
  Segments<SyncEvent> syncs;
  Segments<EventRecord> event_records;
  Segments<OverheadEvent> overheads;
  Segments<AllocationEvent> allocations;
  Segments<GraphEvent> graphs;
  std::unordered_map<std::uint32_t, std::uint32_t> device_of_context;
  std::unordered_map<std::uint64_t, CallName> call_names;
  Losses losses;

  // 0, which is "", when the log is full.
  std::uint32_t intern(std::string_view name);
  [[nodiscard]] std::string_view name(std::uint32_t id) const { return names_[id]; }
  [[nodiscard]] std::size_t name_count() const noexcept { return names_.size(); }

  // Appends unless the log is full; counts either way.
  template <class E>
  void add(Segments<E>& to, const E& event) {
    if (bytes_ + sizeof(E) > max_bytes_ || !charge_.cover(bytes_ + sizeof(E))) {
      ++losses.dropped_here;
      return;
    }
    bytes_ += sizeof(E);
    to.push_back(event);
  }

  void set_max_bytes(std::size_t bytes) noexcept { max_bytes_ = bytes; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::size_t size() const noexcept;
  // The events move out; contexts, names of calls and the ceiling stay as well.
  EventLog take();

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view s) const noexcept {
      return std::hash<std::string_view>()(s);
    }
  };
  std::vector<std::string> names_{std::string()};
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> ids_{{std::string(), 0}};
  std::size_t bytes_ = 0, max_bytes_ = SIZE_MAX;
  Charge charge_;
};

}  // namespace libtrace::cupti
