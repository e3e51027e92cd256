#include "libtrace/model/device.h"

#include <iterator>
#include <string_view>

#include "libtrace/model/whole_number.h"

namespace libtrace {

std::optional<std::int64_t> device_id(const Trace& trace, EventId e) {
  if (const auto id = trace.int_arg(e, "device")) return id;
  const Lane& lane = trace.lanes()[trace.lane_of(e)];
  if (const auto id = whole_number(lane.pid)) return id;
  return whole_number(lane.tid);
}

std::string memory_device_type(std::int32_t number) {
  constexpr std::string_view kNames[] = {"cpu", "cuda", "mkldnn",     "opengl", "opencl", "ideep",
                                         "hip", "fpga", "maia",       "xla",    "vulkan", "metal",
                                         "xpu", "mps",  "meta",       "hpu",    "ve",     "lazy",
                                         "ipu", "mtia", "privateuse1"};
  if (number >= 0 && static_cast<std::size_t>(number) < std::size(kNames)) {
    return std::string(kNames[number]);
  }
  return "device type " + std::to_string(number);
}

}  // namespace libtrace
