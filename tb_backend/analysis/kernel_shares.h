// Who has the kernel time of the steps, by operator and by module, as evidence of a verdict.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tb_backend/analysis/verdict_facts.h"
#include "tb_backend/analysis/work_modules.h"

namespace traceglass {

class KernelShares {
 public:
  explicit KernelShares(const Facts& facts);

  // A sentence each: the operator with most of it; the modules with most, backward pass included.
  // Nothing where the file tells of no operator, or of no module.
  [[nodiscard]] std::vector<std::string> sentences() const;
  // The module with most of these kernels' time, "" where none is known.
  [[nodiscard]] std::string most_of(const std::vector<NodeId>& kernels) const;

 private:
  using ByModule = std::map<std::uint32_t, std::int64_t>;  // index in ModuleScopes::modules
  void add(NodeId kernel, ByModule& to) const;

  const Facts& facts_;
  std::unique_ptr<const WorkModules> modules_;  // none where the file tells of none
  ByModule by_module_;
  std::int64_t all_ns_ = 0;
};

}  // namespace traceglass
