#include "tb_backend/analysis/call_tree.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "tb_backend/analysis/chosen_steps.h"

namespace traceglass {

using libtrace::EventId;
using libtrace::kNone;
using libtrace::Lane;
using libtrace::Trace;

namespace {

// Which call of its name a call is, among those of one parent. Calls come in the order of their
// start: of each name only the parents that may still have calls are kept, outermost first.
class Occurrences {
 public:
  // `depth` is that of the parent.
  std::uint32_t next(std::uint32_t name, std::uint64_t parent, std::uint32_t depth) {
    if (name >= open_.size()) open_.resize(name + std::size_t{1});
    std::vector<Entry>& open = open_[name];
    while (!open.empty() && open.back().parent != parent && open.back().depth >= depth) {
      open.pop_back();
    }
    if (open.empty() || open.back().parent != parent) open.push_back({parent, depth, 0});
    return open.back().count++;
  }

 private:
  struct Entry {
    std::uint64_t parent = 0;
    std::uint32_t depth = 0, count = 0;
  };
  std::vector<std::vector<Entry>> open_;  // by name
};

// An open hash table of nodes, by parent, occurrence and name.
class NodeTable {
 public:
  NodeTable() : slots_(1024) {}
  std::uint32_t& at(std::uint64_t high, std::uint32_t low, std::uint32_t otherwise) {
    if (2 * used_ >= slots_.size()) grow();
    Slot& slot = find(high, low);
    if (!slot.taken) {
      slot = {high, low, otherwise, true};
      ++used_;
    }
    return slot.value;
  }

 private:
  struct Slot {
    std::uint64_t high = 0;
    std::uint32_t low = 0, value = 0;
    bool taken = false;
  };
  Slot& find(std::uint64_t high, std::uint32_t low) {
    std::uint64_t h = (high * 0x9E3779B97F4A7C15ULL) ^ (low * 0xC2B2AE3D27D4EB4FULL);
    h = (h ^ (h >> 29U)) * 0xBF58476D1CE4E5B9ULL;
    std::size_t at = (h ^ (h >> 32U)) & (slots_.size() - 1);
    while (slots_[at].taken && (slots_[at].high != high || slots_[at].low != low)) {
      at = (at + 1) & (slots_.size() - 1);
    }
    return slots_[at];
  }
  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& s : old) {
      if (s.taken) find(s.high, s.low) = s;
    }
  }
  std::vector<Slot> slots_;
  std::size_t used_ = 0;
};

class Maker {
 public:
  Maker(const Trace& trace, const DeviceTimes& times, const Selection& selection, NameTable& names)
      : trace_(trace),
        times_(times),
        steps_(selection),
        names_(names),
        node_of_(trace.size(), kUnmatched),
        number_of_(trace.string_count(), kUnmatched) {
    out_.steps = selection.count();
    step_count_ = selection.steps().size();
    add_node(kNone, kNone, 0, "");
  }

  CallTree make() {
    for (std::size_t lane = 0; lane < trace_.lanes().size(); ++lane) {
      add_lane(trace_.lanes()[lane], lane);
    }
    sum_threads();
    order_children();
    return std::move(out_);
  }

 private:
  std::uint32_t add_node(std::uint32_t parent, EventId first, std::uint32_t number,
                         std::string_view name) {
    out_.tree.parent.push_back(parent);
    out_.tree.name.push_back(number);
    out_.name.push_back(name);
    out_.host_ns.push_back(0);
    out_.host_self_ns.push_back(0);
    out_.device_self_ns.push_back(0);
    out_.first.push_back(first);
    out_.occurrence.push_back(0);
    place_.push_back({});
    has_step_.push_back(false);
    depth_.push_back(parent == kNone ? 0 : depth_[parent] + 1);
    return static_cast<std::uint32_t>(out_.name.size() - 1);
  }

  std::uint32_t number(EventId e) {
    std::uint32_t& n = number_of_[trace_.name_id(e)];
    if (n == kUnmatched) n = names_.number(trace_.name(e));
    return n;
  }

