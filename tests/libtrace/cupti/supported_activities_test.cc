#include "libtrace/supported_activities.h"

#include <gtest/gtest.h>

#include "fake.h"

namespace libtrace::cupti {
namespace {

TEST(SupportedActivities, AreThoseOfAnInstalledDriverWhichIsNotStarted) {
  // The fake driver is found by its name, as every driver is.
  EXPECT_EQ(supported_activities(), Activities::cpu() | Activities::cuda());
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(driver, nullptr);
  auto* const count = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDeviceGetCount"));
  int devices = 0;
  if (count(&devices) == 0) GTEST_SKIP() << "an earlier test of this process started it";
  EXPECT_EQ(count(&devices), 3);  // not initialised
}

}  // namespace
}  // namespace libtrace::cupti
