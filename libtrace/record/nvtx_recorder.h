// The door between the NVTX injection library and a recorder. A program that links libtrace has a
// recorder of its own, in its own copy of the code; it hands the injection library this table, so
// that the ranges land in the profile that the program asked for. Plain C types: the two sides may
// be built by different compilers and from different versions.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace libtrace::nvtx {

struct Text {
  const char* data;  // UTF-8 as the program gave it, nothing checked; borrowed for the call
  std::size_t size;
};

enum class PayloadKind : std::int32_t { kNone, kInt, kUint, kDouble };

// A range or a mark.
struct Range {
  Text name;
  Text domain;    // empty: the default one
  Text category;  // empty: none
  PayloadKind payload_kind;
  union {
    std::int64_t i;
    std::uint64_t u;
    double d;
  } payload;
};

// Nothing in it throws or blocks. Version 1; later ones add members at the end.
struct RecorderTable {
  std::uint32_t struct_size;
  std::uint32_t version;
  // Not 0 while something records.
  const std::atomic<std::uint32_t>* recording;
  // A range that nests within its thread. Null: not recorded; else give it to pop, on that thread.
  void* (*push)(const Range* range);
  void (*pop)(void* handle);
  // A range that may end on any thread, and overlap others.
  void* (*start)(const Range* range);
  void (*end)(void* handle);
  void (*mark)(const Range* range);
  // A range was not recorded, for want of room on the caller's side: it is counted.
  void (*drop)();
};

// What the injection library exports to take such a table, which must live as long as the process.
using Attach = void (*)(const RecorderTable* table);
inline constexpr char kAttachSymbol[] = "traceglass_nvtx_attach";
inline constexpr char kLibraryName[] = "libtraceglass_nvtx.so";

// This recorder's own.
const RecorderTable* recorder_table() noexcept;
// When the process runs our injection library ($NVTX_INJECTION64_PATH), lets NVTX's ranges come
// here from now on. When it does not, that costs a look at the environment.
void attach_to_injection() noexcept;

}  // namespace libtrace::nvtx
