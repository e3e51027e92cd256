// `Input Dims` of a trace ("[[8,3],[[1],[2]],[]]") as torch groups and prints them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace libtrace {

// One entry an input, in order. A list of tensors counts as no shape, as does whatever is not a
// list of whole numbers. Empty for what is no list. Never throws but for memory.
std::vector<std::vector<std::int64_t>> parse_shapes(std::string_view json);

// "[[8, 3], [], []]", as Python prints it.
std::string shapes_text(const std::vector<std::vector<std::int64_t>>& shapes);

// Whole numbers of "[1, 1]" or "1"; empty for anything else.
std::vector<std::int64_t> parse_numbers(std::string_view text);

// Texts of a JSON array of strings, `Concrete Inputs`; entries that are no string become "".
std::vector<std::string> parse_strings(std::string_view json);

}  // namespace libtrace
