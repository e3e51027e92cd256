#include "tb_backend/analysis/roof_words.h"

#include <cstdio>
#include <map>

#include "tb_backend/analysis/figures.h"

namespace traceglass {
namespace {

struct OfOperator {
  std::int64_t ns = 0;
  double at_roof_ns = 0;  // what its work would take at the roofs of its shapes
  double flops = 0, bytes = 0;
};

std::string speed(const OfOperator& o) {
  // Work in a nanosecond: 1 is a billion a second.
  const auto ns = static_cast<double>(o.ns);
  char text[64];
  if (o.flops > 0) {
    std::snprintf(text, sizeof text, " runs at %.1f TFLOP/s", o.flops / ns / 1e3);
  } else {
    std::snprintf(text, sizeof text, " moves %.0f GB/s", o.bytes / ns);
  }
  return text;
}

}  // namespace

std::string roof_words(const Roofline& roofline) {
  std::map<std::string_view, OfOperator> by_name;
  for (const RooflineRow& row : roofline.rows) {
    if (!row.roof_pct || row.ns <= 0) continue;
    OfOperator& o = by_name[row.name];
    o.ns += row.ns;
    o.at_roof_ns += *row.roof_pct / 100 * static_cast<double>(row.ns);
    o.flops += row.flops.value_or(0);
    o.bytes += row.bytes.value_or(0);
  }
  std::string_view name;
  OfOperator most;
  for (const auto& [its, o] : by_name) {
    if (o.ns <= most.ns) continue;
    name = its;
    most = o;
  }
  if (most.ns == 0) return "";
  char share[48];
  std::snprintf(share, sizeof share, ", %.1f %% of its roof.",
                100 * most.at_roof_ns / static_cast<double>(most.ns));
  return short_name(name) + speed(most) + share;
}

}  // namespace traceglass
