#include "tb_backend/analysis/compare_words.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace traceglass {
namespace {

constexpr const char* kMinus = "\xE2\x88\x92";

std::string number(double value, int decimals) {
  char text[64];
  // Halves go up, as on the page.
  std::snprintf(text, sizeof text, "%.*f", decimals, value * (1 + 4e-16));
  return text;
}

struct Unit {
  const char* name;
  double scale;
};
Unit unit_of(double ns) {
  if (ns < 999.5) return {"ns", 1};
  if (ns < 999.5e3) return {"µs", 1e3};
  return ns < 999.5e6 ? Unit{"ms", 1e6} : Unit{"s", 1e9};
}
std::string digits(double value, int significant) {
  const int whole = value < 1 ? 1 : static_cast<int>(std::floor(std::log10(value))) + 1;
  return number(value, std::max(0, significant - whole));
}

// "175.5 → 151.5 ms": both in the larger one's unit.
std::string change(std::int64_t a, std::int64_t b) {
  const Unit unit = unit_of(static_cast<double>(std::max(a, b)));
  return digits(static_cast<double>(a) / unit.scale, 4) + " \xE2\x86\x92 " +
         digits(static_cast<double>(b) / unit.scale, 4) + ' ' + unit.name;
}

std::string four_digits(std::int64_t ns) {
  const Unit unit = unit_of(static_cast<double>(ns));
  return digits(static_cast<double>(ns) / unit.scale, 4) + ' ' + unit.name;
}

std::string in_brackets(const Comparison& c) {
  std::string text = change(c.a.mean_ns, c.b.mean_ns);
  if (c.delta_pct) text += ", " + percent_words(*c.delta_pct);
  return " (" + text + ")";
}

std::string split_words(const ComparedPart& part) {
  if (!part.split) return "";
  const PartSplit& s = *part.split;
  const std::int64_t sign = part.delta_ns() < 0 ? -1 : 1;
  const std::int64_t calls = sign * s.calls_ns, each = sign * s.per_call_ns,
                     overlap = sign * s.overlap_ns;
  if (2 * std::max({calls, each, overlap}) < std::abs(part.delta_ns())) return "";
  const bool more = sign > 0;
  if (calls >= each && calls >= overlap) return more ? ", by more calls" : ", by fewer calls";
  if (each >= overlap) return more ? ", by longer calls" : ", by shorter calls";
  return more ? ", by less overlap" : ", by more overlap";
}

void add_reason(const Comparison& c, std::vector<Words>& out) {
  const std::int64_t delta = c.delta_ns();
  if (delta == 0) return;
  const ComparedPart* main = nullptr;  // parts stand by size
  for (const ComparedPart& part : c.parts) {
    if (main == nullptr && (part.delta_ns() < 0) == (delta < 0) && part.delta_ns() != 0) {
      main = &part;
    }
  }
  if (main == nullptr) return;
  const double share = static_cast<double>(main->delta_ns()) / static_cast<double>(delta);
  out.push_back({". ", false});
  out.push_back({category_title(main->category), true});
  if (share <= 1.05) {
    out.push_back({" explains " + number(std::min(100.0, 100 * share), 0) + " % of it", false});
  } else {
    out.push_back({" makes " + time_words(main->delta_ns(), true) +
                       " of it, and other parts go the other way",
                   false});
  }
  out.push_back({split_words(*main), false});
  const bool device_part = main->category <= Category::kCommunication;
  if (c.a.device_ns == 0 || c.b.device_ns == 0) return;
  if (!c.device_changed) {
    out.push_back({"; device work did not change", false});
  } else if (!device_part) {
    out.push_back(
        {"; device work takes " + time_words(c.b.device_ns - c.a.device_ns, true), false});
  }
}

std::string p_words(double p) {
  return p < 0.001 ? "p < 0.001" : "p = " + number(p, p < 0.1 ? 3 : 2);
}

bool apart(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  const auto [low_a, high_a] = std::minmax_element(a.begin(), a.end());
  const auto [low_b, high_b] = std::minmax_element(b.begin(), b.end());
  return *high_a < *low_b || *high_b < *low_a;
}

}  // namespace

const char* category_id(Category category) {
  static constexpr const char* kIds[kCategoryCount] = {
      "kernel", "memcpy", "memset", "communication", "runtime", "dataloader", "cpu", "other"};
  return kIds[static_cast<int>(category)];
}

const char* category_title(Category category) {
  static constexpr const char* kTitles[kCategoryCount] = {
      "Kernel time", "Copying",      "Setting memory", "Communication",
      "The runtime", "Data loading", "CPU work",       "Idle and other time"};
  return kTitles[static_cast<int>(category)];
}

std::string time_words(std::int64_t ns, bool sign) {
  const double size = std::abs(static_cast<double>(ns));
  const Unit unit = unit_of(size);
  const std::string text = unit.scale == 1 ? number(size, 0) : digits(size / unit.scale, 3);
  const char* head = ns < 0 ? kMinus : sign && ns > 0 ? "+" : "";
  return head + text + ' ' + unit.name;
}

std::string percent_words(double percent) {
  const std::string text = number(std::abs(percent), 1);
  const char* head = text == "0.0" ? "" : percent < 0 ? kMinus : "+";
  return head + text + " %";
}

std::vector<Words> compare_sentence(const Comparison& c) {
  if (c.verdict == CompareVerdict::kNothing) return {{"There is nothing to compare.", false}};
  if (c.verdict == CompareVerdict::kEqual) {
    return {{"A step takes ", false}, {four_digits(c.a.mean_ns), true}, {" in both.", false}};
  }
  std::vector<Words> out;
  if (c.verdict == CompareVerdict::kChance) {
    out.push_back({"No significant difference", true});
    out.push_back({" of A and B" + in_brackets(c) + '.', false});
    return out;
  }
  if (c.verdict == CompareVerdict::kUntested) {
    out.push_back({"Too few steps to tell", true});
    out.push_back({": ", false});
  }
  out.push_back({"B is ", false});
  out.push_back(
      {time_words(std::abs(c.delta_ns())) + " a step " + (c.delta_ns() < 0 ? "faster" : "slower"),
       true});
  out.push_back({in_brackets(c), false});
  add_reason(c, out);
  out.push_back({".", false});
  return out;
}

std::string significance_text(const Comparison& c) {
  if (c.a.count == 0 || c.b.count == 0) return "";
  if (c.significance.method == Significance::Method::kNone) {
    return "too few steps to tell a difference from chance: four of each are enough";
  }
  const bool exact = c.significance.method == Significance::Method::kExact;
  return std::string(apart(c.a.lengths, c.b.lengths) ? "no overlap, " : "") +
         (exact ? "exact" : "sampled") + " permutation " + p_words(c.significance.p);
}

}  // namespace traceglass
