#include "libtrace/cupti/device_info.h"

#include <algorithm>

#include "libtrace/record/json.h"

namespace libtrace::cupti {
namespace {

int round_up(int value, int unit) noexcept { return (value + unit - 1) / unit * unit; }

}  // namespace

std::vector<DeviceInfo> read_devices(const DriverApi& driver) {
  std::vector<DeviceInfo> devices;
  for (int i = 0; i < driver.device_count; ++i) {
    CudaDevice device = 0;
    if (driver.DeviceGet(&device, i) != kSuccess) continue;
    DeviceInfo info;
    info.id = i;
    char name[256] = {};
    driver.DeviceGetName(name, sizeof name - 1, device);
    info.name = name;
    driver.DeviceTotalMem(&info.memory, device);
    const auto get = [&](DeviceAttribute attribute, int& value) {
      int answer = 0;
      if (driver.DeviceGetAttribute(&answer, attribute, device) == kSuccess) value = answer;
    };
    get(DeviceAttribute::kComputeMajor, info.compute_major);
    get(DeviceAttribute::kComputeMinor, info.compute_minor);
    get(DeviceAttribute::kMaxThreadsPerBlock, info.max_threads_per_block);
    get(DeviceAttribute::kMaxThreadsPerSm, info.max_threads_per_sm);
    get(DeviceAttribute::kRegsPerBlock, info.regs_per_block);
    get(DeviceAttribute::kWarpSize, info.warp_size);
    get(DeviceAttribute::kSharedMemPerBlock, info.shared_per_block);
    get(DeviceAttribute::kNumSms, info.sms);
    get(DeviceAttribute::kRegsPerSm, info.regs_per_sm);
    get(DeviceAttribute::kSharedMemPerBlockOptin, info.shared_per_block_optin);
    get(DeviceAttribute::kSharedMemPerSm, info.shared_per_sm);
    get(DeviceAttribute::kMaxBlocksPerSm, info.max_blocks_per_sm);
    get(DeviceAttribute::kReservedSharedMemPerBlock, info.reserved_shared_per_block);
    devices.push_back(std::move(info));
  }
  return devices;
}

std::string devices_json(const std::vector<DeviceInfo>& devices) {
  std::string json = "[";
  for (const DeviceInfo& d : devices) {
    if (json.size() > 1) json += ", ";
    json += "{\"id\": " + std::to_string(d.id) + ", \"name\": " + detail::json_quoted(d.name) +
            ", \"totalGlobalMem\": " + std::to_string(d.memory);
    const auto number = [&](const char* key, int value) {
      json += std::string(", \"") + key + "\": " + std::to_string(value);
    };
    number("computeMajor", d.compute_major);
    number("computeMinor", d.compute_minor);
    number("maxThreadsPerBlock", d.max_threads_per_block);
    number("maxThreadsPerMultiprocessor", d.max_threads_per_sm);
    number("regsPerBlock", d.regs_per_block);
    number("warpSize", d.warp_size);
    number("sharedMemPerBlock", d.shared_per_block);
    number("numSms", d.sms);
    number("regsPerMultiprocessor", d.regs_per_sm);
    number("sharedMemPerBlockOptin", d.shared_per_block_optin);
    number("sharedMemPerMultiprocessor", d.shared_per_sm);
    json += "}";
  }
  return json + "]";
}

// NVIDIA's published rules for compute capability 3.5 and later: registers are given to whole
// warps in units of 256, warps in fours; shared memory in units of 128 bytes (256 before 8.0).
int resident_blocks(const DeviceInfo& device, const KernelEvent& kernel) noexcept {
  double threads = 1;  // exact far beyond what a block may have
  for (const std::uint32_t n : kernel.block) threads *= n;
  if (device.max_threads_per_sm <= 0 || device.warp_size <= 0 || threads < 1 ||
      threads > device.max_threads_per_sm) {
    return 0;
  }
  const int warps = (static_cast<int>(threads) + device.warp_size - 1) / device.warp_size;
  int blocks = device.max_threads_per_sm / device.warp_size / warps;
  if (device.max_blocks_per_sm > 0) blocks = std::min(blocks, device.max_blocks_per_sm);
  if (kernel.registers > 0 && device.regs_per_sm > 0) {
    const int per_warp = round_up(kernel.registers * device.warp_size, 256);
    constexpr int kSchedulers = 4;
    const int most_warps = device.regs_per_sm / kSchedulers / per_warp * kSchedulers;
    blocks = std::min(blocks, most_warps / warps);
  }
  const std::uint64_t shared = std::uint64_t{kernel.static_shared} + kernel.dynamic_shared +
                               static_cast<std::uint64_t>(device.reserved_shared_per_block);
  if (shared > 0 && device.shared_per_sm > 0) {
    if (shared > static_cast<std::uint64_t>(device.shared_per_sm)) return 0;
    const int unit = device.compute_major >= 8 ? 128 : 256;
    blocks = std::min(blocks, device.shared_per_sm / round_up(static_cast<int>(shared), unit));
  }
  return blocks;
}

}  // namespace libtrace::cupti