  void add_lane(const Lane& lane, std::size_t lane_number) {
    std::uint32_t thread = kUnmatched;
    for (EventId e = lane.first; e < lane.last; ++e) {
      if (!libtrace::is_host_tree(trace_.kind(e)) || trace_.suspect(e)) continue;
      const std::size_t step = steps_.of(trace_, e);
      if (step == ChosenSteps::kOutside) continue;
      if (thread == kUnmatched) {
        thread = add_node(0, kNone, 0, "");
        out_.threads.push_back(thread);
      }
      const EventId p = trace_.parent(e);
      // Which call of the parent this is one of: its event, or this lane in this step.
      std::uint64_t call = trace_.size() + lane_number * step_count_ + step;
      std::uint32_t parent = thread;
      if (p != kNone && node_of_[p] != kUnmatched) {
        parent = node_of_[p];  // of a step: its thread
        if (parent != thread) call = p;
      }
      if ((trace_.flags(e) & libtrace::flag::kStep) != 0) {
        node_of_[e] = thread;
        has_step_[thread] = true;
        out_.host_self_ns[thread] += trace_.self(e);
        out_.device_self_ns[thread] += times_.self[e];
        continue;
      }
      add_call(e, parent, call, step);
    }
  }

  void add_call(EventId e, std::uint32_t parent, std::uint64_t call, std::size_t step) {
    const std::uint32_t name = number(e);
    const std::uint32_t occurrence = seen_.next(name, call, depth_[parent]);
    const std::uint32_t fresh = static_cast<std::uint32_t>(out_.name.size());
    const std::uint64_t place = std::uint64_t{parent} << 32U | occurrence;
    const std::uint32_t node = nodes_.at(place, name, fresh);
    if (node == fresh) {
      add_node(parent, e, name, trace_.name(e));
      out_.occurrence[node] = occurrence;
    }
    node_of_[e] = node;
    out_.host_ns[node] += trace_.dur(e);
    out_.host_self_ns[node] += trace_.self(e);
    out_.device_self_ns[node] += times_.self[e];
    place_[node].sum += static_cast<double>(trace_.start(e) - steps_.start(step));
    ++place_[node].count;
  }

  // The busiest first.
  void sum_threads() {
    for (const std::uint32_t t : out_.threads) out_.host_ns[t] = out_.host_self_ns[t];
    for (std::uint32_t n = 1; n < out_.name.size(); ++n) {
      const std::uint32_t p = out_.tree.parent[n];
      if (p != 0 && p != kNone && out_.tree.parent[p] == 0) out_.host_ns[p] += out_.host_ns[n];
    }
    for (const std::uint32_t t : out_.threads) {
      out_.host_ns[0] += out_.host_ns[t];
      place_[t] = {-static_cast<double>(out_.host_ns[t]), 1};
    }
    std::stable_sort(out_.threads.begin(), out_.threads.end(),
                     [&](std::uint32_t x, std::uint32_t y) {
                       if (has_step_[x] != has_step_[y]) return static_cast<bool>(has_step_[x]);
                       return out_.host_ns[x] > out_.host_ns[y];
                     });
    for (const std::uint32_t t : out_.threads) out_.step_threads += has_step_[t] ? 1 : 0;
  }

  // By their mean start within the step.
  void order_children() {
    Tree& t = out_.tree;
    t.first_child.assign(t.size() + 1, 0);
    for (std::uint32_t n = 1; n < t.size(); ++n) ++t.first_child[t.parent[n] + 1];
    std::partial_sum(t.first_child.begin(), t.first_child.end(), t.first_child.begin());
    t.children.resize(t.size() - 1);
    std::vector<std::uint32_t> next(t.first_child.begin(), t.first_child.end() - 1);
    for (std::uint32_t n = 1; n < t.size(); ++n) t.children[next[t.parent[n]]++] = n;
    const auto mean = [&](std::uint32_t n) {
      return place_[n].sum / static_cast<double>(place_[n].count);
    };
    for (std::uint32_t n = 0; n < t.size(); ++n) {
      std::stable_sort(t.children.begin() + t.first_child[n],
                       t.children.begin() + t.first_child[n + 1],
                       [&](std::uint32_t x, std::uint32_t y) { return mean(x) < mean(y); });
    }
  }

