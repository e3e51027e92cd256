// Every way in which there is no GPU to record ends in a recording without rows that says why.
#include "libtrace/cupti/refusal.h"

#include <gmock/gmock.h>

#include "recorded.h"

namespace libtrace::cupti {
namespace {

using testing::HasSubstr;
using testing::Not;

// The whole way: prepare says it, start and stop do nothing, the recording says the same.
void expect_refused(Window& window, std::string_view why, std::string_view advice) {
  const Status status = window.prepare();
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.message(), HasSubstr(why));
  EXPECT_THAT(status.message(), HasSubstr("GPU work was not recorded."));
  window.start();
  window.stop();
  EXPECT_EQ(window.trace()->size(), 0U);
  EXPECT_THAT(window.metadata("cupti_error"), HasSubstr(why));
  EXPECT_THAT(window.metadata("cupti_advice"), HasSubstr(advice));
  EXPECT_THAT(window.metadata("deviceProperties"), testing::StartsWith("["));
  // And again, as the next cycle does.
  EXPECT_FALSE(window.prepare().ok());
}

TEST(Refusal, NoDriver) {
  Fake fake;
  fake.options.cuda_library = "libcuda_of_no_machine.so.1";
  Window window(fake);
  expect_refused(window, "There is no CUDA driver here", "Without a GPU ask for CPU activities");
  EXPECT_EQ(fake.calls(), "");  // nothing in CUPTI
}

struct DriverCase {
  int init, devices;
  const char *why, *advice;
};
class DriverRefusal : public testing::TestWithParam<DriverCase> {};
TEST_P(DriverRefusal, NothingOfCuptiIsCalled) {
  const Fake fake;
  fake.cuda("init", GetParam().init);
  fake.cuda("devices", GetParam().devices);
  Window window(fake);
  expect_refused(window, GetParam().why, GetParam().advice);
  EXPECT_EQ(fake.calls(), "");
}
INSTANTIATE_TEST_SUITE_P(
    Refusal, DriverRefusal,
    testing::Values(DriverCase{100, 1, "finds no device", "CUDA_VISIBLE_DEVICES"},
                    DriverCase{0, 0, "finds no device", "CUDA_VISIBLE_DEVICES"},
                    DriverCase{803, 1, "cuInit answers CUresult (803)", "reboot"},
                    DriverCase{34, 1, "cuInit answers CUresult (34)", "stub"},
                    DriverCase{999, 1, "cuInit answers CUresult (999)", "nvidia-smi"}));

// The search itself: loader_test.cc.
TEST(Refusal, NoCuptiNamesThePackageOfTheDriversRelease) {
  const Refusal refusal = no_cupti(12090, "libcupti.so.12: cannot open shared object file");
  EXPECT_THAT(refusal.why, HasSubstr("was not found (libcupti.so.12: cannot open"));
  EXPECT_THAT(refusal.advice, HasSubstr("CUDA 12.9 or older"));
  EXPECT_THAT(refusal.advice, HasSubstr("nvidia-cuda-cupti-cu12;"));
  EXPECT_THAT(no_cupti(13000, "").advice, HasSubstr("nvidia-cuda-cupti;"));
}

TEST(Refusal, WrongLibrary) {
  Fake fake;
  fake.options.cupti_library = std::string(FAKES_FOLDER) + "/wrong/libcupti.so.13";
  Window window(fake);
  expect_refused(window, "it lacks cuptiGetResultString, cuptiGetCallbackName",
                 "LIBTRACE_CUPTI_LIB");
}

TEST(Refusal, NamedFileIsNotThere) {
  Fake fake;
  fake.options.cupti_library = "/nowhere/libcupti.so.12";
  Window window(fake);
  expect_refused(window, "/nowhere/libcupti.so.12 cannot serve as CUPTI", "LIBTRACE_CUPTI_LIB");
}

TEST(Refusal, TooOld) {
  const Fake fake("11", 12);
  Window window(fake);
  expect_refused(window, "older than CUDA 11.0 (API version 12)", "CUDA 11.0 or later");
  EXPECT_EQ(fake.calls(), "GetVersion ");
}

TEST(Refusal, AnotherSubscriberIsNamedAndLeftAlone) {
  const Fake fake;
  fake.run("fail Subscribe_v2 39");
  Window window(fake);
  expect_refused(window, "Another profiler holds CUPTI in this process, Nsight Systems (",
                 "CUPTI serves one at a time");
  // NVIDIA: make no further call after this answer. (GetResultString only translates it.)
  EXPECT_EQ(fake.calls(), "GetVersion Subscribe_v2 GetResultString ");
}

struct CuptiCase {
  const char* call;
  int code;
  const char *why, *advice;
};
class CuptiRefusal : public testing::TestWithParam<CuptiCase> {};
TEST_P(CuptiRefusal, LeavesNothingEnabled) {
  const Fake fake;
  fake.run(std::string("fail ") + GetParam().call + " " + std::to_string(GetParam().code));
  Window window(fake);
  expect_refused(window, GetParam().why, GetParam().advice);
  // Whoever comes next finds CUPTI free: the fake dies on kinds left enabled, and another session
  // can begin.
  window.source().release();
  fake.run(std::string("fail ") + GetParam().call + " 0");
  Window next(fake);
  EXPECT_TRUE(next.prepare().ok());
}
INSTANTIATE_TEST_SUITE_P(
    Refusal, CuptiRefusal,
    testing::Values(
        CuptiCase{"Subscribe_v2", 35, "may not profile", "NVreg_RestrictProfilingToAdminUsers"},
        CuptiCase{"Subscribe_v2", 40, "virtual GPU", "vGPU"},
        CuptiCase{"Subscribe_v2", 41, "confidential", "devtools"},
        CuptiCase{"Subscribe_v2", 15, "CUPTI does not start", "newer than the driver"},
        CuptiCase{"Subscribe_v2", 2, "does not support this device", "knows the device"},
        CuptiCase{"Subscribe_v2", 999, "refuses to record", "documentation"},
        CuptiCase{"ActivityRegisterCallbacks", 1, "cuptiActivityRegisterCallbacks", "CUPTI"},
        CuptiCase{"ActivityEnable:10", 35, "may not profile", "administrator"},
        CuptiCase{"ActivityEnable:5", 15, "CUPTI does not start", "driver"},
        CuptiCase{"ActivityEnable:1", 27, "cuptiActivityEnable", "CUPTI"}),
    [](const auto& info) { return std::to_string(info.index); });

TEST(Refusal, AKindThatIsNotEssentialIsNamedInstead) {
  const Fake fake;
  fake.run("fail ActivityEnable:17 1\nfail ActivityEnable:22 27");
  Window window(fake);
  window.record(fake, "launch");
  EXPECT_EQ(window.metadata("cupti_error"), "");
  EXPECT_EQ(window.metadata("cupti_not_recorded"), "\"copies between devices, overhead\"");
  EXPECT_EQ(window.trace()->size(), 2U);
}

TEST(Refusal, EndsWhenTheOtherSubscriberIsGone) {
  const Fake fake;
  fake.run("fail Subscribe_v2 39");
  Window window(fake);
  EXPECT_FALSE(window.prepare().ok());
  window.start();
  window.stop();
  fake.run("fail Subscribe_v2 0");
  EXPECT_FALSE(window.prepare().ok()) << "left alone for the session";
  window.source().release();
  EXPECT_TRUE(window.prepare().ok());
  window.start();
  fake.run("launch");
  window.stop();
  EXPECT_EQ(window.trace()->size(), 2U);
  EXPECT_EQ(window.metadata("cupti_error"), "");
}

TEST(Refusal, APauseThatCannotBeEndedKeepsWhatWasRecorded) {
  const Fake fake;
  Window window(fake);
  ASSERT_TRUE(window.prepare().ok());
  window.start();
  fake.run("launch kernel=before");
  window.source().set_collecting(false);
  fake.run("fail ActivityEnable:10 35");
  window.source().set_collecting(true);
  fake.run("launch kernel=after");
  window.stop();
  EXPECT_TRUE(find(*window.trace(), "before"));
  EXPECT_FALSE(find(*window.trace(), "after"));
  EXPECT_THAT(window.metadata("cupti_error"), HasSubstr("may not profile"));
}

TEST(Refusal, AFailingDriverAtTheEndIsNotAskedAgain) {
  const Fake fake;
  Window window(fake);
  ASSERT_TRUE(window.prepare().ok());
  window.start();
  fake.cuda("gone", 1);  // the process is exiting, the driver has ended
  window.stop();
  EXPECT_THAT(fake.calls(), Not(HasSubstr("ActivityFlushAll")));
  window.source().release();
  EXPECT_THAT(fake.calls(), Not(HasSubstr("Unsubscribe")));
}

}  // namespace
}  // namespace libtrace::cupti
