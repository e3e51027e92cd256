#include "tb_backend/analysis/compare.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "tb_backend/analysis/call_tree.h"

namespace traceglass {

using libtrace::Trace;

namespace {

constexpr std::size_t kMostBlocks = 200;
constexpr double kDeviceChange = 0.01;  // smaller ones are of clocks and temperature

bool is_device(Category c) {
  return c == Category::kKernel || c == Category::kMemcpy || c == Category::kMemset ||
         c == Category::kCommunication;
}

ComparedSide side_of(const CompareInput& in) {
  ComparedSide side;
  const BreakdownMaker maker(in.trace);
  Breakdown sums;
  for (std::size_t i = 0; i < in.selection.steps().size(); ++i) {
    if (!in.selection.selected(i)) continue;
    const libtrace::TimeRange range = in.selection.steps()[i].extended;
    side.lengths.push_back(range.length());
    const Breakdown of_step = maker.of(range);
    for (int c = 0; c < kCategoryCount; ++c) sums.ns[c] += of_step.ns[c];
  }
  side.count = side.lengths.size();
  if (side.count == 0) return side;
  side.mean = mean_breakdown(sums, static_cast<std::int64_t>(side.count));
  side.mean_ns = side.mean.total();
  const auto n = static_cast<double>(side.count);
  const double mean = static_cast<double>(sums.total()) / n;
  double squares = 0;
  for (const std::int64_t l : side.lengths) {
    const double off = static_cast<double>(l) - mean;
    squares += off * off;
  }
  if (side.count > 1) side.stddev_ns = std::llround(std::sqrt(squares / (n - 1)));
  for (int c = 0; c < kCategoryCount; ++c) {
    if (is_device(static_cast<Category>(c))) side.device_ns += side.mean.ns[c];
  }
  return side;
}

// Calls of one name on both sides; times are whole durations.
struct CallPair {
  std::int64_t calls_a = 0, ns_a = 0, calls_b = 0, ns_b = 0;
};

// By category, then by name: an order that exchanging the sides keeps.
using CallPairs = std::map<std::pair<Category, std::string>, CallPair>;

CallPairs pairs_of(const std::vector<CallSum>& a, const std::vector<CallSum>& b) {
  CallPairs pairs;
  const auto counts = [](const CallSum& s) {
    return s.measure == Measure::kDevice ||
           (s.measure == Measure::kHostSelf && s.category == Category::kRuntime);
  };
  for (const CallSum& s : a) {
    if (!counts(s)) continue;
    CallPair& p = pairs[{s.category, s.name}];
    p.calls_a += s.calls;
    p.ns_a += s.whole_ns;
  }
  for (const CallSum& s : b) {
    if (!counts(s)) continue;
    CallPair& p = pairs[{s.category, s.name}];
    p.calls_b += s.calls;
    p.ns_b += s.whole_ns;
  }
  return pairs;
}

std::optional<PartSplit> split_of(const ComparedPart& part, const CallPairs& pairs,
                                  std::size_t steps_a, std::size_t steps_b) {
  PartSplit split;
  const auto na = static_cast<double>(steps_a), nb = static_cast<double>(steps_b);
  double by_calls = 0;
  std::int64_t sum_a = 0, sum_b = 0;
  bool any = false;
  for (const auto& [key, p] : pairs) {
    if (key.first != part.category) continue;
    any = true;
    const double calls_a = static_cast<double>(p.calls_a) / na;
    const double calls_b = static_cast<double>(p.calls_b) / nb;
    const double each_a =
        p.calls_a == 0 ? 0 : static_cast<double>(p.ns_a) / static_cast<double>(p.calls_a);
    const double each_b =
        p.calls_b == 0 ? 0 : static_cast<double>(p.ns_b) / static_cast<double>(p.calls_b);
    // A name that one side lacks is a matter of calls alone.
    const double each = p.calls_a == 0 ? each_b : p.calls_b == 0 ? each_a : (each_a + each_b) / 2;
    by_calls += (calls_b - calls_a) * each;
    split.calls_a += calls_a;
    split.calls_b += calls_b;
    sum_a += p.ns_a;
    sum_b += p.ns_b;
  }
  if (!any) return std::nullopt;
  const std::int64_t delta = per_step(sum_b, steps_b) - per_step(sum_a, steps_a);
  split.calls_ns = std::llround(by_calls);
  split.per_call_ns = delta - split.calls_ns;
  split.overlap_ns = part.delta_ns() - delta;
  return split;
}

void add_parts(const CallPairs& pairs, Comparison& c) {
  for (int i = 0; i < kCategoryCount; ++i) {
    ComparedPart part;
    part.category = static_cast<Category>(i);
    part.a_ns = c.a.mean.ns[i];
    part.b_ns = c.b.mean.ns[i];
    part.split = split_of(part, pairs, c.a.count, c.b.count);
    c.parts.push_back(part);
  }
  std::stable_sort(c.parts.begin(), c.parts.end(),
                   [](const ComparedPart& x, const ComparedPart& y) {
                     return std::abs(x.delta_ns()) > std::abs(y.delta_ns());
                   });
}

CompareVerdict verdict_of(const Comparison& c) {
  // Sums, not rounded means: equal means of different samples are no difference either way.
  if (c.delta_ns() == 0 && c.significance.p >= 1) return CompareVerdict::kEqual;
  if (c.significance.method == Significance::Method::kNone) return CompareVerdict::kUntested;
  if (!c.significance.significant) return CompareVerdict::kChance;
  return c.delta_ns() > 0 ? CompareVerdict::kSlower : CompareVerdict::kFaster;
}

std::string device_names(const Trace& trace) {
  std::string names;
  for (const DeviceActivity& d : find_devices(trace)) {
    const std::string name = d.name.empty() ? d.type : d.name;
    if (names.find(name) != std::string::npos) continue;
    names += (names.empty() ? "" : ", ") + name;
  }
  return names;
}

void add_side_notes(const char* side, const CompareInput& in, std::vector<std::string>& notes) {
  const std::string who(side);
  const std::vector<Step>& steps = in.selection.steps();
  if (steps.empty()) {
    notes.push_back(who + " has no usable slice: there is nothing to compare.");
    return;
  }
  bool cut = false;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    cut = cut || (in.selection.selected(i) && steps[i].incomplete);
  }
  if (steps[0].synthetic) {
    notes.push_back(who +
                    " has no steps: its whole recording stands for one. Call prof.step() "
                    "once an iteration to record them.");
  }
  if (cut) notes.push_back("The last step of " + who + " is cut by the end of its recording.");
  if (!cut && in.trace.report().count("incomplete") > 0) {
    notes.push_back("The file of " + who + " is cut: what it lost may be part of the difference.");
  }
  if (in.trace.report().count("dropped_by_recorder") > 0) {
    notes.push_back("The recorder of " + who + " lost events.");
  }
}

void add_notes(const CompareInput& a, const CompareInput& b, std::vector<std::string>& notes) {
  add_side_notes("A", a, notes);
  add_side_notes("B", b, notes);
  if (a.selection.steps().empty() || b.selection.steps().empty()) return;
  const std::string devices_a = device_names(a.trace), devices_b = device_names(b.trace);
  if (devices_a == devices_b) return;
  if (devices_a.empty() || devices_b.empty()) {
    const bool a_lacks = devices_a.empty();
    notes.push_back(std::string(a_lacks ? "A" : "B") + " has no device work, " +
                    (a_lacks ? "B" : "A") + " ran on " + (a_lacks ? devices_b : devices_a) +
                    ": its kernels have nothing to be compared with.");
    return;
  }
  notes.push_back("A ran on " + devices_a + ", B on " + devices_b + ": the devices differ.");
}

}  // namespace

