// Texts of traces and files for a terminal: nothing of a hostile name steers it.
#pragma once

#include <cstddef>
#include <string>

namespace traceglass {

// Control characters become blanks.
inline std::string printable(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  }
  return text;
}

// At most `width` bytes (of 3 or more), cut between characters.
inline std::string shortened(const std::string& text, std::size_t width) {
  if (text.size() <= width) return text;
  std::size_t cut = width - 3;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) --cut;
  return text.substr(0, cut) + "...";
}

}  // namespace traceglass
