// CUPTI's bytes -> events. The library itself steps from record to record, since only it knows the
// size of each; fields are read by the offsets of layout.h, late ones only where the version has
// them. Whatever the bytes say, nothing is read outside of the buffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "libtrace/cupti/api.h"
#include "libtrace/cupti/event_log.h"

namespace libtrace::cupti {

// Adds the records of one buffer to the log.
void decode(const CuptiApi& api, std::uint8_t* bytes, std::size_t valid, EventLog& log);
// How many records a buffer holds.
std::uint64_t count_records(const CuptiApi& api, std::uint8_t* bytes, std::size_t valid);

// "cudaLaunchKernel_v7000" -> "cudaLaunchKernel".
std::string_view without_version(std::string_view callback_name) noexcept;
// Whether a call of this name is worth a row.
bool is_wanted_call(std::string_view name, bool driver) noexcept;

}  // namespace libtrace::cupti
