// Occupancy against what torch wrote for the same kernels on real devices.
#include "libtrace/cupti/device_info.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "libtrace/record/json.h"

namespace libtrace::cupti {
namespace {

DeviceInfo device(int major, int sms, int threads, int shared_per_sm, int blocks) {
  DeviceInfo d;
  d.compute_major = major;
  d.sms = sms;
  d.max_threads_per_sm = threads;
  d.regs_per_sm = 65536;
  d.shared_per_sm = shared_per_sm;
  d.max_blocks_per_sm = blocks;
  d.reserved_shared_per_block = major >= 8 ? 1024 : 0;
  return d;
}
const DeviceInfo kV100 = device(7, 80, 2048, 98304, 32);
const DeviceInfo k2080 = device(7, 68, 1024, 65536, 16);
const DeviceInfo kA100 = device(8, 108, 2048, 167936, 32);
const DeviceInfo kH100 = device(9, 132, 2048, 233472, 32);

struct Row {
  const DeviceInfo* device;
  std::uint32_t grid, block;
  int registers;
  std::uint32_t shared;
  int percent;  // "est. achieved occupancy %"
};

TEST(DeviceInfo, OccupancyIsTorchs) {
  for (const Row& row : {Row{&kV100, 16, 128, 86, 32768, 1},
                         {&kV100, 160, 64, 126, 8448, 6},
                         {&kV100, 512, 64, 126, 8448, 20},
                         {&kV100, 800, 128, 86, 16384, 31},
                         {&kV100, 128, 512, 64, 144, 40},
                         {&k2080, 8, 128, 46, 2064, 1},
                         {&k2080, 256, 64, 126, 8704, 24},
                         {&kA100, 36, 128, 96, 17408, 2},
                         {&kA100, 256, 128, 90, 49152, 15},
                         {&kA100, 3025, 128, 160, 16384, 19},
                         {&kA100, 3264, 256, 122, 24576, 25},
                         {&kA100, 768, 512, 64, 35904, 50},
                         {&kA100, 864, 256, 47, 0, 63},
                         {&kH100, 16, 128, 255, 49152, 1},
                         {&kH100, 80, 128, 88, 33792, 4},
                         {&kH100, 1280, 128, 255, 49152, 13}}) {
    KernelEvent kernel;
    kernel.block[0] = row.block;
    kernel.block[1] = kernel.block[2] = 1;
    kernel.registers = static_cast<std::uint16_t>(row.registers);
    kernel.dynamic_shared = row.shared;
    const double blocks = std::min(static_cast<double>(row.grid) / row.device->sms,
                                   static_cast<double>(resident_blocks(*row.device, kernel)));
    EXPECT_NEAR(100 * blocks * row.block / row.device->max_threads_per_sm, row.percent, 0.51)
        << row.grid << " x " << row.block;
  }
}

TEST(DeviceInfo, WhatDoesNotFitIsZero) {
  KernelEvent kernel;
  EXPECT_EQ(resident_blocks(kH100, kernel), 0);  // no threads
  kernel.block[0] = 4096;
  kernel.block[1] = kernel.block[2] = 1;
  EXPECT_EQ(resident_blocks(kH100, kernel), 0);
  kernel.block[0] = 256;
  EXPECT_EQ(resident_blocks(kH100, kernel), 8);
  kernel.dynamic_shared = 300'000;
  EXPECT_EQ(resident_blocks(kH100, kernel), 0);
  kernel.block[0] = kernel.block[1] = kernel.block[2] = 0xFFFFFFFF;
  EXPECT_EQ(resident_blocks(kH100, kernel), 0);
  EXPECT_EQ(resident_blocks({}, kernel), 0);
}

TEST(DeviceInfo, HostileNamesStayJson) {
  DeviceInfo d;
  d.name = "GPU \"\\\n\xff";
  EXPECT_EQ(
      devices_json({d}).rfind("[{\"id\": 0, \"name\": " + detail::json_quoted(d.name) + ", ", 0),
      0U);
  EXPECT_TRUE(detail::is_json(devices_json({d, d})));
}

}  // namespace
}  // namespace libtrace::cupti
