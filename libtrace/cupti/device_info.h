// What a device is, asked of the driver alone, and how full a kernel of given needs can make it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libtrace/cupti/driver.h"
#include "libtrace/cupti/event_log.h"

namespace libtrace::cupti {

struct DeviceInfo {
  int id = 0;
  std::string name;
  std::size_t memory = 0;  // bytes
  int compute_major = 0, compute_minor = 0, max_threads_per_block = 0, max_threads_per_sm = 0,
      regs_per_block = 0, warp_size = 32, shared_per_block = 0, sms = 0, regs_per_sm = 0,
      shared_per_block_optin = 0, shared_per_sm = 0, max_blocks_per_sm = 0,
      reserved_shared_per_block = 0;
};

std::vector<DeviceInfo> read_devices(const DriverApi& driver);
// The trace's `deviceProperties`, a JSON array.
std::string devices_json(const std::vector<DeviceInfo>& devices);

// Blocks of this kernel that one SM holds at a time, by its threads, registers and shared memory;
// 0 when the device is not known well enough.
int resident_blocks(const DeviceInfo& device, const KernelEvent& kernel) noexcept;

}  // namespace libtrace::cupti
