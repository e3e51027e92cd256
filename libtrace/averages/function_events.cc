#include "libtrace/averages/function_events.h"

#include <algorithm>
#include <array>

#include "libtrace/model/sums.h"

namespace libtrace {
namespace {

bool starts_with(std::string_view text, std::string_view prefix) noexcept {
  return text.substr(0, prefix.size()) == prefix;
}

// Rows of torch that end on another thread than they began on are not marked in a trace: the
// collectives of gloo are known to. Our recorder keeps its own on lanes of their own and says so.
bool is_async(const Trace& trace, EventId e) {
  if (starts_with(trace.name(e), "gloo:")) return true;
  if (!starts_with(trace.lanes()[trace.lane_of(e)].thread, "async ranges ")) return false;
  const auto async = trace.arg(e, "async");
  return async && async->type == Value::Type::kBool && async->i != 0;
}

}  // namespace

FunctionEvents::FunctionEvents(const Trace& trace, bool memory_by_thread)
    : trace_(trace), names_(trace) {
  classify();
  build_tree();
  merge_repeated();
  for (EventId e = 0; e < trace_.size(); ++e) {
    if (parent_[e] == kNone) continue;
    add(children_[parent_[e]], trace_.dur(e));
    children_us_[parent_[e]] += torch_cpu_us(e);
  }
  if (!device_.empty()) add_device_times();
  if (!trace_.memory().empty()) add_memory(memory_by_thread);
}

void FunctionEvents::classify() {
  const std::size_t n = trace_.size();
  what_.assign(n, What::kNo);
  parent_.assign(n, kNone);
  name_.assign(n, 0);
  children_.assign(n, 0);
  children_us_.assign(n, 0);
  zero_ = trace_.range().start;
  EventId first_device = kNone;
  for (EventId e = 0; e < n; ++e) {
    if (trace_.suspect(e)) continue;
    const Kind kind = trace_.kind(e);
    if (kind == Kind::kSpan && starts_with(trace_.name(e), "PyTorch Profiler")) {
      zero_ = trace_.start(e);
    }
    const bool host = is_host_tree(kind) || kind == Kind::kOverhead;
    if (!host && kind != Kind::kPython && !is_on_device(kind)) continue;
    name_[e] = names_.key(trace_.name_id(e), kind == Kind::kOp);
    if (names_.skipped(name_[e])) continue;
    if (is_on_device(kind)) {
      what_[e] = What::kDevice;
      if (first_device == kNone) first_device = e;
    } else if (kind == Kind::kPython) {
      what_[e] = What::kPython;
    } else {
      what_[e] = is_async(trace_, e) ? What::kAsync : What::kHost;
    }
  }
  if (first_device == kNone) return;
  device_ = "cuda";
  if (starts_with(trace_.category(first_device), "mtia_")) device_ = "mtia";
  for (EventId e = 0; e < n && device_ == "cuda"; ++e) {
    if (starts_with(trace_.category(e), "xpu_")) device_ = "xpu";
  }
}

void FunctionEvents::build_tree() {
  std::vector<EventId> open;
  for (const Lane& lane : trace_.lanes()) {
    open.clear();
    for (EventId e = lane.first; e < lane.last; ++e) {
      if (what_[e] != What::kHost && what_[e] != What::kPython) continue;
      while (!open.empty() && (trace_.start(e) >= trace_.end(open.back()) ||
                               trace_.end(e) > trace_.end(open.back()))) {
        open.pop_back();
      }
      if (!open.empty()) parent_[e] = open.back();
      open.push_back(e);
    }
  }
}

// Parents come before their children, so one pass settles chains.
void FunctionEvents::merge_repeated() {
  const std::size_t n = trace_.size();
  std::vector<std::uint32_t> children(n, 0);
  for (EventId e = 0; e < n; ++e) {
    if (parent_[e] != kNone) ++children[parent_[e]];
  }
  std::vector<EventId> merged_into(n, kNone);
  for (EventId e = 0; e < n; ++e) {
    EventId p = parent_[e];
    if (p == kNone) continue;
    if (merged_into[p] != kNone) p = parent_[e] = merged_into[p];
    if (name_[e] != name_[p] || children[p] != 1) continue;
    children[p] = children[e];
    merged_into[e] = p;
    what_[e] = What::kNo;
  }
  for (EventId e = 0; e < n; ++e) {
    if (merged_into[e] != kNone) parent_[e] = kNone;
  }
  if (device_.empty()) return;
  // Device work is its op's, whichever of the merged rows launched it; see add_device_times.
  device_own_.assign(n, 0);
  for (EventId e = 0; e < n; ++e) {
    if (what_[e] != What::kDevice || !is_device_work(trace_.kind(e))) continue;
    EventId owner = trace_.owner(e);
    if (owner == kNone) owner = trace_.anchor(e);  // a range of the user, in no op
    if (owner == kNone) continue;
    if (merged_into[owner] != kNone) owner = merged_into[owner];
    const bool in_tree = what_[owner] == What::kHost || what_[owner] == What::kPython;
    if (in_tree) add(device_own_[owner], trace_.dur(e));
  }
}

void FunctionEvents::add_device_times() {
  device_total_ = device_own_;
  for (EventId e = static_cast<EventId>(trace_.size()); e-- > 0;) {
    if (parent_[e] != kNone) add(device_total_[parent_[e]], device_total_[e]);
  }
}

std::int64_t FunctionEvents::host_bytes(const MemoryEvent& m) noexcept {
  const bool host = m.device_type == 0 || m.device_type == 2 || m.device_type == 5;  // CPU, MKLDNN,
  return host ? m.bytes : 0;                                                         // IDEEP
}
std::int64_t FunctionEvents::device_bytes(const MemoryEvent& m) noexcept {
  constexpr std::array<std::int32_t, 4> kTypes = {1, 6, 12, 20};  // CUDA, HIP, XPU, PrivateUse1
  const bool device = std::find(kTypes.begin(), kTypes.end(), m.device_type) != kTypes.end();
  return device ? m.bytes : 0;
}

// By time, both ends included.
void FunctionEvents::add_memory(bool by_thread) {
  const auto& all = trace_.memory();
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    if (!all[i].out_of_memory) order.push_back(i);
  }
  const auto earlier = [&](std::uint32_t a, std::uint32_t b) { return all[a].at < all[b].at; };
  std::stable_sort(order.begin(), order.end(), earlier);
  if (by_thread) {
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return all[a].lane < all[b].lane; });
  }
  std::vector<Bytes> sums(order.size() + 1);
  std::vector<std::int64_t> at(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const MemoryEvent& m = all[order[i]];
    at[i] = m.at;
    sums[i + 1] = {plus(sums[i].host, host_bytes(m)), plus(sums[i].device, device_bytes(m))};
  }

  const std::size_t n = trace_.size();
  memory_.assign(n, {});
  children_memory_.assign(n, {});
  std::vector<std::int32_t> cover(order.size() + 1);
  auto own_begin = at.begin(), own_end = at.end();  // the rows that count for the lane
  for (LaneId id = 0; id < trace_.lanes().size(); ++id) {
    const Lane& lane = trace_.lanes()[id];
    if (by_thread) {
      const auto index = [&](auto it) { return order[static_cast<std::size_t>(it - at.begin())]; };
      own_begin = id == 0 ? at.begin() : own_end;
      own_end = own_begin;
      while (own_end != at.end() && all[index(own_end)].lane == id) ++own_end;
    }
    auto from = own_begin;
    for (EventId e = lane.first; e < lane.last; ++e) {
      if (what_[e] == What::kNo || what_[e] == What::kDevice) continue;
      from = std::lower_bound(from, own_end, trace_.start(e));
      const auto to = std::upper_bound(from, own_end, trace_.end(e));
      if (from == to) continue;
      const auto first = static_cast<std::size_t>(from - at.begin());
      const auto last = static_cast<std::size_t>(to - at.begin());
      memory_[e] = {minus(sums[last].host, sums[first].host),
                    minus(sums[last].device, sums[first].device)};
      ++cover[first];
      --cover[last];
    }
  }
  for (EventId e = 0; e < n; ++e) {
    if (parent_[e] == kNone) continue;
    Bytes& sum = children_memory_[parent_[e]];
    sum = {plus(sum.host, memory_[e].host), plus(sum.device, memory_[e].device)};
  }

  std::int64_t covered = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    covered += cover[i];
    if (covered == 0) loose_memory_.push_back(order[i]);
  }
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    if (all[i].out_of_memory) loose_memory_.push_back(i);
  }
  std::stable_sort(loose_memory_.begin(), loose_memory_.end(), earlier);
}

