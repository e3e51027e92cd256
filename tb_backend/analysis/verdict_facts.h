// What the checks share: the graph of the chosen steps, the devices and their idle time, and the
// words that figures are said in.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tb_backend/analysis/activity.h"
#include "tb_backend/analysis/figures.h"
#include "tb_backend/analysis/idle.h"
#include "tb_backend/analysis/verdicts.h"
#include "tb_backend/analysis/what_if.h"

namespace traceglass {

struct Facts {
  Facts(const StepGraph& graph, const Selection& selection);

  const libtrace::Trace& trace;
  const StepGraph& graph;
  const Selection& selection;
  StepChain chain;
  std::vector<DeviceActivity> devices;
  std::vector<DeviceIdle> idle;  // by device
  std::size_t main_device = 0;   // with most work in the steps
  bool has_host = false, has_device = false;
  std::int64_t steps = 0, mean_step_ns = 0;

  [[nodiscard]] std::int64_t per_step(std::int64_t ns) const { return steps == 0 ? 0 : ns / steps; }
  // Mean a step, of the main device.
  [[nodiscard]] std::int64_t idle_of(IdleCause cause) const;
  [[nodiscard]] std::int64_t idle_per_step() const;
  // The main device answers to torch.cuda (AMD's does).
  [[nodiscard]] bool on_cuda() const { return has_device && devices[main_device].type == "cuda"; }
};

// Severity, share and ceiling from what a fix could gain a step.
Verdict judged(const Facts& facts, std::string id, std::int64_t ceiling_ns);
// What was seen takes `ns` a step, whatever of it a fix could gain.
void seen(const Facts& facts, std::int64_t ns, Verdict& v);
bool fires(const Verdict& v);
// Neither fires nor is fine: `sentence` says what to record.
Verdict not_checkable(std::string id, std::string sentence);
// Nothing there to limit the step.
Verdict fine(std::string id, std::string sentence);

// The slices with most time, worst first; each once.
class Worst {
 public:
  void add(libtrace::EventId e, std::int64_t ns);
  [[nodiscard]] std::vector<libtrace::EventId> take() const;

 private:
  std::vector<std::pair<std::int64_t, libtrace::EventId>> all_;
};

std::string percent_text(std::int64_t part, std::int64_t whole);  // "21.9 %"
std::string percent_text(double share);
std::string counted(std::int64_t n, const char* one, const char* many);  // "1 call", "3 calls"
// A mean a step with at most one decimal: "2", "0.5".
std::string rate_text(std::int64_t count, std::int64_t steps);
std::string calls_text(std::int64_t count, std::int64_t steps);  // "1 call", "0.5 calls"

// ---- the checks, verdict_<topic>.cc ---------------------------------------------------------
Verdict check_data_loading(const Facts& facts);
Verdict check_synchronization(const Facts& facts);
Verdict check_small_kernels(const Facts& facts);
Verdict check_operators(const Facts& facts);
Verdict check_memory(const Facts& facts);
Verdict check_communication(const Facts& facts);
// What of the idle time those before it, that fire, do not explain.
Verdict check_utilization(const Facts& facts, const std::vector<Verdict>& others);

}  // namespace traceglass
