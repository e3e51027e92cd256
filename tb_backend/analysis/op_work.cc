#include "tb_backend/analysis/op_work.h"

#include <array>
#include <map>
#include <string_view>

#include "libtrace/model/shapes.h"

namespace traceglass {

using libtrace::EventId;
using libtrace::Kind;
using libtrace::kNone;
using libtrace::Trace;

namespace {

// Shapes that ask for more than any machine has done so far are not true; and sums of what is left
// stay numbers, whatever they are divided by.
constexpr double kMostWork = 1e30;
void keep_possible(OpCost& cost) {
  if (!(cost.flops < kMostWork)) cost.flops = 0;
  if (cost.bytes && !(*cost.bytes < kMostWork)) cost.bytes.reset();
}

}  // namespace

OpWork::OpWork(const Trace& trace) : cost_(trace.size()), counts_(trace.size()) {
  // Equal texts of a trace are one text, so that where it lies tells it apart.
  using Inputs = std::array<std::string_view, 3>;  // dims, types, concrete
  using Key = std::array<const void*, 4>;
  std::map<Key, std::uint32_t> known;
  std::vector<std::uint8_t> has_rule(trace.string_count());  // 0 not asked, 1 no, 2 yes
  std::vector<Trace::Arg> args;
  for (EventId e = 0; e < trace.size(); ++e) {
    if (trace.kind(e) != Kind::kOp || trace.suspect(e)) continue;
    std::uint8_t& rule = has_rule[trace.name_id(e)];
    if (rule == 0) rule = has_cost(trace.name(e)) ? 2 : 1;
    if (rule == 1) continue;
    Inputs in;
    trace.args(e, args);
    for (const auto& [key, value] : args) {
      if (key == "Input Dims" || key == "Input dims") in[0] = value.text;
      if (key == "Input type" || key == "Input types" || key == "Input Type") in[1] = value.text;
      if (key == "Concrete Inputs") in[2] = value.text;
    }
    if (in[0].empty()) continue;
    const Key key{trace.name(e).data(), in[0].data(), in[1].data(), in[2].data()};
    const auto [it, fresh] = known.try_emplace(key, static_cast<std::uint32_t>(costs_.size()));
    if (fresh) {
      costs_.push_back(cost_of(trace.name(e), libtrace::parse_shapes(in[0]),
                               libtrace::parse_strings(in[1]), libtrace::parse_strings(in[2])));
      keep_possible(costs_.back());
    }
    cost_[e] = it->second;
  }
  std::vector<bool> below(trace.size());  // a product lies below
  for (EventId e = static_cast<EventId>(trace.size()); e-- > 0;) {
    const OpCost& c = cost(e);
    counts_[e] = c.flops > 0 && !below[e];
    const EventId p = trace.parent(e);
    if (p != kNone && (below[e] || (c.matrix && c.flops > 0))) below[p] = true;
  }
}

}  // namespace traceglass
