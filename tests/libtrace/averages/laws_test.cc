// What holds for every trace, generated or hostile.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string>

#include "libtrace/averages/function_events.h"
#include "libtrace/averages/memory_timeline.h"
#include "libtrace/key_averages.h"
#include "tests/libtrace/averages/builder.h"
#include "tests/libtrace/model/generate.h"

namespace libtrace {
namespace {

using testing::Rows;

KeyAveragesOptions options(int which) {
  KeyAveragesOptions o;
  o.group_by_input_shape = (which & 1) != 0;
  o.group_by_stack_n = (which & 2) != 0 ? 3 : 0;
  o.group_by_overload_name = (which & 4) != 0;
  return o;
}

TEST(AveragesLaws, SumsOfGeneratedTraces) {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    const TracePtr trace = testing::Generator(seed).trace();
    const FunctionEvents events(*trace);
    std::int64_t listed = static_cast<std::int64_t>(events.loose_memory().size());
    std::int64_t self = 0, device = 0;
    for (EventId e = 0; e < trace->size(); ++e) {
      const FunctionEvents::What what = events.what(e);
      listed += what != FunctionEvents::What::kNo;
      const FunctionEvents::Figures f = events.figures(e);
      // Crossing ranges can be children of one parent, and torch takes both out of its self time.
      EXPECT_TRUE(f.self_cpu >= 0 || trace->report().count("crossing") > 0);
      EXPECT_LE(f.self_cpu, f.cpu);
      EXPECT_LE(f.self_device, f.device);
      self += f.self_cpu;
      if (what == FunctionEvents::What::kHost) device += f.self_device;
      if (const EventId p = events.parent(e); p != kNone) {
        EXPECT_GE(trace->start(e), trace->start(p));
        EXPECT_LE(trace->end(e), trace->end(p));
      }
    }
    const KeyAverages plain = key_averages(*trace);
    const KeyAverage total = plain.total_average();
    EXPECT_EQ(plain.empty() ? 0 : total.count, listed);
    EXPECT_EQ(total.self_cpu_time_total_ns, self);
    EXPECT_EQ(plain.self_cpu_time_total_ns(), self);
    std::int64_t host_device = 0;
    for (const KeyAverage& r : plain) {
      if (r.device_type == "cpu") host_device += r.self_device_time_total_ns;
    }
    EXPECT_EQ(host_device, device);
    // However rows are told apart, they say the same together.
    for (int which = 1; which < 8; ++which) {
      const KeyAverage t = key_averages(*trace, options(which)).total_average();
      EXPECT_EQ(t.count, total.count);
      EXPECT_EQ(t.cpu_time_total_ns, total.cpu_time_total_ns);
      EXPECT_EQ(t.self_cpu_memory_usage, total.self_cpu_memory_usage);
      EXPECT_EQ(t.device_time_total_ns, total.device_time_total_ns);
    }
  }
}

TEST(AveragesLaws, AnyNameIsOneRow) {
  const std::string names[] = {"",
                               std::string("a\0b", 3),
                               "line\nline",
                               "\xFF\xFE",
                               "\"quoted\", cut",
                               std::string(1 << 20, 'n'),
                               "\xF0\x9F\x9A\x80",
                               "%s%n",
                               "a.b::c.d"};
  Rows r;
  double at = 0;
  for (const std::string& name : names) {
    r.text("Call stack", name + ";" + name).json("Input Dims", name).op(name, at += 10, 5);
  }
  const TracePtr trace = r.flag("with_flops").flag("profile_memory").finish();
  for (int which = 0; which < 8; ++which) {
    const KeyAverages a = key_averages(*trace, options(which));
    EXPECT_EQ(a.size(), std::size(names));
    const std::string table = a.table();
    std::size_t stacks = 0;
    for (const KeyAverage& row : a) stacks += std::max<std::size_t>(row.stack.size(), 1);
    const bool with_stacks = (which & 2) != 0;
    const std::size_t lines = with_stacks ? stacks + a.size() : a.size();
    EXPECT_EQ(static_cast<std::size_t>(std::count(table.begin(), table.end(), '\n')), lines + 5);
    EXPECT_EQ(table.find('\0'), std::string::npos);
    EXPECT_LT(table.size(), 100'000U);
  }
}

TEST(AveragesLaws, SumsThatFitNowhereStopAtTheBound) {
  Rows r;
  for (int i = 0; i < 3; ++i) {
    r.json("Input Dims", "[[9223372036854775807]]").op("aten::mul", 10 * i, 5);
    r.memory(10 * i + 1, INT64_MAX).memory(10 * i + 2, INT64_MIN);
  }
  const TracePtr trace = r.flag("with_flops").flag("record_shapes").flag("with_stack").finish();
  const KeyAverages a = key_averages(*trace);
  EXPECT_EQ(a.rows()[0].flops, INT64_MAX);
  EXPECT_NE(a.table().find("PFLOPs"), std::string::npos);
  const MemoryTimeline memory = memory_timeline(*trace);
  EXPECT_FALSE(memory.html().empty());
  EXPECT_FALSE(memory.json().empty());
}

TEST(AveragesLaws, HalfAMillionEventsTakeWellUnderASecond) {
  TraceBuilder b;
  const StringId pid = b.intern("1"), cpu_op = b.intern("cpu_op"),
                 range = b.intern("user_annotation");
  std::vector<StringId> names;
  for (int i = 0; i < 200; ++i) names.push_back(b.intern("aten::op_" + std::to_string(i)));
  const StringId dims = b.intern("Input Dims");
  constexpr int kEvents = 500'000;
  for (int i = 0; i < kEvents; i += 5) {
    const StringId tid = b.intern(std::to_string(i / 50'000));
    b.add_slice({i * 1000, 4000, b.intern("step"), range, pid, tid});
    for (int k = 0; k < 4; ++k) {
      b.arg(dims, Value::json("[[" + std::to_string(i % 97) + ", 8], [8, 3], []]"));
      const auto name = static_cast<std::size_t>((i * 7 + k) % 200);
      b.add_slice({i * 1000 + k * 900, 850, names[name], cpu_op, pid, tid});
    }
    MemoryEvent m;
    m.at = i * 1000 + 100;
    m.bytes = 64;
    b.add_memory(m, pid, tid);
  }
  const TracePtr trace = b.finish();
  for (int which : {0, 1, 7}) {
    const auto start = std::chrono::steady_clock::now();
    const KeyAverages a = key_averages(*trace, options(which));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    EXPECT_GT(a.size(), 100U);
    RecordProperty("ns_per_event_" + std::to_string(which),
                   std::to_string(took.count() / kEvents * 1e9));
    std::printf("  options %d: %.0f ns an event, %zu rows\n", which, took.count() / kEvents * 1e9,
                a.size());
#ifdef NDEBUG  // optimised
    EXPECT_LT(took.count(), 5) << "an order of magnitude above what it takes";
#endif
  }
}

}  // namespace
}  // namespace libtrace
