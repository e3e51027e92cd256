// What the page is told of a trace: which views have data, why others have none, how far to trust
// it.
#include "tb_backend/analysis/contents.h"

#include <gmock/gmock.h>

#include "tests/tb_backend/analysis/rows.h"

namespace traceglass {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

std::string reason(const Contents& contents, std::string_view view) {
  for (const MissingView& m : contents.missing) {
    if (m.view == view) return m.reason;
  }
  return {};
}

TEST(Contents, ADeviceThatCouldNotBeRecordedIsSaid) {
  testing::Rows rows;
  rows.step(1, 1, 0, 100).op("aten::mm", 1, 10, 50);
  rows.b.add_metadata("cupti_error", R"("Another profiler holds the device.")");
  const libtrace::TracePtr trace = rows.trace();
  const Contents contents = find_contents(*trace);
  EXPECT_THAT(contents.views, Not(Contains("kernels")));
  EXPECT_THAT(reason(contents, "kernels"), HasSubstr("Another profiler holds the device."));
  const libtrace::ReportEntry* entry = trace->report().find("no_device_events");
  ASSERT_NE(entry, nullptr);
  EXPECT_THAT(entry->message, HasSubstr("Another profiler holds the device."));
  EXPECT_EQ(judge(trace->report()).grade, 'D');
}

TEST(Contents, AHostOnlyTraceThatAskedForNothingElseIsWhole) {
  testing::Rows rows;
  rows.step(1, 1, 0, 100).op("aten::mm", 1, 10, 50);
  const libtrace::TracePtr trace = rows.trace();
  EXPECT_EQ(judge(trace->report()).grade, 'A');
  const Contents contents = find_contents(*trace);
  EXPECT_EQ(reason(contents, "kernels"),
            "No device events: record with ProfilerActivity.CUDA (C++: Activities::cuda()).");
  EXPECT_EQ(reason(contents, "memory"),
            "No memory events: record with profile_memory=True (C++: .profile_memory = true).");
  EXPECT_THAT(reason(contents, "modules"), HasSubstr(".with_modules = true and ModuleScope"));
  EXPECT_THAT(reason(contents, "roofline"), HasSubstr("(C++: .record_shapes = true)"));
}

}  // namespace
}  // namespace traceglass
