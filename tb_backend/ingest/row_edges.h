// Where rows begin and end in a text whose strings are not understood yet: guesses, which the
// strict parser proves, or which are all there is behind a broken row.
#pragma once

#include <cstddef>
#include <string_view>

namespace traceglass {

inline constexpr std::size_t kRowEdge = 512;  // bytes that the beginning of a row fits in

// Position of the last comma between two rows ("} , {"), npos without one. Looks from the end.
std::size_t last_cut(std::string_view text);

// Position of the next row that follows a comma, or of the bracket that ends the rows; npos
// without one. `at_end`: no text follows.
std::size_t next_row(std::string_view text, bool at_end);

}  // namespace traceglass
