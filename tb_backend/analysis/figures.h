// Times and sizes as words of a sentence, and shares.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace traceglass {

// 0 of nothing.
double percent(std::int64_t part, std::int64_t whole);
std::string time_text(std::int64_t ns);      // "7.51 ms", "182 s" → "3 min 2 s"
std::string bytes_text(std::int64_t bytes);  // "24.0 KiB"
// "1 collective", "5 collectives".
std::string count_text(std::size_t count, const std::string& noun);
// A name cut to what a sentence bears, at a whole character.
std::string short_name(std::string_view name);

}  // namespace traceglass
