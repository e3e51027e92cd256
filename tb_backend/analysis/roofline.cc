#include "tb_backend/analysis/roofline.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>

#include "tb_backend/analysis/activity.h"
#include "tb_backend/analysis/op_work.h"
#include "tb_backend/analysis/tensor_cores.h"

namespace traceglass {

using libtrace::EventId;
using libtrace::Kind;
using libtrace::kNone;
using libtrace::Trace;

namespace {

// What one operator call had done for it.
struct CallWork {
  std::int64_t ns = 0;
  EventId kernel = kNone;  // the only one, or kNone
  std::int64_t kernels = 0;
  bool tf32 = false;
};

bool within_device(std::string_view copy) {
  return copy.find("DtoD") != std::string_view::npos ||
         copy.find("DeviceToDevice") != std::string_view::npos;
}

// Without the blanks that some writers set.
std::string shapes_of(const Trace& trace, EventId op) {
  auto value = trace.arg(op, "Input Dims");
  if (!value) value = trace.arg(op, "Input dims");
  std::string text(value ? value->text : std::string_view());
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; });
  return text;
}

class Finder {
 public:
  Finder(const Trace& trace, const Selection& selection)
      : trace_(trace), selection_(selection), work_(trace) {}

  Roofline find(RooflineGroup group, std::size_t most) {
    const std::vector<DeviceActivity> devices = find_devices(trace_);
    out_.host_time = devices.empty();
    if (!devices.empty()) {
      const bool same = std::all_of(devices.begin(), devices.end(), [&](const DeviceActivity& d) {
        return d.name == devices[0].name;
      });
      if (same) name_device(devices[0]);
    }
    out_.host_time ? host_calls() : device_calls();
    group == RooflineGroup::kOperator ? operators() : kernels();
    for (RooflineRow& row : out_.rows) finish(row);
    std::stable_sort(
        out_.rows.begin(), out_.rows.end(), [](const RooflineRow& a, const RooflineRow& b) {
          return std::tie(b.ns, a.name, a.input_shapes) < std::tie(a.ns, b.name, b.input_shapes);
        });
    if (out_.rows.size() > most) {
      out_.left_out = static_cast<std::int64_t>(out_.rows.size() - most);
      out_.rows.resize(most);
    }
    return std::move(out_);
  }

 private:
  void name_device(const DeviceActivity& d) {
    out_.device = d.name;
    std::optional<std::int64_t> memory;
    if (d.properties != nullptr) memory = d.properties->total_memory_bytes;
    out_.peaks = find_device_peaks(d.name, memory);
  }

  // The innermost operator of known cost whose work a slice of the host tree is part of: a product
  // around it, else the operator itself.
  void device_calls() {
    std::vector<EventId> product(trace_.size(), kNone);
    for (EventId e = 0; e < trace_.size(); ++e) {
      const EventId p = trace_.parent(e);
      product[e] = work_.counts(e) && work_.cost(e).matrix ? e : p == kNone ? kNone : product[p];
    }
    std::vector<std::uint8_t> tf32(trace_.string_count());  // 0 not asked, 1 no, 2 yes
    for (EventId e = 0; e < trace_.size(); ++e) {
      if (!libtrace::is_device_work(trace_.kind(e)) || trace_.suspect(e)) continue;
      const EventId owner = trace_.owner(e);
      if (!selection_.contains(trace_.start(owner == kNone ? e : owner))) continue;
      out_.total_ns += trace_.dur(e);
      // A copy over the bus runs against another limit than the device's memory.
      if (owner == kNone || (trace_.kind(e) == Kind::kMemcpy && !within_device(trace_.name(e)))) {
        continue;
      }
      EventId op = product[owner];
      if (op == kNone && work_.cost(owner).known()) op = owner;
      if (op == kNone) continue;
      CallWork& call = calls_[op];
      call.ns += trace_.dur(e);
      ++call.kernels;
      call.kernel = call.kernels == 1 ? e : kNone;
      std::uint8_t& known = tf32[trace_.name_id(e)];
      if (known == 0) known = runs_tf32(trace_.name(e)) ? 2 : 1;
      call.tf32 = call.tf32 || known == 2;
    }
  }

  // Without a device: products, for as long as their call took.
  void host_calls() {
    for (EventId e = 0; e < trace_.size(); ++e) {
      if (!libtrace::is_host_tree(trace_.kind(e)) || trace_.suspect(e)) continue;
      if (!selection_.contains(trace_.start(e))) continue;
      if (trace_.kind(e) == Kind::kOp) out_.total_ns += trace_.self(e);
      if (work_.counts(e) && work_.cost(e).matrix) calls_[e].ns = trace_.dur(e);
    }
  }

