// Memory: calls into the driver's allocator within steps, how full the device is, and what of the
// reserved memory is in pieces too small to use.
#include <algorithm>
#include <map>

#include "libtrace/model/device.h"
#include "tb_backend/analysis/memory.h"
#include "tb_backend/analysis/record_words.h"
#include "tb_backend/analysis/thresholds.h"
#include "tb_backend/analysis/verdict_facts.h"

namespace traceglass {

using libtrace::EventId;
using libtrace::kNone;

namespace {

struct Fullness {
  std::optional<std::int64_t> allocated, reserved, capacity;
  std::int64_t unused_at_peak = 0;  // reserved - allocated, where reserved was highest
  std::string type;
  std::int64_t device = -1;
  bool events = false;
};

Fullness fullness(const Facts& facts) {
  Fullness f;
  for (const MemoryDevice& m : find_memory(facts.trace)) {
    if (m.type == "cpu") continue;
    f.events = true;
    if (!m.peak_allocated || m.relative) continue;
    if (f.allocated && *f.allocated >= *m.peak_allocated) continue;
    f.allocated = m.peak_allocated;
    f.reserved = m.peak_reserved;
    f.type = m.type;
    f.device = m.id;
    // At the fullest moment of it: what the cache holds once a step is over is no fragment.
    f.unused_at_peak = m.peak_reserved.value_or(0);
    for (const MemoryPoint& p : m.curve) {
      if (!p.reserved || p.reserved != m.peak_reserved) continue;
      f.unused_at_peak = std::min(f.unused_at_peak, *p.reserved - p.allocated);
    }
    for (const libtrace::DeviceProperties& d : facts.trace.devices()) {
      if (d.id == m.id) f.capacity = d.total_memory_bytes;
    }
  }
  return f;
}

// What tensors of that device took in the steps, given back or not; "" without any.
std::string churn(const Facts& facts, const Fullness& f) {
  std::int64_t count = 0, bytes = 0;
  for (const libtrace::MemoryEvent& m : facts.trace.memory()) {
    if (m.bytes <= 0 || m.out_of_memory || m.device_id != f.device ||
        libtrace::memory_device_type(m.device_type) != f.type || !facts.selection.contains(m.at)) {
      continue;
    }
    ++count;
    bytes += m.bytes;
  }
  if (count == 0) return "";
  const std::string rate = rate_text(count, facts.steps);
  return rate + (rate == "1" ? " allocation, " : " allocations, ") +
         bytes_text(facts.per_step(bytes)) + " a step.";
}

}  // namespace

Verdict check_memory(const Facts& facts) {
  const std::string id = "memory";
  std::int64_t calls = 0, ns = 0, host_calls = 0;
  EventId last = kNone;
  std::map<std::string_view, std::int64_t> ns_by_name;
  Worst worst;
  WhatIf w = facts.graph.as_recorded();
  w.unbound.assign(w.cost.size(), false);
  for (NodeId n = 0; n < facts.graph.nodes().size(); ++n) {
    const Node& node = facts.graph.nodes()[n];
    if (!facts.chain.chosen(n) || is_device(node.activity)) continue;
    host_calls += node.activity == Activity::kRuntime || node.activity == Activity::kSync;
    if (node.activity != Activity::kMemoryCall || node.event == kNone) continue;
    w.cost[n] = facts.chain.changed(n, 0);
    w.unbound[n] = node.cause.kind == EdgeKind::kSync;
    const std::int64_t spent = node.end - facts.graph.free_since(n);
    calls += node.event != last;
    last = node.event;
    ns += spent;
    ns_by_name[facts.trace.name(node.event)] += spent;
    worst.add(node.event, spent);
  }
  const Fullness f = fullness(facts);
  if (calls == 0 && !f.allocated) {
    const std::string none = host_calls > 0 ? "No cudaMalloc runs in the steps. " : "";
    return not_checkable(
        id,
        none + (f.events ? "How full the device is cannot be told: this recorder wrote no totals."
                         : "How full the device is was not recorded: " +
                               record_words(kRecordMemory) + "."));
  }
  Verdict v = judged(facts, id, facts.chain.gain(w));
  seen(facts, facts.per_step(ns), v);
  const bool by_calls = fires(v);
  bool full = false, fragmented = false;
  std::string how_full;
  if (f.allocated) {
    how_full = "The peak is " + bytes_text(*f.allocated);
    if (f.capacity && *f.capacity > 0) {
      const auto capacity = static_cast<double>(*f.capacity);
      const auto used = static_cast<double>(std::max(*f.allocated, f.reserved.value_or(0)));
      how_full += ", " + percent_text(*f.allocated, *f.capacity) + " of the " +
                  bytes_text(*f.capacity) + " there are";
      full = 100 * used >= kMemoryNearlyFullPct * capacity;
      fragmented = 100 * static_cast<double>(f.unused_at_peak) >= kFragmentationPct * capacity;
    }
    how_full += ".";
  }
  if (calls > 0) {
    const std::string many = calls_text(calls, facts.steps);
    v.sentence = many + " a step " +
                 (many == "1 call" ? "allocates or frees" : "allocate or free") +
                 " memory of the device, " + time_text(facts.per_step(ns)) + " of the host's time";
    v.sentence += by_calls ? "; freeing waits for the device to drain." : ".";
    for (const auto& [name, spent] : ns_by_name) {
      v.evidence.push_back(short_name(name) + ": " + time_text(facts.per_step(spent)) + " a step.");
    }
    if (!how_full.empty()) v.evidence.push_back(how_full);
    v.events = worst.take();
  } else {
    v.sentence = how_full + (full ? " The device is nearly full." : "");
    if (fragmented) {
      v.sentence += " " + bytes_text(f.unused_at_peak) + " are reserved and in no tensor, " +
                    percent_text(f.unused_at_peak, *f.capacity) + " of the device.";
    }
  }
  if (f.reserved) {
    v.evidence.push_back(bytes_text(*f.reserved) + " are reserved at the most, of which " +
                         bytes_text(f.unused_at_peak) + " were in no tensor.");
  }
  if (f.allocated) {
    if (std::string words = churn(facts, f); !words.empty()) v.evidence.push_back(std::move(words));
  }
  // Nothing is slower yet; the next larger batch will not fit.
  if (!by_calls && (full || fragmented)) v.severity = VerdictSeverity::kLow;
  if (!fires(v)) return v;
  if (by_calls) {
    v.suggestions.push_back(
        {"The caching allocator gives blocks back and asks anew: leave it more room, and do not "
         "empty "
         "its cache in the loop.",
         "# no torch.cuda.empty_cache() in the loop\n"
         "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"});
  } else if (fragmented) {
    v.suggestions.push_back({"Let segments grow instead of leaving holes.",
                             "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"});
  }
  v.suggestions.push_back({"Keep less for the backward pass.",
                           "torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)\n"
                           "optimizer.zero_grad(set_to_none=True)"});
  v.suggestions.push_back({"Sizes that vary from step to step churn: pad to a few of them.", ""});
  return v;
}

}  // namespace traceglass
