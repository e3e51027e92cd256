// Matrix products and convolutions that could run on tensor cores and do not.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "tb_backend/analysis/kernel_shares.h"
#include "tb_backend/analysis/record_words.h"
#include "tb_backend/analysis/roof_words.h"
#include "tb_backend/analysis/tensor_cores.h"
#include "tb_backend/analysis/thresholds.h"
#include "tb_backend/analysis/verdict_facts.h"

namespace traceglass {

using libtrace::EventId;
using libtrace::kNone;
using libtrace::Trace;

namespace {

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Operators that are matrix products at heart.
bool is_product(std::string_view op) {
  constexpr std::string_view kExact[] = {"aten::mm",      "aten::addmm",  "aten::bmm",
                                         "aten::baddbmm", "aten::matmul", "aten::linear",
                                         "aten::_int_mm", "aten::einsum"};
  return std::find(std::begin(kExact), std::end(kExact), op) != std::end(kExact) ||
         has(op, "convolution") || has(op, "::conv");
}

enum class InputType : std::uint8_t { kFull, kHalf, kUnknown };

// Of the operator's inputs; of the kernel's name where those were not recorded.
InputType input_type_of(const Trace& trace, EventId op, std::string_view kernel) {
  auto types = trace.arg(op, "Input type");
  if (!types) types = trace.arg(op, "Input types");
  const std::string_view text = types ? types->text : kernel;
  if (has(text, "Half") || has(text, "BFloat16") || has(text, "half") || has(text, "bf16") ||
      has(text, "Float8") || has(text, "char") || has(text, "f16")) {
    return InputType::kHalf;
  }
  if (types) {
    return has(text, "float") || has(text, "double") ? InputType::kFull : InputType::kUnknown;
  }
  return has(text, "sgemm") || has(text, "scudnn") || has(text, "dgemm") || has(text, "<float")
             ? InputType::kFull
             : InputType::kUnknown;
}

struct Device {
  bool known = false, has_tensor_cores = false, has_tf32 = false;
};

Device device_of(const DeviceActivity& d) {
  Device out;
  // Other makers' properties have these fields too; their matrix units take single precision.
  const bool other = d.type != "cuda" || has(d.name, "AMD") || has(d.name, "Instinct") ||
                     has(d.name, "Radeon") || d.name.empty();
  if (d.properties == nullptr || !d.properties->compute_major || other) return out;
  out.known = true;
  out.has_tensor_cores = *d.properties->compute_major >= 7;
  out.has_tf32 = *d.properties->compute_major >= 8;
  return out;
}

// Element-wise work on activations: in half precision it moves half the bytes. What an optimizer
// does stays in single precision.
bool follows_products(const Trace& trace, EventId op, std::string_view kernel) {
  if (!has(kernel, "elementwise") || !has(kernel, "float") || has(kernel, "Half") ||
      has(kernel, "BFloat16")) {
    return false;
  }
  constexpr int kMostLevels = 32;
  EventId around = op;
  for (int i = 0; i < kMostLevels && around != kNone; ++i) {
    if (trace.name(around).starts_with("Optimizer.")) return false;
    around = trace.parent(around);
  }
  return true;
}

enum class Use : std::uint8_t { kOn, kOff, kUnknown };

Use use_of(const Trace& trace, EventId op, TensorCores by_name, std::string_view kernel,
           const Device& device) {
  if (by_name == TensorCores::kYes) return Use::kOn;
  switch (input_type_of(trace, op, kernel)) {
    case InputType::kFull:
      // Before Ampere no unit takes single precision; later TF32 may, under names that do not say.
      return by_name == TensorCores::kNo || !device.has_tf32 ? Use::kOff : Use::kUnknown;
    case InputType::kHalf:
    case InputType::kUnknown:
      break;
  }
  return Use::kUnknown;
}

struct Products {
  std::int64_t on = 0, off = 0, unknown = 0, kernels = 0;
  std::map<std::string_view, std::int64_t> off_by_op;
  std::vector<NodeId> off_kernels;
};

// Who has the kernel time, and how far the greatest of them is below its roof.
void add_shares(const Facts& facts, const KernelShares& shares, Verdict& v) {
  const std::vector<std::string> sentences = shares.sentences();
  v.evidence.insert(v.evidence.end(), sentences.begin(), sentences.end());
  const DeviceActivity& d = facts.devices[facts.main_device];
  // Inputs are read only where there is a roof to hold them against.
  if (!find_device_peaks(
          d.name, d.properties == nullptr ? std::nullopt : d.properties->total_memory_bytes)) {
    return;
  }
  if (std::string words = roof_words(find_roofline(facts.trace, facts.selection)); !words.empty()) {
    v.evidence.push_back(std::move(words));
  }
}

std::string gain(const Verdict& v) {
  const std::int64_t ns = v.gain_ceiling_ns.value_or(0);
  return ns == 0 ? "nothing" : "at most " + time_text(ns);
}

}  // namespace

Verdict check_operators(const Facts& facts) {
  const std::string id = "inefficient_operators";
  if (!facts.has_device) {
    return not_checkable(
        id, "The file has no device work: record " + record_words(kRecordDevice) + " as well.");
  }
  const Trace& trace = facts.trace;
  const Device device = device_of(facts.devices[facts.main_device]);
  Products p;
  Worst worst;
  WhatIf w = facts.graph.as_recorded();
  std::vector<NodeId> followers;
  std::unordered_map<libtrace::StringId, TensorCores> names;
  for (NodeId n = 0; n < facts.graph.nodes().size(); ++n) {
    const Node& node = facts.graph.nodes()[n];
    if (node.activity != Activity::kKernel || !facts.chain.chosen(n)) continue;
    const EventId op = trace.owner(node.event);
    if (op == kNone) continue;
    if (!is_product(trace.name(op))) {
      if (follows_products(trace, op, trace.name(node.event))) followers.push_back(n);
      continue;
    }
    const auto [it, fresh] = names.try_emplace(trace.name_id(node.event), TensorCores::kNo);
    if (fresh) it->second = tensor_cores_of_kernel(trace.name(node.event));
    ++p.kernels;
    switch (use_of(trace, op, it->second, trace.name(node.event), device)) {
      case Use::kOn:
        p.on += node.cost();
        break;
      case Use::kUnknown:
        p.unknown += node.cost();
        break;
      case Use::kOff:
        p.off += node.cost();
        p.off_by_op[trace.name(op)] += node.cost();
        p.off_kernels.push_back(n);
        worst.add(node.event, node.cost());
        w.cost[n] /= kTensorCoreSpeedUp;
        break;
    }
  }
  const std::int64_t all = p.on + p.off + p.unknown;
  const KernelShares shares(facts);
  if (p.kernels == 0) {
    Verdict v = fine(id, "No kernel belongs to a matrix product or convolution.");
    add_shares(facts, shares, v);
    return v;
  }
  if (!device.known) {
    Verdict v = not_checkable(
        id,
        "Whether the device has units for half precision that stand idle is not in the file: "
        "it has no compute capability for " +
            (facts.devices[facts.main_device].name.empty()
                 ? std::string("this device")
                 : short_name(facts.devices[facts.main_device].name)) +
            ".");
    add_shares(facts, shares, v);
    return v;
  }
  if (!device.has_tensor_cores) {
    Verdict v = fine(id, "This device has no tensor cores.");
    add_shares(facts, shares, v);
    return v;
  }
  const std::string figures = percent_text(p.on, all) + " of " + time_text(facts.per_step(all)) +
                              " a step in matrix products and convolutions";
  if (percent(p.unknown, all) > kMostPct && p.off == 0) {
    Verdict v = not_checkable(id, figures +
                                      " is known to run on tensor cores; of the rest the "
                                      "names do not tell: " +
                                      record_words(kRecordShapes) + " adds the types.");
    add_shares(facts, shares, v);
    return v;
  }
  Verdict v = judged(facts, id, facts.chain.gain(w));
  if (fires(v)) {
    for (const NodeId n : followers) w.cost[n] /= kTensorCoreSpeedUp;
    v = judged(facts, id, facts.chain.gain(w));
  }
  seen(facts, facts.per_step(p.off), v);
  v.sentence =
      fires(v)
          ? figures + " runs on tensor cores; " + time_text(facts.per_step(p.off)) +
                " has single-precision inputs. The ceiling assumes half of that time, and of what "
                "reads and writes their results."
          : figures + " runs on tensor cores, " + time_text(facts.per_step(p.off)) +
                " in single precision" +
                // Half of it would be a gain, were the device what the step waits for.
                (percent(p.off, all) > kWorthSayingPct
                     ? "; twice as fast, it would gain a step " + gain(v) +
                           ": other things set its pace."
                     : std::string("."));
  add_shares(facts, shares, v);
  if (p.unknown > 0) {
    v.evidence.push_back("Of " + time_text(facts.per_step(p.unknown)) +
                         " more the kernels' names do not tell.");
  }
  if (!fires(v)) return v;
  const auto top =
      std::max_element(p.off_by_op.begin(), p.off_by_op.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  const std::string module = shares.most_of(p.off_kernels);
  v.evidence.push_back("Most of it: " + short_name(top->first) + ", " +
                       time_text(facts.per_step(top->second)) + " a step" +
                       (module.empty() ? "" : "; by module: " + module) + ".");
  v.events = worst.take();
  v.suggestions.push_back({"Run forward and loss in mixed precision.",
                           device.has_tf32
                               ? "with torch.autocast(\"cuda\", dtype=torch.bfloat16):\n"
                                 "    loss = criterion(model(inputs), labels)"
                               : "with torch.autocast(\"cuda\", dtype=torch.float16):\n"
                                 "    loss = criterion(model(inputs), labels)   # with "
                                 "torch.amp.GradScaler()"});
  if (device.has_tf32) {
    v.suggestions.push_back({"Or keep single precision and let products use TF32.",
                             "torch.set_float32_matmul_precision(\"high\")\n"
                             "torch.backends.cudnn.allow_tf32 = True"});
  }
  v.suggestions.push_back(
      {"Sizes that are multiples of 8 (channels, features, batch) fill the units.", ""});
  return v;
}

}  // namespace traceglass
