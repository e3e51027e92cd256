// A Profiler's results: the calls that torch.profiler has as methods.
#include "libtrace/results.h"

#include <gtest/gtest.h>

#include <fstream>
#include <stdexcept>
#include <string>

#include "libtrace/averages/memory_timeline.h"
#include "libtrace/memory_tags.h"
#include "libtrace/record_function.h"
#include "tests/handler/temporary_folder.h"

namespace libtrace {
namespace {

void work() {
  const RecordFunction outer("outer");
  for (int i = 0; i < 3; ++i) const RecordFunction inner("inner");
}

const KeyAverage* row(const KeyAverages& averages, std::string_view key) {
  for (const KeyAverage& r : averages) {
    if (r.key == key) return &r;
  }
  return nullptr;
}

TEST(Results, OfARecordedCycle) {
  Options options;
  options.profile_memory = options.record_shapes = options.with_stack = true;
  Profiler profiler(options);
  const TemporaryFolder folder;
  const auto path = [&](const char* name) { return (folder.path() / name).string(); };
  EXPECT_THROW(key_averages(profiler), std::logic_error);
  profiler.start();
  work();
  EXPECT_THROW(key_averages(profiler), std::logic_error);
  EXPECT_THROW((void)export_chrome_trace(profiler, path("x.json")), std::logic_error);
  EXPECT_THROW(export_to_tensorboard(profiler, folder.path()), std::logic_error);
  profiler.stop();

  const KeyAverages averages = key_averages(profiler);
  ASSERT_NE(row(averages, "inner"), nullptr);
  EXPECT_EQ(row(averages, "inner")->count, 3);
  EXPECT_EQ(row(averages, "outer")->count, 1);
  EXPECT_EQ(
      row(averages, "outer")->self_cpu_time_total_ns + row(averages, "inner")->cpu_time_total_ns,
      row(averages, "outer")->cpu_time_total_ns);
  TableOptions table;
  table.sort_by = "cpu_time_total";
  EXPECT_NE(averages.table(table).find("CPU Mem"), std::string::npos);

  // Again and again, and each is whole.
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(export_chrome_trace(profiler, path("trace.json")).ok());
    EXPECT_TRUE(export_chrome_trace(profiler, path("trace.json.gz")).ok());
    EXPECT_TRUE(export_stacks(profiler, path("stacks")).ok());
    EXPECT_TRUE(export_memory_timeline(profiler, path("memory.html")).ok());
  }
  export_to_tensorboard(profiler, folder.path() / "logs", "worker", true);
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"logs", "memory.html", "stacks", "trace.json",
                                                      "trace.json.gz"}));
  EXPECT_THROW((void)export_stacks(profiler, path("x"), "time"), std::invalid_argument);
}

TEST(Results, MemoryIsWhatTheProgramSaysItIs) {
  Options options;
  options.profile_memory = options.record_shapes = options.with_stack = true;
  Profiler profiler(options);
  profiler.start();
  const auto allocate = [](std::uint64_t address, std::int64_t bytes) {
    MemoryReport report;
    report.address = address;
    report.bytes = bytes;
    report_memory(report);
  };
  allocate(0x1000, 10);
  tag_parameter(reinterpret_cast<const void*>(0x1000));
  {
    const MemoryCategoryScope scope(MemoryCategory::kInput);
    allocate(0x2000, 20);
  }
  allocate(0x3000, 30);
  profiler.stop();
  const MemoryTimeline timeline = memory_timeline(*profiler.trace());
  std::vector<std::string> got;
  for (const auto& r : timeline.rows) {
    got.push_back(std::to_string(r.bytes) + std::string(memory_category_name(r.category)));
  }
  EXPECT_EQ(got, (std::vector<std::string>{"10PARAMETER", "20INPUT", "30Unknown"}));
}

TEST(Results, AccumulatedOverCycles) {
  for (const bool accumulate : {false, true}) {
    Options options;
    options.schedule = Schedule::make({0, 1, 1, 2});  // two cycles of one step
    options.accumulate_events = accumulate;
    Profiler profiler(options);
    profiler.start();
    for (int step = 0; step < 4; ++step) {
      work();
      profiler.step();
    }
    profiler.stop();
    EXPECT_EQ(row(key_averages(profiler), "inner")->count, accumulate ? 6 : 3);
    EXPECT_EQ(row(key_averages(profiler), "ProfilerStep*")->count, accumulate ? 2 : 1);
  }
}

}  // namespace
}  // namespace libtrace