FunctionEvents::Figures FunctionEvents::figures(EventId e) const noexcept {
  Figures f;
  switch (what_[e]) {
    case What::kNo:
      return f;
    case What::kDevice:
      f.device = f.self_device = trace_.dur(e);
      return f;
    case What::kAsync:
      f.cpu = trace_.dur(e);
      if (!memory_.empty()) f.memory = memory_[e].host, f.device_memory = memory_[e].device;
      return f;
    case What::kHost:
    case What::kPython:
      break;
  }
  f.cpu = trace_.dur(e);
  f.self_cpu = minus(f.cpu, children_[e]);
  if (!device_total_.empty()) f.device = device_total_[e], f.self_device = device_own_[e];
  if (!memory_.empty()) {
    f.memory = memory_[e].host;
    f.device_memory = memory_[e].device;
    f.self_memory = minus(f.memory, children_memory_[e].host);
    f.self_device_memory = minus(f.device_memory, children_memory_[e].device);
  }
  return f;
}

double FunctionEvents::torch_cpu_us(EventId e) const noexcept {
  const auto us = [this](std::int64_t at) { return static_cast<double>(at - zero_) / 1000; };
  return us(trace_.end(e)) - us(trace_.start(e));
}

double FunctionEvents::torch_self_cpu_us(EventId e) const noexcept {
  return what_[e] == What::kAsync ? 0 : torch_cpu_us(e) - children_us_[e];
}