Breakdown mean_breakdown(const Breakdown& sums, std::int64_t n) {
  Breakdown mean;
  std::int64_t left = per_step(sums.total(), static_cast<std::size_t>(n));
  int order[kCategoryCount];
  std::iota(std::begin(order), std::end(order), 0);
  for (int c = 0; c < kCategoryCount; ++c) left -= mean.ns[c] = sums.ns[c] / n;
  std::stable_sort(std::begin(order), std::end(order),
                   [&](int x, int y) { return sums.ns[x] % n > sums.ns[y] % n; });
  for (int i = 0; i < left; ++i) ++mean.ns[order[i % kCategoryCount]];
  return mean;
}

Comparison compare(const CompareInput& a, const CompareInput& b) {
  Comparison c;
  add_notes(a, b, c.notes);
  c.a = side_of(a);
  c.b = side_of(b);
  if (c.a.count == 0 || c.b.count == 0) return c;
  c.significance = find_significance(c.a.lengths, c.b.lengths);
  c.verdict = verdict_of(c);
  if (c.a.mean_ns > 0) {
    c.delta_pct = 100.0 * static_cast<double>(c.delta_ns()) / static_cast<double>(c.a.mean_ns);
  }
  const auto larger = static_cast<double>(std::max(c.a.device_ns, c.b.device_ns));
  c.device_changed =
      std::abs(static_cast<double>(c.b.device_ns - c.a.device_ns)) > kDeviceChange * larger;
  const DeviceTimes times_a(a.trace), times_b(b.trace);
  const std::vector<CallSum> sums_a = find_call_sums(a.trace, times_a, a.selection);
  const std::vector<CallSum> sums_b = find_call_sums(b.trace, times_b, b.selection);
  add_parts(pairs_of(sums_a, sums_b), c);
  c.rows = compare_rows(sums_a, c.a.count, sums_b, c.b.count);
  NameTable names;
  CallTree tree_a = make_call_tree(a.trace, times_a, a.selection, names);
  CallTree tree_b = make_call_tree(b.trace, times_b, b.selection, names);
  pair_threads(tree_a, tree_b);
  c.blocks = compare_blocks(tree_a, tree_b, kMostBlocks);
  return c;
}

}  // namespace traceglass
