#include "libtrace/cupti/row_names.h"

#include <cxxabi.h>

#include <cstdlib>
#include <iterator>
#include <memory>

namespace libtrace::cupti {
namespace {

template <std::size_t N>
std::string_view at(const std::string_view (&names)[N], std::size_t i,
                    std::string_view otherwise) noexcept {
  return i < N ? names[i] : otherwise;
}

constexpr std::string_view kMemory[] = {"Unknown", "Pageable", "Pinned",        "Device",
                                        "Array",   "Managed",  "Device Static", "Managed Static"};
constexpr std::string_view kCopies[] = {"Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                        "AtoD",    "DtoA", "DtoD", "HtoH", "PtoP"};
constexpr std::string_view kSyncs[] = {"Unknown Sync", "Event Sync", "Stream Wait Event",
                                       "Stream Sync", "Context Sync"};
constexpr std::string_view kOverheads[] = {"Unknown",
                                           "Buffer Flush",
                                           "Instrumentation",
                                           "Resource",
                                           "Runtime Triggered Module Loading",
                                           "Lazy Function Loading",
                                           "Command Buffer Full",
                                           "Activity Buffer Request",
                                           "UVM Activity Init"};

}  // namespace

std::string copy_name(const CopyEvent& copy) {
  std::string name = "Memcpy ";
  name += at(kCopies, copy.kind, "Unknown");
  name += " (";
  name += at(kMemory, copy.source, "Unrecognized");
  name += " -> ";
  name += at(kMemory, copy.target, "Unrecognized");
  return name + ")";
}

std::string set_name(const SetEvent& set) {
  return "Memset (" + std::string(at(kMemory, set.memory, "Unrecognized")) + ")";
}

std::string_view sync_name(std::uint32_t type) noexcept { return at(kSyncs, type, kSyncs[0]); }

std::string_view overhead_name(std::uint32_t kind) noexcept {
  if (kind == 1) return "Driver Compiler";
  return (kind & 0xFFFF) == 0 ? at(kOverheads, kind >> 16, "Unrecognized") : "Unrecognized";
}

std::string demangled(std::string_view symbol) {
  std::string text(symbol);
  if (text.rfind("_Z", 0) != 0) return text;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> plain(
      abi::__cxa_demangle(text.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && plain != nullptr ? std::string(plain.get()) : text;
}

bool is_device_memory(std::uint32_t kind) noexcept {
  return kind == 3 || kind == 4 || kind == 5 || kind == 6 || kind == 7;
}

}  // namespace libtrace::cupti
