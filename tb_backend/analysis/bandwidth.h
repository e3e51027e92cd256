// What a collective is, how many bytes it moves, and the two bandwidths that follow. Libraries,
// versions and back ends name the same thing differently; here is the one list.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace traceglass {

enum class CollectiveOp : std::uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kBroadcast,
  kReduce,
  kGather,
  kScatter,
  kSend,
  kRecv,
  kSendRecv,  // one kernel for both, or an all-to-all that does not say so
  kBarrier,
  kDispatch,  // of tokens to experts (DeepEP), and back
  kCombine,
  kOther,
};

// "all_reduce", …; "collective" for kOther.
std::string_view collective_op_name(CollectiveOp op);
// From any name: "allreduce", "nccl:_all_gather_base", "ncclDevKernel_ReduceScatter_…", "gloo:…".
CollectiveOp collective_op(std::string_view name);
constexpr bool is_point_to_point(CollectiveOp op) {
  return op == CollectiveOp::kSend || op == CollectiveOp::kRecv || op == CollectiveOp::kSendRecv;
}

struct Dtype {
  std::string_view name;   // "float32", …
  std::int64_t bytes = 0;  // of an element
};
// From "Float", "c10::BFloat16", "long int", …; nullopt for one that is not known.
std::optional<Dtype> find_dtype(std::string_view written);

// Elements whose bytes count, by NCCL-tests' convention: the whole buffer that one rank ends or
// starts with, so that all_gather counts what it receives and reduce_scatter what it gives.
std::int64_t counted_elements(CollectiveOp op, std::int64_t in, std::int64_t out);

// Bytes a second of the slowest link, from bytes ÷ transfer time: the factor of NCCL-tests
// (doc/PERFORMANCE.md there) over `ranks`.
double bus_factor(CollectiveOp op, std::int64_t ranks);

}  // namespace traceglass