  [[nodiscard]] Precision precision_of(EventId op, const CallWork& call) const {
    const Precision p = work_.cost(op).precision;
    return p == Precision::kFp32 && call.tf32 ? Precision::kTf32 : p;
  }

  void add(RooflineRow& row, EventId op, const CallWork& call, EventId shown) {
    const OpCost& cost = work_.cost(op);
    ++row.calls;
    row.ns += call.ns;
    if (cost.flops > 0) row.flops = row.flops.value_or(0) + cost.flops;
    if (cost.bytes) row.bytes = row.bytes.value_or(0) + *cost.bytes;
    if (row.longest == kNone || trace_.dur(shown) > trace_.dur(row.longest)) row.longest = shown;
  }

  void operators() {
    std::map<std::tuple<libtrace::StringId, std::string, Precision>, std::size_t> index;
    for (const auto& [op, call] : sorted_calls()) {
      std::string shapes = shapes_of(trace_, op);
      const Precision precision = precision_of(op, call);
      const auto [it, fresh] =
          index.try_emplace({trace_.name_id(op), shapes, precision}, out_.rows.size());
      if (fresh) {
        RooflineRow& row = out_.rows.emplace_back();
        row.name = trace_.name(op);
        row.input_shapes = std::move(shapes);
        row.precision = precision;
      }
      add(out_.rows[it->second], op, call, op);
    }
  }

  void kernels() {
    std::map<std::tuple<libtrace::StringId, Precision>, std::size_t> index;
    for (const auto& [op, call] : sorted_calls()) {
      if (call.kernel == kNone || trace_.kind(call.kernel) != Kind::kKernel) continue;
      // Part of a figure would be a wrong figure of the whole.
      const OpCost& cost = work_.cost(op);
      if (cost.matrix && !cost.bytes) continue;
      const auto key = std::tuple(trace_.name_id(call.kernel), precision_of(op, call));
      const auto [it, fresh] = index.try_emplace(key, out_.rows.size());
      if (fresh) {
        RooflineRow& row = out_.rows.emplace_back();
        row.name = trace_.name(call.kernel);
        row.precision = std::get<1>(key);
      }
      add(out_.rows[it->second], op, call, call.kernel);
    }
  }

  [[nodiscard]] std::vector<std::pair<EventId, CallWork>> sorted_calls() const {
    std::vector<std::pair<EventId, CallWork>> calls(calls_.begin(), calls_.end());
    std::sort(calls.begin(), calls.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    return calls;
  }

  void finish(RooflineRow& row) {
    out_.known_ns += row.ns;
    const double seconds = static_cast<double>(row.ns) / 1e9;
    if (seconds <= 0) return;
    // What is too large for a number is not known.
    const auto finite = [](std::optional<double>& value) {
      if (value && !std::isfinite(*value)) value.reset();
    };
    finite(row.flops);
    finite(row.bytes);
    if (row.flops) row.flops_per_s = *row.flops / seconds;
    if (row.bytes) row.bytes_per_s = *row.bytes / seconds;
    if (row.flops && row.bytes) row.flops_per_byte = *row.flops / *row.bytes;
    for (auto* value : {&row.flops_per_s, &row.bytes_per_s, &row.flops_per_byte}) finite(*value);
    if (!out_.peaks) return;
    const double memory = out_.peaks->memory_bytes_per_s();
    const std::optional<double> compute = peak_of(*out_.peaks, row.precision);
    if (row.flops_per_byte && row.flops_per_s && compute) {
      const double by_memory = *row.flops_per_byte * memory;
      row.roof_pct = *row.flops_per_s / std::min(*compute, by_memory) * 100;
      row.bound = by_memory < *compute ? Bound::kMemory : Bound::kCompute;
    } else if (row.bytes_per_s && !row.flops) {
      row.roof_pct = *row.bytes_per_s / memory * 100;
      row.bound = Bound::kMemory;
    }
    finite(row.roof_pct);
    if (!row.roof_pct) {
      row.bound = Bound::kUnknown;
      return;
    }
    out_.roofed_ns += row.ns;
    if (*row.roof_pct < kFarBelowPct) {
      row.bound = Bound::kNeither;
      out_.far_below_ns += row.ns;
    }
  }

  const Trace& trace_;
  const Selection& selection_;
  OpWork work_;
  Roofline out_;
  std::unordered_map<EventId, CallWork> calls_;  // by operator call
};

}  // namespace

std::string_view bound_name(Bound bound) {
  constexpr std::string_view kNames[] = {"unknown", "compute", "memory", "neither"};
  return kNames[static_cast<std::size_t>(bound)];
}

Roofline find_roofline(const Trace& trace, const Selection& selection, RooflineGroup group,
                       std::size_t most) {
  return Finder(trace, selection).find(group, most);
}

}  // namespace traceglass
