#include "libtrace/averages/stacks_text.h"

#include <algorithm>
#include <stdexcept>

#include "libtrace/averages/flags.h"
#include "libtrace/averages/stacks.h"

namespace libtrace {
namespace {

enum class Metric : unsigned char { kCpu, kDevice };

Metric metric_of(std::string_view name) {
  if (name == "self_cpu_time_total") return Metric::kCpu;
  for (const std::string_view device :
       {"self_cuda_time_total", "self_xpu_time_total", "self_privateuse1_time_total"}) {
    if (name == device) return Metric::kDevice;
  }
  throw std::invalid_argument(
      "metric should be one of: self_cpu_time_total, self_cuda_time_total, self_xpu_time_total, "
      "self_privateuse1_time_total");
}

// What separates frames, fields and lines becomes "_".
void append_frame(std::string& out, std::string_view frame) {
  for (const char c : frame) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte <= 0x20 || byte == 0x7F || c == ';' ? '_' : c;
  }
}

}  // namespace

std::string stacks_text(const Trace& trace, std::string_view metric) {
  const Metric wanted = metric_of(metric);
  const FunctionEvents events(trace);
  const Stacks stacks(events);
  if (!stacks.any() && !flag_set(trace, "with_stack")) {
    throw std::invalid_argument("export_stacks() requires with_stack");
  }
  std::string out;
  if (!stacks.any()) return out;
  for (const EventId e : events.in_order()) {
    if (stacks.text(e).empty()) continue;
    const std::int64_t us = wanted == Metric::kCpu
                                ? static_cast<std::int64_t>(events.torch_self_cpu_us(e))
                                : events.figures(e).self_device / 1000;
    if (us <= 0 || (wanted == Metric::kCpu && events.what(e) == FunctionEvents::What::kDevice)) {
      continue;
    }
    const std::vector<std::string_view> frames = Stacks::frames(stacks.text(e));
    if (frames.empty()) continue;
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
      if (frame != frames.rbegin()) out += ';';
      append_frame(out, *frame);
    }
    out += ' ';
    out += std::to_string(us);
    out += '\n';
  }
  return out;
}

}  // namespace libtrace
