// The bytes of an index file, as FORMAT.md has them: header, section table, sections. Numbers are
// little-endian, sections start at multiples of 64: a machine that has them so maps them as they
// are.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "libtrace/trace.h"

namespace traceglass::index {

static_assert(std::endian::native == std::endian::little, "columns are mapped as they are");

inline constexpr char kMagic[8] = {'T', 'G', 'L', 'A', 'S', 'S', 'I', 'X'};
// Goes up with every change of FORMAT.md. What the columns mean is in `meaning`.
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::size_t kAlignment = 64;
inline constexpr std::size_t kBlock = std::size_t{1} << 20;  // hashed at a time

// What reads traces, as a hash of its source: an index that another reader made may lack what this
// one would say.
extern const std::uint64_t kMeaning;

// What tells one content of a trace file from another.
struct Key {
  std::uint64_t bytes = 0;
  std::int64_t modified_ns = 0;                // since 1970
  std::uint64_t head_hash = 0, tail_hash = 0;  // of the first and the last MiB

  bool operator==(const Key&) const = default;
};

struct Header {
  char magic[8];
  std::uint32_t version;
  std::uint32_t sections;
  std::uint64_t file_bytes;
  std::uint64_t meaning;
  Key key;
  std::uint64_t hash;  // of header, with 0 here, and section table
  std::uint64_t reserved[7];
};
static_assert(sizeof(Header) == 128 && offsetof(Header, key) == 32 && offsetof(Header, hash) == 64);

struct SectionEntry {
  std::uint32_t id;
  std::uint32_t element_bytes;
  std::uint64_t offset;  // from the start of the file
  std::uint64_t count;   // of elements
  std::uint64_t hash;    // of the hashes of its blocks
};
static_assert(sizeof(SectionEntry) == 32);

enum class Section : std::uint32_t {
  kPath = 1,
  kMeta = 2,
  kStart = 16,
  kDur,
  kSelf,
  kName,
  kLane,
  kParent,
  kLaunch,
  kOwner,
  kAnchor,
  kOrder,
  kArgs,
  kCategory,
  kDepth,
  kFlags,
  kKind,
  kArgBytes = 48,
  kStringData,
  kStringOffset,
  kCategories,
  kInstants,
  kFlows,
  kMemoryAt = 64,
  kMemoryBytes,
  kMemoryAddr,
  kMemoryAllocated,
  kMemoryReserved,
  kMemoryDeviceType,
  kMemoryDeviceId,
  kMemoryLane,
  kMemoryOp,
  kMemoryBits,
};

// Structures that stand in sections as they are.
using libtrace::Flow;
using libtrace::Instant;
static_assert(sizeof(Instant) == 32 && offsetof(Instant, at) == 0 && offsetof(Instant, name) == 8 &&
              offsetof(Instant, category) == 12 && offsetof(Instant, lane) == 16 &&
              offsetof(Instant, phase) == 20 && offsetof(Instant, args) == 24);
static_assert(sizeof(Flow) == 32 && offsetof(Flow, id) == 0 && offsetof(Flow, at) == 8 &&
              offsetof(Flow, category) == 16 && offsetof(Flow, name) == 20 &&
              offsetof(Flow, lane) == 24 && offsetof(Flow, begin) == 28);

// Memory events by column: their optional fields have no layout of their own.
struct MemoryColumns {
  enum Bits : std::uint8_t { kAddr = 1, kAllocated = 2, kReserved = 4, kOutOfMemory = 8 };
  libtrace::Column<std::int64_t> at, bytes, allocated, reserved;
  libtrace::Column<std::uint64_t> addr;
  libtrace::Column<std::int32_t> device_type, device_id;
  libtrace::Column<std::uint32_t> lane, op;
  libtrace::Column<std::uint8_t> bits;
};

// fn(Section, column) for each column with one entry a slice.
template <typename Data, typename Fn>
void each_slice_column(Data& d, Fn&& fn) {
  fn(Section::kStart, d.start);
  fn(Section::kDur, d.dur);
  fn(Section::kSelf, d.self);
  fn(Section::kName, d.name);
  fn(Section::kLane, d.lane);
  fn(Section::kParent, d.parent);
  fn(Section::kLaunch, d.launch);
  fn(Section::kOwner, d.owner);
  fn(Section::kAnchor, d.anchor);
  fn(Section::kOrder, d.order);
  fn(Section::kArgs, d.args);
  fn(Section::kCategory, d.category);
  fn(Section::kDepth, d.depth);
  fn(Section::kFlags, d.flags);
  fn(Section::kKind, d.kind);
}

template <typename Data, typename Fn>
void each_other_column(Data& d, Fn&& fn) {
  fn(Section::kArgBytes, d.arg_bytes);
  fn(Section::kStringData, d.string_data);
  fn(Section::kStringOffset, d.string_offset);
  fn(Section::kCategories, d.categories);
  fn(Section::kInstants, d.instants);
  fn(Section::kFlows, d.flows);
}

template <typename Columns, typename Fn>
void each_memory_column(Columns& m, Fn&& fn) {
  fn(Section::kMemoryAt, m.at);
  fn(Section::kMemoryBytes, m.bytes);
  fn(Section::kMemoryAddr, m.addr);
  fn(Section::kMemoryAllocated, m.allocated);
  fn(Section::kMemoryReserved, m.reserved);
  fn(Section::kMemoryDeviceType, m.device_type);
  fn(Section::kMemoryDeviceId, m.device_id);
  fn(Section::kMemoryLane, m.lane);
  fn(Section::kMemoryOp, m.op);
  fn(Section::kMemoryBits, m.bits);
}

}  // namespace traceglass::index
