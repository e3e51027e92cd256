// A short name for a text, the same on every run and machine: ids of traces, tags of answers.
#pragma once

#include <string>
#include <string_view>

namespace traceglass {

// 16 hex digits. Spreads well; anybody can find two texts with one hash, so it is no secret.
std::string stable_hash(std::string_view text);

}  // namespace traceglass
