// What rows are called: torch's own words, since every reader of its traces matches them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "libtrace/cupti/event_log.h"

namespace libtrace::cupti {

std::string copy_name(const CopyEvent& copy);  // "Memcpy HtoD (Pageable -> Device)"
std::string set_name(const SetEvent& set);     // "Memset (Device)"
std::string_view sync_name(std::uint32_t type) noexcept;
std::string_view overhead_name(std::uint32_t kind) noexcept;
// Of a C++ symbol; what does not demangle stays as it is.
std::string demangled(std::string_view symbol);

// Kinds of memory, as CUPTI numbers them.
bool is_device_memory(std::uint32_t kind) noexcept;

inline constexpr std::uint32_t kSyncEvent = 1, kSyncStreamWaitsForEvent = 2, kSyncStream = 3,
                               kSyncContext = 4;

}  // namespace libtrace::cupti
