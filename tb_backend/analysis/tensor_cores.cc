#include "tb_backend/analysis/tensor_cores.h"

#include <algorithm>
#include <string>

namespace traceglass {
namespace {

// Parts of names of cuBLAS, cuDNN, CUTLASS and hand-written kernels that use the matrix units,
// by instruction shape or by the units' names.
constexpr std::string_view kUses[] = {
    "s884",   "h884",     "i8816", "s1688", "h1688",       "s16816",   "h16816",
    "i16832", "s161616",  "hmma",  "imma",  "qmma",        "wgmma",    "tcgen05",
    "utcmma", "tensorop", "xmma",  "nvjet", "_tensor16x8", "mma_sync", "cijk_"};
// Matrix products and attention: likely on tensor cores, but the name does not say.
constexpr std::string_view kMay[] = {"gemm",      "conv", "wgrad",   "dgrad",  "flash",
                                     "attention", "fmha", "cutlass", "triton", "matmul"};

bool any_in(std::string_view text, const auto& parts) {
  return std::any_of(std::begin(parts), std::end(parts), [&](std::string_view part) {
    return text.find(part) != std::string_view::npos;
  });
}

}  // namespace

std::string_view tensor_cores_name(TensorCores value) {
  constexpr std::string_view kNames[] = {"no", "yes", "unknown"};
  return kNames[static_cast<std::size_t>(value)];
}

bool runs_tf32(std::string_view name) {
  return name.find("tf32") != std::string_view::npos ||
         name.find("s1688") != std::string_view::npos;
}

TensorCores tensor_cores_of_kernel(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  // A V100 kernel that names its single-precision units says no: scudnn, sgemm without a shape.
  if (any_in(lower, kUses)) return TensorCores::kYes;
  if (lower.find("scudnn") != std::string::npos || lower.find("sgemm") != std::string::npos) {
    return TensorCores::kNo;
  }
  // A template over float that names no matrix instruction is made of plain multiplications.
  // CUTLASS says its type elsewhere.
  if (lower.find("<float") != std::string::npos && lower.find("cutlass") == std::string::npos &&
      !runs_tf32(lower)) {
    return TensorCores::kNo;
  }
  return any_in(lower, kMay) ? TensorCores::kUnknown : TensorCores::kNo;
}

}  // namespace traceglass
