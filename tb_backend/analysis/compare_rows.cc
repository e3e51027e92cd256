#include "tb_backend/analysis/compare_rows.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_map>

#include "tb_backend/analysis/chosen_steps.h"
#include "tb_backend/analysis/modules.h"

namespace traceglass {

using libtrace::EventId;
using libtrace::Kind;
using libtrace::kNone;
using libtrace::Trace;

namespace {

constexpr std::size_t kLongestPath = 2000;  // bytes of a module's path
constexpr const char* kStepName = "(in the step, in no operator)";

Category category_of(const Trace& trace, EventId e) {
  const std::uint16_t flags = trace.flags(e);
  switch (trace.kind(e)) {
    case Kind::kKernel:
      return (flags & libtrace::flag::kCommunication) != 0 ? Category::kCommunication
                                                           : Category::kKernel;
    case Kind::kMemcpy:
      return Category::kMemcpy;
    case Kind::kMemset:
      return Category::kMemset;
    case Kind::kRuntime:
      return Category::kRuntime;
    default:
      return (flags & libtrace::flag::kDataLoader) != 0 ? Category::kDataLoader : Category::kCpu;
  }
}

class Sums {
 public:
  explicit Sums(const Trace& trace) : trace_(trace) {}

  void add(Measure measure, Category category, EventId e, std::int64_t ns) {
    const std::uint64_t key = std::uint64_t{trace_.name_id(e)} << 8U |
                              static_cast<std::uint64_t>(measure) << 4U |
                              static_cast<std::uint64_t>(category);
    add(index_, key, trace_.name(e), measure, category, e, ns);
  }
  // Under a name that no slice has.
  void add(const char* name, Measure measure, Category category, EventId e, std::int64_t ns) {
    add(special_, {name, measure}, name, measure, category, e, ns);
  }
  std::vector<CallSum> take() { return std::move(sums_); }

 private:
  template <typename Index>
  void add(Index& index, const typename Index::key_type& key, std::string_view name,
           Measure measure, Category category, EventId e, std::int64_t ns) {
    const auto [it, fresh] = index.try_emplace(key, sums_.size());
    if (fresh) {
      sums_.emplace_back();
      sums_.back().name = name;
      sums_.back().measure = measure;
      sums_.back().category = category;
    }
    CallSum& sum = sums_[it->second];
    ++sum.calls;
    sum.ns += ns;
    sum.whole_ns += trace_.dur(e);
    if (sum.longest == kNone || trace_.dur(e) > trace_.dur(sum.longest)) sum.longest = e;
  }

