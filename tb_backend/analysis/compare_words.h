// What a comparison says in words: one sentence that answers "is B slower, and by what".
#pragma once

#include <string>
#include <vector>

#include "tb_backend/analysis/compare.h"

namespace traceglass {

struct Words {
  std::string text;
  bool strong = false;
};

std::vector<Words> compare_sentence(const Comparison& c);
// How sure, as a clause: "no overlap, exact permutation p = 0.008".
std::string significance_text(const Comparison& c);
// "kernel", "memcpy", … as in the breakdown; and as a person says it: "Kernel time", "Copying".
const char* category_id(Category category);
const char* category_title(Category category);

// "24.0 ms", "−3.1 µs": three significant digits.
std::string time_words(std::int64_t ns, bool sign = false);
// "−13.7 %"
std::string percent_words(double percent);

}  // namespace traceglass
