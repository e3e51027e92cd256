#include "libtrace/model/category.h"

#include <algorithm>
#include <array>

namespace libtrace {
namespace {

constexpr std::array<std::string_view, kKindCount> kKindNames = {
    "op",     "annotation",        "runtime", "kernel",   "memcpy", "memset",
    "python", "device_annotation", "sync",    "overhead", "span",   "other"};

struct Row {
  std::string_view category;  // lower case
  Kind kind;
};
constexpr Row kCategories[] = {
    {"cpu_op", Kind::kOp},
    {"operator", Kind::kOp},
    {"hpu_op", Kind::kOp},
    {"user_annotation", Kind::kAnnotation},
    {"kernel", Kind::kKernel},
    {"collective_comm", Kind::kKernel},
    {"mtia_ccp_events", Kind::kKernel},
    {"gpu_memcpy", Kind::kMemcpy},
    {"memcpy", Kind::kMemcpy},
    {"gpu_memset", Kind::kMemset},
    {"memset", Kind::kMemset},
    {"python_function", Kind::kPython},
    {"gpu_user_annotation", Kind::kDeviceAnnotation},
    {"user", Kind::kDeviceAnnotation},
    {"cuda_sync", Kind::kSync},
    {"cuda_event", Kind::kSync},
    {"xpu_sync", Kind::kSync},
    {"overhead", Kind::kOverhead},
    {"trace", Kind::kSpan},
};

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
bool same_letter(char any_case, char lower_case) noexcept { return lower(any_case) == lower_case; }

bool equals(std::string_view text, std::string_view lower_case) noexcept {
  return std::equal(text.begin(), text.end(), lower_case.begin(), lower_case.end(), same_letter);
}
bool starts(std::string_view text, std::string_view lower_case) noexcept {
  return equals(text.substr(0, lower_case.size()), lower_case);
}
bool ends(std::string_view text, std::string_view lower_case) noexcept {
  return text.size() >= lower_case.size() &&
         equals(text.substr(text.size() - lower_case.size()), lower_case);
}
bool contains(std::string_view text, std::string_view lower_case) noexcept {
  return std::search(text.begin(), text.end(), lower_case.begin(), lower_case.end(), same_letter) !=
         text.end();
}

}  // namespace

std::string_view kind_name(Kind kind) noexcept {
  return kKindNames[static_cast<std::size_t>(kind)];
}

Kind kind_of_category(std::string_view category) noexcept {
  for (const Row& row : kCategories) {
    if (equals(category, row.category)) return row.kind;
  }
  if (ends(category, "runtime") || ends(category, "driver")) return Kind::kRuntime;
  return Kind::kOther;
}

NameTraits name_traits(std::string_view name) noexcept {
  NameTraits t;
  if (constexpr std::string_view kStep = "ProfilerStep#"; name.starts_with(kStep)) {
    t.range = true;
    const std::string_view digits = name.substr(kStep.size());
    t.step = !digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos;
  }
  t.data_loader = name.starts_with("enumerate(DataLoader)") || name.starts_with("DataLoader");
  t.range = t.range || t.data_loader || name.starts_with("Optimizer.");
  t.device_collective = starts(name, "nccl") || starts(name, "rccl") || starts(name, "hccl") ||
                        contains(name, "nvshmem") || contains(name, "deep_ep") ||
                        contains(name, "all_reduce_kernel");
  t.host_collective =
      name.starts_with("gloo:") || name.starts_with("mpi:") || name.starts_with("nccl:");
  return t;
}

}  // namespace libtrace
