#include "tb_backend/analysis/bandwidth.h"

#include <algorithm>
#include <string>
#include <utility>

namespace traceglass {

namespace {

// Letters and digits only, in lower case: "_all_gather_base" and "AllGather" read alike.
std::string folded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c >= 'A' && c <= 'Z') {
      out += static_cast<char>(c + 32);
    } else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string_view collective_op_name(CollectiveOp op) {
  static constexpr std::string_view kNames[] = {
      "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast",
      "reduce",     "gather",     "scatter",        "send",       "recv",
      "send_recv",  "barrier",    "dispatch",       "combine",    "collective"};
  return kNames[static_cast<std::size_t>(op)];
}

CollectiveOp collective_op(std::string_view name) {
  // A kernel's name goes on with its algorithm, its types and arguments: "…_Sum_f32(…)".
  name = name.substr(0, name.find('('));
  const std::string text = folded(name);
  // First match wins: the longer word stands before the one that it contains.
  static constexpr std::pair<std::string_view, CollectiveOp> kWords[] = {
      {"allreduce", CollectiveOp::kAllReduce},
      {"allgather", CollectiveOp::kAllGather},
      {"fcollect", CollectiveOp::kAllGather},  // NVSHMEM
      {"reducescatter", CollectiveOp::kReduceScatter},
      {"alltoall", CollectiveOp::kAllToAll},
      {"all2all", CollectiveOp::kAllToAll},
      {"sendrecv", CollectiveOp::kSendRecv},
      {"broadcast", CollectiveOp::kBroadcast},
      {"bcast", CollectiveOp::kBroadcast},
      {"barrier", CollectiveOp::kBarrier},
      {"dispatch", CollectiveOp::kDispatch},
      {"combine", CollectiveOp::kCombine},
      {"reduce", CollectiveOp::kReduce},
      {"gather", CollectiveOp::kGather},
      {"scatter", CollectiveOp::kScatter},
      {"send", CollectiveOp::kSend},
      {"recv", CollectiveOp::kRecv},
  };
  for (const auto& [word, op] : kWords) {
    if (text.find(word) != std::string::npos) return op;
  }
  return CollectiveOp::kOther;
}

std::optional<Dtype> find_dtype(std::string_view written) {
  if (const auto colons = written.rfind(':'); colons != std::string_view::npos) {
    written.remove_prefix(colons + 1);  // c10::Half
  }
  const std::string text = folded(written);
  static constexpr std::pair<std::string_view, Dtype> kTypes[] = {
      {"float", {"float32", 4}},
      {"float32", {"float32", 4}},
      {"half", {"float16", 2}},
      {"float16", {"float16", 2}},
      {"bfloat16", {"bfloat16", 2}},
      {"double", {"float64", 8}},
      {"float64", {"float64", 8}},
      {"long", {"int64", 8}},
      {"longint", {"int64", 8}},
      {"int64", {"int64", 8}},
      {"int", {"int32", 4}},
      {"int32", {"int32", 4}},
      {"short", {"int16", 2}},
      {"shortint", {"int16", 2}},
      {"int16", {"int16", 2}},
      {"char", {"int8", 1}},
      {"signedchar", {"int8", 1}},
      {"int8", {"int8", 1}},
      {"byte", {"uint8", 1}},
      {"unsignedchar", {"uint8", 1}},
      {"uint8", {"uint8", 1}},
      {"bool", {"bool", 1}},
      {"complexfloat", {"complex64", 8}},
      {"complexdouble", {"complex128", 16}},
      {"float8e4m3fn", {"float8_e4m3fn", 1}},
      {"float8e4m3fnuz", {"float8_e4m3fnuz", 1}},
      {"float8e5m2", {"float8_e5m2", 1}},
      {"float8e5m2fnuz", {"float8_e5m2fnuz", 1}},
  };
  for (const auto& [name, type] : kTypes) {
    if (text == name) return type;
  }
  return std::nullopt;
}

std::int64_t counted_elements(CollectiveOp op, std::int64_t in, std::int64_t out) {
  if (op == CollectiveOp::kAllGather || op == CollectiveOp::kGather) return std::max(in, out);
  return in > 0 ? in : out;
}

double bus_factor(CollectiveOp op, std::int64_t ranks) {
  if (ranks < 1) return 1;
  const double others = static_cast<double>(ranks - 1) / static_cast<double>(ranks);
  switch (op) {
    case CollectiveOp::kAllReduce:
      return 2 * others;
    case CollectiveOp::kAllGather:
    case CollectiveOp::kReduceScatter:
    case CollectiveOp::kAllToAll:
    case CollectiveOp::kGather:
    case CollectiveOp::kScatter:
    case CollectiveOp::kDispatch:
    case CollectiveOp::kCombine:
      return others;
    default:
      return 1;
  }
}

}  // namespace traceglass