  struct Place {
    double sum = 0;
    std::uint32_t count = 0;
  };

  const Trace& trace_;
  const DeviceTimes& times_;
  ChosenSteps steps_;
  NameTable& names_;
  std::vector<std::uint32_t> node_of_;
  std::vector<std::uint32_t> number_of_;
  std::size_t step_count_ = 0;
  Occurrences seen_;
  NodeTable nodes_;
  std::vector<std::uint32_t> depth_;  // by node
  std::vector<bool> has_step_;        // by node
  std::vector<Place> place_;
  CallTree out_;
};

}  // namespace

std::uint32_t NameTable::number(std::string_view name) {
  // 0 is a node without a name.
  return numbers_.try_emplace(name, static_cast<std::uint32_t>(numbers_.size() + 1)).first->second;
}

CallTree make_call_tree(const Trace& trace, const DeviceTimes& times, const Selection& selection,
                        NameTable& names) {
  return Maker(trace, times, selection, names).make();
}

namespace {

// The time of a thread's outermost calls by name.
using Profile = std::map<std::uint32_t, std::int64_t>;

Profile profile_of(const CallTree& t, std::uint32_t thread) {
  Profile profile;
  for (std::uint32_t c = t.tree.first_child[thread]; c < t.tree.first_child[thread + 1]; ++c) {
    const std::uint32_t n = t.tree.children[c];
    profile[t.tree.name[n]] += t.host_ns[n];
  }
  return profile;
}

std::int64_t shared(const Profile& x, const Profile& y) {
  std::int64_t sum = 0;
  for (const auto& [name, ns] : x) {
    if (const auto it = y.find(name); it != y.end()) sum += std::min(ns, it->second) + 1;
  }
  return sum;
}

}  // namespace

void pair_threads(CallTree& a, CallTree& b) {
  constexpr std::uint32_t kFirst = 0x8000'0000;  // no name has such a number
  constexpr std::size_t kMost = 64;              // threads that are looked at one by one
  std::uint32_t next = kFirst;
  std::size_t steps = std::min(a.step_threads, b.step_threads);
  for (std::size_t i = 0; i < steps; ++i) {
    a.tree.name[a.threads[i]] = b.tree.name[b.threads[i]] = next++;
  }
  std::vector<std::pair<std::uint32_t, Profile>> rest;
  for (std::size_t i = steps; i < b.threads.size(); ++i) {
    b.tree.name[b.threads[i]] = next++;
    if (rest.size() < kMost) rest.emplace_back(b.threads[i], profile_of(b, b.threads[i]));
  }
  for (std::size_t i = steps; i < a.threads.size(); ++i) {
    a.tree.name[a.threads[i]] = next++;
    if (i - steps >= kMost) continue;
    const Profile mine = profile_of(a, a.threads[i]);
    auto best = rest.end();
    std::int64_t most = 0;
    for (auto other = rest.begin(); other != rest.end(); ++other) {
      const std::int64_t both = shared(mine, other->second);
      if (both <= most) continue;
      most = both;
      best = other;
    }
    if (best == rest.end()) continue;
    a.tree.name[a.threads[i]] = b.tree.name[best->first];
    rest.erase(best);
  }
}

std::vector<std::string_view> ancestors(const CallTree& tree, std::uint32_t node,
                                        std::size_t most) {
  std::vector<std::string_view> names;
  for (std::uint32_t n = tree.tree.parent[node]; n != kNone && names.size() < most;
       n = tree.tree.parent[n]) {
    if (!tree.name[n].empty()) names.push_back(tree.name[n]);
  }
  std::reverse(names.begin(), names.end());
  return names;
}

}  // namespace traceglass
