// Texts of traces in Markdown that code hosts show: nothing of a hostile name becomes markup.
#pragma once

#include <cstddef>
#include <string>

namespace traceglass {

// Text that means only itself in Markdown and in HTML within it.
std::string markdown_text(const std::string& text);

// As code, in a cell of a table, at most `width` bytes.
std::string markdown_code(const std::string& text, std::size_t width);

}  // namespace traceglass
