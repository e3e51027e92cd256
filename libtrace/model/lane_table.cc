#include "libtrace/model/lane_table.h"

#include <algorithm>
#include <utility>

namespace libtrace {

LaneId LaneTable::lane(Domain domain, StringId pid, StringId tid) {
  const auto i = static_cast<std::size_t>(domain);
  const std::uint64_t key = lane_key(pid, tid);
  if (key == last_key_[i]) return last_[i];
  const auto [it, fresh] = ids_[i].try_emplace(key, static_cast<LaneId>(d_.lanes.size()));
  if (fresh) {
    Lane added;
    added.domain = domain;
    added.pid = strings_.view(pid);
    added.tid = strings_.view(tid);
    d_.lanes.push_back(std::move(added));
  }
  last_key_[i] = key;
  return last_[i] = it->second;
}

LaneId LaneTable::find(StringId pid, StringId tid) const {
  for (const auto& ids : ids_) {
    if (const auto it = ids.find(lane_key(pid, tid)); it != ids.end()) return it->second;
  }
  return kNone;
}

void LaneTable::name_thread(StringId pid, StringId tid, std::string_view name) {
  ThreadNames& names = threads_[lane_key(pid, tid)];
  const bool device = name.starts_with("stream") || name.starts_with("Device");
  (device ? names.device_name : names.name) = name;
}

void LaneTable::sort_thread(StringId pid, StringId tid, std::int64_t index) {
  threads_[lane_key(pid, tid)].sort = index;
}

// The pid with most host slices, but 0; "" without one.
std::string LaneTable::main_process() const {
  std::unordered_map<std::string_view, std::size_t> weight;
  for (std::size_t e = 0; e < d_.lane.size(); ++e) {
    const Lane& l = d_.lanes[d_.lane[e]];
    if (l.domain == Domain::kHost && l.pid != "0" && d_.kind[e] != Kind::kSpan) ++weight[l.pid];
  }
  if (weight.empty()) return {};
  const auto heaviest = std::max_element(weight.begin(), weight.end(), [](auto& a, auto& b) {
    return a.second != b.second ? a.second < b.second : a.first > b.first;
  });
  return std::string(heaviest->first);
}

void LaneTable::adopt_orphans() {
  const auto host_lane = [&](std::string_view pid) {
    return std::find_if(d_.lanes.begin(), d_.lanes.end(), [&](const Lane& l) {
      return l.domain == Domain::kHost && l.pid == pid && l.tid == "0";
    });
  };
  const auto orphan = host_lane("0");
  if (orphan == d_.lanes.end()) return;
  const std::string main = main_process();
  if (main.empty()) return;
  if (const auto home = host_lane(main); home != d_.lanes.end()) {
    std::replace(d_.lane.begin(), d_.lane.end(), static_cast<LaneId>(orphan - d_.lanes.begin()),
                 static_cast<LaneId>(home - d_.lanes.begin()));
  } else {
    orphan->pid = main;
  }
}

void LaneTable::apply_names() {
  for (const Domain domain : {Domain::kHost, Domain::kDevice}) {
    for (const auto& [key, id] : ids_[static_cast<std::size_t>(domain)]) {
      Lane& l = d_.lanes[id];
      const auto process = processes_.find(strings_.intern(l.pid));  // its own or adopted
      if (process != processes_.end()) {
        l.process = process->second.name;
        l.labels = process->second.labels;
        l.process_sort = process->second.sort;
      }
      const auto thread = threads_.find(key);
      if (thread == threads_.end()) continue;
      const ThreadNames& names = thread->second;
      const bool device = domain == Domain::kDevice;
      const std::string& own = device ? names.device_name : names.name;
      l.thread = !own.empty() ? own : device ? names.name : names.device_name;
      l.thread_sort = names.sort;
    }
  }
}

}  // namespace libtrace
