// `traceglass cut`: a part of a trace as a file of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace traceglass {

struct CutCommand {
  std::string path, output;
  // "1.5s", "20ms", "7us", "12ns"; a number alone is ms. From the start of the trace, as the page's
  // time axis counts. Absent: its start, its end.
  std::optional<std::string> from, to;
  std::string steps;  // "3-5" or "4": the N of ProfilerStep#N, instead of times
};

// Returns the exit status.
int run_cut(const CutCommand& command);

// "20ms" in ns; nullopt when it is no time.
std::optional<std::int64_t> parse_time(std::string_view text);

}  // namespace traceglass