  const Trace& trace_;
  std::unordered_map<std::uint64_t, std::size_t> index_;
  std::map<std::pair<const char*, Measure>, std::size_t> special_;
  std::vector<CallSum> sums_;
};

void add_device(const Trace& trace, EventId e, Sums& sums) {
  sums.add(Measure::kDevice, category_of(trace, e), e, trace.dur(e));
  if (const EventId owner = trace.owner(e); owner == kNone) {
    const char* name = trace.launch(e) == kNone ? "(no launch)" : "(no operator)";
    sums.add(name, Measure::kDeviceSelf, Category::kKernel, e, trace.dur(e));
  }
}

void add_modules(const Trace& trace, const Selection& selection, std::vector<CallSum>& sums) {
  // Annotations stand in the call tree, among them steps, whose names differ.
  const ModuleSource source = find_module_source(trace);
  if (source == ModuleSource::kNone || source == ModuleSource::kAnnotations) return;
  const Modules modules = find_modules(trace, selection);
  std::unordered_map<std::uint32_t, std::string> paths;  // rows stand depth first
  for (const ModuleRow& row : modules.rows) {
    const auto parent = paths.find(row.parent);
    std::string path = parent == paths.end() ? "" : parent->second + " \xE2\x80\xBA ";
    if (path.size() > kLongestPath) path = "\xE2\x80\xA6 \xE2\x80\xBA ";  // a hostile depth
    path += row.name;
    const ModuleTimes& t = row.times;
    CallSum sum{path,
                Measure::kModuleHost,
                Category::kCpu,
                row.calls,
                t.host_total_ns + t.backward_host_total_ns,
                0,
                row.longest};
    sums.push_back(sum);
    sum.measure = Measure::kModuleDevice;
    sum.ns = t.device_total_ns + t.backward_device_total_ns;
    if (sum.ns > 0) sums.push_back(sum);
    paths[row.id] = std::move(path);
  }
}

}  // namespace

const char* measure_name(Measure measure) {
  static constexpr const char* kNames[] = {"host_self", "device_self", "device", "module_host",
                                           "module_device"};
  return kNames[static_cast<int>(measure)];
}

std::vector<CallSum> find_call_sums(const Trace& trace, const DeviceTimes& times,
                                    const Selection& selection) {
  Sums sums(trace);
  ChosenSteps steps(selection);
  for (EventId e = 0; e < trace.size(); ++e) {
    const Kind kind = trace.kind(e);
    const bool device = libtrace::is_device_work(kind);
    if ((!device && !libtrace::is_host_tree(kind)) || trace.suspect(e)) continue;
    if (steps.of(trace, e) == ChosenSteps::kOutside) continue;
    if (device) {
      add_device(trace, e, sums);
    } else if ((trace.flags(e) & libtrace::flag::kStep) != 0) {
      // Steps have a number in their name: no two are alike.
      sums.add(kStepName, Measure::kHostSelf, Category::kCpu, e, trace.self(e));
    } else {
      sums.add(Measure::kHostSelf, category_of(trace, e), e, trace.self(e));
      if (kind == Kind::kOp && times.self[e] > 0) {
        sums.add(Measure::kDeviceSelf, Category::kCpu, e, times.self[e]);
      }
    }
  }
  std::vector<CallSum> all = sums.take();
  add_modules(trace, selection, all);
  return all;
}

std::int64_t per_step(std::int64_t sum, std::size_t n) {
  const auto d = static_cast<std::int64_t>(n);
  const std::int64_t whole = sum / d, rest = sum % d;
  if (rest >= 0) return whole + (rest >= d - rest ? 1 : 0);
  return whole - (-rest >= d + rest ? 1 : 0);
}

CompareRows compare_rows(const std::vector<CallSum>& a, std::size_t steps_a,
                         const std::vector<CallSum>& b, std::size_t steps_b) {
  CompareRows out;
  std::map<std::tuple<Measure, std::string_view, Category>, std::size_t> index;
  const auto row_of = [&](const CallSum& s) -> CompareRow& {
    const auto [it, fresh] = index.try_emplace({s.measure, s.name, s.category}, out.rows.size());
    if (fresh) {
      CompareRow& row = out.rows.emplace_back();
      row.name = s.name;
      row.measure = s.measure;
      row.category = s.category;
    }
    return out.rows[it->second];
  };
  for (const CallSum& s : a) {
    CompareRow& row = row_of(s);
    row.calls_a += static_cast<double>(s.calls) / static_cast<double>(steps_a);
    row.a_ns += per_step(s.ns, steps_a);
    row.event_a = s.longest;
  }
  for (const CallSum& s : b) {
    CompareRow& row = row_of(s);
    row.calls_b += static_cast<double>(s.calls) / static_cast<double>(steps_b);
    row.b_ns += per_step(s.ns, steps_b);
    row.event_b = s.longest;
  }
  for (CompareRow& row : out.rows) {
    if (row.a_ns > 0) {
      row.delta_pct = 100.0 * static_cast<double>(row.delta_ns()) / static_cast<double>(row.a_ns);
    }
    if (row.measure != Measure::kHostSelf && row.measure != Measure::kDevice) continue;
    out.appeared += row.appeared() ? 1 : 0;
    out.vanished += row.vanished() ? 1 : 0;
  }
  std::sort(out.rows.begin(), out.rows.end(), [](const CompareRow& x, const CompareRow& y) {
    const std::int64_t dx = std::abs(x.delta_ns()), dy = std::abs(y.delta_ns());
    return std::tie(dy, x.measure, x.name, x.category) <
           std::tie(dx, y.measure, y.name, y.category);
  });
  return out;
}

}  // namespace traceglass
