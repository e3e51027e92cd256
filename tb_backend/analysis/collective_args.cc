#include "tb_backend/analysis/collective_args.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <vector>

namespace traceglass {

using libtrace::EventId;
using libtrace::Trace;
using libtrace::Value;

namespace {

constexpr int kCallsAbove = 6;  // record_param_comms stands one to three above the launch

// Elements of each item of "Input Dims": "[[2,3],[],[[4],[5]]]" gives 6, 1, 9. A list of tensors
// adds up; an item without numbers is a scalar.
std::vector<std::int64_t> elements_of(std::string_view dims) {
  std::vector<std::int64_t> items;
  int depth = 0;
  std::int64_t product = 1, sum = 0;
  bool inner = false;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const char c = dims[i];
    if (c == '[') {
      if (++depth == 2) {
        sum = 0;
        inner = false;
      }
      if (depth == 3) inner = true;
      product = 1;
    } else if (c == ']') {
      if ((depth == 3 || (depth == 2 && !inner)) && __builtin_add_overflow(sum, product, &sum)) {
        sum = 0;  // nonsense
      }
      if (depth == 2) items.push_back(sum);
      --depth;
    } else if ((c >= '0' && c <= '9') || c == '-') {
      std::int64_t n = 0;
      const auto end = std::from_chars(dims.data() + i, dims.data() + dims.size(), n).ptr;
      i = static_cast<std::size_t>(end - dims.data()) - (end == dims.data() + i ? 0 : 1);
      std::int64_t out = 0;
      product = n < 0 || __builtin_mul_overflow(product, n, &out) ? 0 : out;
    }
  }
  return items;
}

// The texts of a JSON list of texts.
std::vector<std::string_view> texts_of(std::string_view json) {
  std::vector<std::string_view> out;
  for (std::size_t at = json.find('"'); at != std::string_view::npos; at = json.find('"', at)) {
    const std::size_t end = json.find('"', at + 1);
    if (end == std::string_view::npos) break;
    out.push_back(json.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  return out;
}

// Ranks listed in "[0, 1]"; 0 where the list is cut ("[0, 1, ...]") or empty.
std::int32_t listed(std::string_view ranks) {
  if (ranks.find("...") != std::string_view::npos) return 0;
  if (ranks.find_first_of("0123456789") == std::string_view::npos) return 0;
  return static_cast<std::int32_t>(std::count(ranks.begin(), ranks.end(), ',')) + 1;
}

std::int32_t small(std::optional<std::int64_t> value, std::int32_t otherwise) {
  return value && *value >= 0 && *value < INT32_MAX ? static_cast<std::int32_t>(*value) : otherwise;
}

class Reader {
 public:
  Reader(const Trace& trace, CollectiveArgs& out) : trace_(trace), out_(out) {}

  // What PyTorch's record_param_comms writes, on the call and on its kernels.
  void written(EventId e) {
    trace_.args(e, args_);
    std::int64_t in = -1, nelems = -1;
    for (const auto& [key, value] : args_) {
      const auto number = [&]() -> std::optional<std::int64_t> {
        if (value.type == Value::Type::kInt) return value.i;
        return std::nullopt;
      };
      if (key == "In msg nelems") {
        in = number().value_or(-1);
      } else if (key == "Out msg nelems") {
        nelems = number().value_or(-1);
      } else if (key == "dtype" && out_.dtype.empty()) {
        set_dtype(value.text);
      } else if (key == "Group size") {
        if (out_.group_size == 0) out_.group_size = small(number(), 0);
      } else if (key == "Process Group Ranks") {
        if (ranks_ == 0) ranks_ = listed(value.text);
      } else if (key == "Collective name") {
        if (out_.said.empty()) out_.said = value.text;
      } else if (key == "Src Rank") {
        out_.from = small(number(), out_.from);
      } else if (key == "Dst Rank") {
        out_.to = small(number(), out_.to);
      }
    }
    if ((in >= 0 || nelems >= 0) && in_ < 0 && out_elements_ < 0) {
      in_ = in;
      out_elements_ = nelems;
    }
  }

  // "nccl:all_reduce", "gloo:all_gather": the tensors of the call as its inputs.
  void shaped(EventId e) {
    const auto dims = trace_.arg(e, "Input Dims");
    const auto types = trace_.arg(e, "Input type");
    if (!dims || !types || in_ >= 0) return;
    const std::vector<std::int64_t> elements = elements_of(dims->text);
    const std::vector<std::string_view> names = texts_of(types->text);
    std::int64_t sum = 0;
    bool any = false;
    for (std::size_t i = 0; i < std::min(elements.size(), names.size()); ++i) {
      const auto type = find_dtype(names[i]);
      if (!type) continue;
      if (out_.dtype.empty()) set_dtype(names[i]);
      if (__builtin_add_overflow(sum, elements[i], &sum)) return;
      any = true;
    }
    if (any) in_ = sum;
  }

  void finish(CollectiveOp op) {
    if (out_.group_size <= 1 && ranks_ > 0) out_.group_size = ranks_;
    // Before process groups were written there was one name for all: "".
    if (out_.group_size == 0 && out_.group.empty()) {
      out_.group_size = std::max(0, trace_.world_size().value_or(0));
    }
    if (in_ < 0 && out_elements_ < 0) return;
    if (op == CollectiveOp::kAllGather && out_elements_ < 0 && out_.group_size > 0 &&
        __builtin_mul_overflow(in_, out_.group_size, &out_elements_)) {
      return;
    }
    out_.elements = counted_elements(op, in_, out_elements_);
    std::int64_t bytes = 0;
    if (size_ > 0 && !__builtin_mul_overflow(out_.elements, size_, &bytes)) out_.bytes = bytes;
  }

 private:
  void set_dtype(std::string_view written) {
    if (const auto type = find_dtype(written)) {
      out_.dtype = type->name;
      size_ = type->bytes;
    }
  }

  const Trace& trace_;
  CollectiveArgs& out_;
  std::vector<Trace::Arg> args_;
  std::int64_t in_ = -1, out_elements_ = -1, size_ = 0;
  std::int32_t ranks_ = 0;
};

bool names_a_collective(std::string_view name) {
  return name.starts_with("nccl:") || name.starts_with("gloo:") || name.starts_with("mpi:") ||
         name.starts_with("rccl:") || name.starts_with("hccl:") || name.starts_with("xccl:");
}

}  // namespace

CollectiveArgs read_collective_args(const Trace& trace, EventId e) {
  CollectiveArgs out;
  if (const auto group = trace.arg(e, "Process Group Name")) out.group = group->text;
  if (const auto name = trace.arg(e, "Collective name")) out.name = name->text;
  if (out.name.empty()) out.name = trace.name(e);
  if (const auto seq = trace.int_arg(e, "Seq")) {
    out.seq = *seq;
    out.has_seq = true;
  }
  Reader reader(trace, out);
  reader.written(e);
  if (names_a_collective(trace.name(e))) reader.shaped(e);
  // The calls around the launch; a host collective is such a call itself.
  EventId call = libtrace::is_device_work(trace.kind(e)) ? trace.anchor(e) : trace.parent(e);
  for (int up = 0; up < kCallsAbove && call != libtrace::kNone; ++up, call = trace.parent(call)) {
    const std::string_view name = trace.name(call);
    if (names_a_collective(name)) {
      if (out.said.empty()) out.said = name;
      reader.shaped(call);
    } else if (name == "record_param_comms") {
      reader.written(call);
    } else if (name.starts_with("c10d::") || name.starts_with("_c10d_functional::")) {
      if (out.said.empty()) out.said = name;
      break;  // the call that the program made
    }
  }
  if (out.said.empty()) out.said = out.name;
  CollectiveOp op = collective_op(out.said);
  if (op == CollectiveOp::kOther) op = collective_op(trace.name(e));
  reader.finish(op);
  return out;
}

}  // namespace traceglass
