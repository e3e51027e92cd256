// The file that a recorded training leaves: read back, nothing is odd about it and nothing is lost.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "examples/libtorch_resnet/training.h"
#include "libtrace/profile.h"
#include "libtrace/tensorboard_trace_handler.h"
#include "libtrace/torch.h"
#include "tb_backend/ingest/ingest.h"
#include "tests/handler/temporary_folder.h"

namespace libtrace {
namespace {

TEST(WrittenByTorch, LoadsWithNothingToReport) {
  const TemporaryFolder folder;
  ASSERT_TRUE(observe_torch().ok());
  Options options;
  options.record_shapes = options.profile_memory = options.with_modules = true;
  Schedule schedule;
  schedule.warmup = schedule.repeat = 1;
  schedule.active = 2;
  options.schedule = Schedule::make(schedule);
  options.on_trace_ready = tensorboard_trace_handler(folder.path());
  Profiler profiler(options);
  example::Training training(2);
  profiler.start();
  for (int step = 0; step < 3; ++step) {
    training.step();
    profiler.step();
  }
  profiler.stop();

  ASSERT_EQ(folder.names().size(), 1U);
  const traceglass::IngestResult read = traceglass::ingest_file(folder.path() / folder.names()[0]);
  ASSERT_FALSE(read.error) << read.error->message;
  const Trace& trace = *read.trace;
  for (const ReportEntry& entry : trace.report().entries()) ADD_FAILURE() << entry.message;
  EXPECT_EQ(difference(*profiler.trace(), trace), "");

  int steps = 0, backward = 0, in_modules = 0;
  for (EventId e = 0; e < trace.size(); ++e) {
    steps += (trace.flags(e) & flag::kStep) != 0 ? 1 : 0;
    if (trace.name(e) == "ConvolutionBackward0") ++backward;
    if (trace.arg(e, "Module Hierarchy")) ++in_modules;
  }
  EXPECT_EQ(steps, 2);
  EXPECT_EQ(backward, 20);
  EXPECT_GT(in_modules, 100);
  EXPECT_GT(trace.memory().size(), 100U);
  // Each backward operator is joined to its forward one.
  std::map<std::int64_t, int> ends;
  for (const Flow& flow : trace.flows()) ++ends[flow.id];
  EXPECT_GT(ends.size(), 50U);
  for (const auto& [id, count] : ends) EXPECT_EQ(count, 2) << "arrow " << id;
}

}  // namespace
}  // namespace libtrace