// Lanes are sorted: merged two by two.
std::vector<EventId> FunctionEvents::in_order() const {
  std::vector<EventId> order;
  std::vector<std::ptrdiff_t> bounds = {0};
  for (const Lane& lane : trace_.lanes()) {
    for (EventId e = lane.first; e < lane.last; ++e) {
      if (what_[e] != What::kNo) order.push_back(e);
    }
    const auto end = static_cast<std::ptrdiff_t>(order.size());
    if (end != bounds.back()) bounds.push_back(end);
  }
  const auto less = [this](EventId a, EventId b) { return before(a, b); };
  while (bounds.size() > 2) {
    std::vector<std::ptrdiff_t> merged = {0};
    for (std::size_t i = 2; i < bounds.size(); i += 2) {
      std::inplace_merge(order.begin() + bounds[i - 2], order.begin() + bounds[i - 1],
                         order.begin() + bounds[i], less);
      merged.push_back(bounds[i]);
    }
    if (merged.back() != bounds.back()) merged.push_back(bounds.back());
    bounds = std::move(merged);
  }
  return order;
}

bool FunctionEvents::before(EventId a, EventId b) const noexcept {
  if (trace_.start(a) != trace_.start(b)) return trace_.start(a) < trace_.start(b);
  if (trace_.end(a) != trace_.end(b)) return trace_.end(a) > trace_.end(b);
  return trace_.order(a) < trace_.order(b);
}

}  // namespace libtrace
