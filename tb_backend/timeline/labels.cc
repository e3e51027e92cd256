#include "tb_backend/timeline/labels.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <string_view>
#include <tuple>

#include "libtrace/model/device.h"
#include "libtrace/model/whole_number.h"

namespace traceglass {
namespace {

using libtrace::Domain;
using libtrace::Lane;
using libtrace::LaneId;
using libtrace::Trace;
using libtrace::whole_number;
using std::string;
using std::string_view;

// Kineto sorts GPUs at 5000000 + n and processes by pid, which stays below: a device lane without
// a sort index of its own stands there too, before the profiler's own rows (0x1000000 and up).
constexpr std::int64_t kDeviceSort = 5'000'000;

string_view trimmed(string_view text) {
  const auto first = text.find_first_not_of(' ');
  if (first == string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::int64_t number_or_last(string_view text) {
  return whole_number(text).value_or(std::numeric_limits<std::int64_t>::max());
}

bool is_device_label(string_view text) {
  return text.starts_with("GPU") || text.starts_with("MTIA") || text.starts_with("XPU") ||
         text.starts_with("HPU");
}

std::int64_t section_sort(const Lane& lane) {
  if (lane.process_sort != 0) return lane.process_sort;
  return lane.domain == Domain::kDevice ? kDeviceSort : 0;
}

string capitalized(string_view text) {
  string out(text);
  if (!out.empty() && out[0] >= 'a' && out[0] <= 'z') {
    out[0] = static_cast<char>(out[0] - 'a' + 'A');
  }
  return out;
}

// "thread 5555 (pt_autograd_0)" → "pt_autograd_0": Kineto's way to name a thread.
string_view inner_name(string_view name) {
  const auto open = name.find('(');
  if (!name.starts_with("thread ") || open == string_view::npos || !name.ends_with(')')) {
    return name;
  }
  return trimmed(name.substr(open + 1, name.size() - open - 2));
}

bool is_main(const Lane& lane) {
  return lane.tid == lane.pid || inner_name(trimmed(lane.thread)) == "pt_main_thread";
}

// Backward operators say which thread ran their forward. A few are enough to look at.
bool is_autograd(const Trace& trace, const Lane& lane) {
  constexpr libtrace::EventId kLook = 256;
  for (libtrace::EventId e = lane.first; e < std::min(lane.last, lane.first + kLook); ++e) {
    if (trace.kind(e) != libtrace::Kind::kOp) continue;
    if (trace.name(e).starts_with("autograd::engine::")) return true;
    if (trace.int_arg(e, "Fwd thread id").value_or(0) > 0) return true;
  }
  return false;
}

string host_track(const Trace& trace, const Lane& lane) {
  if (is_main(lane)) return "Main thread";
  const string_view name = inner_name(trimmed(lane.thread));
  constexpr string_view kAutograd = "pt_autograd_";
  if (name.starts_with(kAutograd))
    return "Autograd thread " + string(name.substr(kAutograd.size()));
  if (is_autograd(trace, lane)) return "Autograd thread";
  // Every thread of a Python program is called after the program until something names it.
  const bool says_nothing = name.empty() || name.starts_with("python") || name == lane.process;
  return says_nothing ? "Thread" : string(name);
}

string device_track(const Lane& lane) {
  string_view name = trimmed(lane.thread);
  constexpr string_view kContext = " context";  // named by an annotation that came first
  if (name.ends_with(kContext)) name = trimmed(name.substr(0, name.size() - kContext.size()));
  if (name.empty() && !whole_number(lane.tid)) name = lane.tid;  // "stream 7", before 1.10
  return name.empty() ? "Stream " + lane.tid : capitalized(name);
}

}  // namespace

std::vector<LaneId> lanes_in_order(const Trace& trace) {
  const auto lanes = trace.lanes();
  std::vector<LaneId> order;
  std::vector<std::tuple<std::int64_t, bool, std::int64_t, string, std::int64_t, std::int64_t>> key(
      lanes.size());
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const Lane& lane = lanes[i];
    if (lane.first == lane.last) continue;
    const bool device = lane.domain == Domain::kDevice;
    const string section = device ? device_id(trace, lane) : lane.pid;
    key[i] = {section_sort(lane),      device, number_or_last(section), section, lane.thread_sort,
              number_or_last(lane.tid)};
    order.push_back(static_cast<LaneId>(i));
  }
  std::stable_sort(order.begin(), order.end(), [&](LaneId a, LaneId b) {
    return std::tie(key[a], lanes[a].tid) < std::tie(key[b], lanes[b].tid);
  });
  return order;
}

string device_id(const Trace& trace, const Lane& lane) {
  // Work rows carry `device` where any row does; a few are enough to find one.
  constexpr libtrace::EventId kLook = 64;
  const libtrace::EventId last = std::min(lane.last, lane.first + kLook);
  for (libtrace::EventId e = lane.first; e < last; ++e) {
    if (!libtrace::is_device_work(trace.kind(e))) continue;
    if (const auto id = libtrace::device_id(trace, e)) return std::to_string(*id);
  }
  if (const auto id = libtrace::device_id(trace, lane.first)) return std::to_string(*id);
  return lane.pid;
}

string section_id(const Trace& trace, const Lane& lane) {
  return lane.domain == Domain::kDevice ? "device:" + device_id(trace, lane) : "host:" + lane.pid;
}

string section_label(const Trace& trace, const Lane& lane) {
  if (lane.domain == Domain::kHost) {
    const string name(trimmed(lane.process));
    if (!whole_number(lane.pid)) return name.empty() || name == lane.pid ? lane.pid : name;
    return (name.empty() ? "process" : name) + ' ' + lane.pid;
  }
  const string id = device_id(trace, lane);
  string label = is_device_label(lane.labels) ? string(trimmed(lane.labels)) : "GPU " + id;
  for (const libtrace::DeviceProperties& device : trace.devices()) {
    if (std::to_string(device.id) == id && !device.name.empty()) label += " · " + device.name;
  }
  return label;
}

string track_label(const Trace& trace, const Lane& lane, GroupType type) {
  if (lane.domain == Domain::kDevice) return device_track(lane);
  if (type != GroupType::kOther) return host_track(trace, lane);
  const string_view name = trimmed(lane.thread);
  if (!name.empty()) return capitalized(name);
  // The profiler's own rows have no thread: what they hold is their name.
  return string(lane.tid.empty() || !whole_number(lane.tid) ? string_view(lane.tid)
                                                            : trace.category(lane.first));
}

string track_sublabel(const Lane& lane, GroupType type) {
  switch (type) {
    case GroupType::kHost:
      return lane.tid;
    case GroupType::kPython:
      return "Python";
    case GroupType::kDeviceAnnotation:
      return "annotations";
    case GroupType::kSync:
      return "synchronization";
    case GroupType::kDevice:
    case GroupType::kOther:
      break;
  }
  return "";
}

}  // namespace traceglass
