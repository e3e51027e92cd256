// A recorded trace to the byte, under a clock that the test sets.
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

#include "handler/chrome_writer.h"
#include "libtrace/profile.h"
#include "libtrace/range.h"
#include "libtrace/record/clock.h"
#include "tests/handler/reader_rules.h"
#include "tests/handler/string_sink.h"

namespace {
constexpr std::int64_t kRealTime = -1;
std::atomic<std::int64_t> now_ns{kRealTime};  // of all clocks, but for the date of the wall's
constexpr std::int64_t kDateNs = 1'700'000'000'000'000'000;
}  // namespace

// In place of the C library's, in this binary.
extern "C" int clock_gettime(clockid_t id, timespec* t) noexcept {
  const std::int64_t now = now_ns.load();
  if (now == kRealTime) return static_cast<int>(syscall(SYS_clock_gettime, id, t));
  const std::int64_t ns = id == CLOCK_REALTIME ? kDateNs + now : now;
  t->tv_sec = ns / 1'000'000'000;
  t->tv_nsec = ns % 1'000'000'000;
  return 0;
}

namespace libtrace {
namespace {

// A process or thread id where one stands, whatever its digits.
void replace_id(std::string& text, pid_t id, std::string_view name) {
  const std::string digits = std::to_string(id);
  for (const std::string_view before :
       {"\"pid\":", "\"tid\":", "\"sort_index\":", "\"Begin thread id\":", "\"End thread id\":",
        "\"thread "}) {
    const std::string from = std::string(before) + digits;
    for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += before.size()) {
      const char next = text[at + from.size()];
      if (next >= '0' && next <= '9') continue;
      text.replace(at + before.size(), digits.size(), name);
    }
  }
}

// clang-format off
constexpr std::string_view kGolden = R"json({
"schemaVersion": 1,
"deviceProperties": [],
"distributedInfo": {"backend": "gloo", "rank": 1, "world_size": 2},
"trace_id": "an id",
"profile_memory": 1,
"record_shapes": 1,
"with_modules": 1,
"host_name": "HOST",
"mine": "a \"note\"",
"displayTimeUnit": "ms",
"baseTimeNanoseconds": 1700000000000000000,
"traceEvents": [
{"ph":"M","name":"process_sort_index","ts":1000.000,"pid":"Spans","tid":0,"args":{"sort_index":536870912}},
{"ph":"M","name":"process_name","ts":1000.000,"pid":MAIN,"tid":0,"args":{"name":"golden"}},
{"ph":"M","name":"process_labels","ts":1000.000,"pid":MAIN,"tid":0,"args":{"labels":"CPU"}},
{"ph":"M","name":"process_sort_index","ts":1000.000,"pid":MAIN,"tid":0,"args":{"sort_index":MAIN}},
{"ph":"M","name":"thread_name","ts":1000.000,"pid":MAIN,"tid":MAIN,"args":{"name":"thread MAIN (golden)"}},
{"ph":"M","name":"thread_sort_index","ts":1000.000,"pid":MAIN,"tid":MAIN,"args":{"sort_index":MAIN}},
{"ph":"M","name":"thread_name","ts":1000.000,"pid":MAIN,"tid":1000000000,"args":{"name":"async ranges 1"}},
{"ph":"M","name":"thread_sort_index","ts":1000.000,"pid":MAIN,"tid":1000000000,"args":{"sort_index":1000000000}},
{"ph":"M","name":"thread_name","ts":1000.000,"pid":MAIN,"tid":WORKER,"args":{"name":"thread WORKER (other)"}},
{"ph":"M","name":"thread_sort_index","ts":1000.000,"pid":MAIN,"tid":WORKER,"args":{"sort_index":WORKER}},
{"ph":"X","cat":"Trace","name":"PyTorch Profiler (0)","pid":"Spans","tid":"PyTorch Profiler","ts":1000.000,"dur":70.000},
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#0","pid":MAIN,"tid":MAIN,"ts":1000.000,"dur":70.000,"args":{"External id":1,"Ev Idx":0}},
{"ph":"X","cat":"python_function","name":"nn.Module: fc_0","pid":MAIN,"tid":MAIN,"ts":1010.000,"dur":30.000,"args":{"Python id":1,"Python module id":0,"Ev Idx":1}},
{"ph":"X","cat":"cpu_op","name":"aten::addmm","pid":MAIN,"tid":MAIN,"ts":1020.000,"dur":10.000,"args":{"External id":3,"Ev Idx":2,"Record function id":0,"Sequence number":9,"Fwd thread id":0,"Concrete Inputs":["","1"],"Input type":["float","Scalar"],"Input Strides":[[3,1],[]],"Input Dims":[[8,3],[]],"batch":4,"Module Hierarchy":"fc"}},
{"ph":"X","cat":"user_annotation","name":"request","pid":MAIN,"tid":1000000000,"ts":1040.000,"dur":20.000,"args":{"External id":4,"Ev Idx":3,"async":true,"Begin thread id":MAIN,"End thread id":WORKER}},
{"ph":"X","cat":"cpu_op","name":"AddmmBackward0","pid":MAIN,"tid":WORKER,"ts":1050.000,"dur":10.000,"args":{"External id":5,"Ev Idx":4,"Record function id":0,"Sequence number":9,"Fwd thread id":1}},
{"ph":"i","cat":"cpu_instant_event","s":"t","name":"[memory]","pid":MAIN,"tid":MAIN,"ts":1020.000,"args":{"Bytes":96,"Addr":64,"Total Allocated":96,"Device Type":0,"Device Id":-1}},
{"ph":"i","s":"g","name":"Iteration Start: PyTorch Profiler","pid":"Traces","tid":"Trace PyTorch Profiler","ts":1000.000},
{"ph":"i","s":"t","cat":"cpu_instant_event","name":"half way","pid":MAIN,"tid":WORKER,"ts":1060.000},
{"ph":"C","name":"queue","pid":MAIN,"tid":WORKER,"ts":1060.000,"args":{"value":2.5}},
{"ph":"i","s":"g","name":"Record Window End","pid":"","tid":"","ts":1070.000},
{"ph":"s","id":1,"cat":"fwdbwd","name":"fwdbwd","pid":MAIN,"tid":MAIN,"ts":1020.000},
{"ph":"f","id":1,"cat":"fwdbwd","name":"fwdbwd","pid":MAIN,"tid":WORKER,"ts":1050.000,"bp":"e"}
]}
)json";
// clang-format on

class FakeClock {
 public:
  FakeClock() {
    select_best_clock();
    was_ = detail::use_tsc.load() ? ClockSource::kTsc : ClockSource::kMonotonic;
    ClockMap::process_ns_per_tick();  // measured under the real one
    select_clock(ClockSource::kMonotonic);
    set_us(1'000);
  }
  ~FakeClock() {
    now_ns.store(kRealTime);
    select_clock(was_);
  }
  FakeClock(const FakeClock&) = delete;
  FakeClock& operator=(const FakeClock&) = delete;
  static void set_us(std::int64_t us) { now_ns.store(us * 1000); }

 private:
  ClockSource was_;
};

// The file's text with what differs from run to run replaced.
std::string written(const Trace& trace, pid_t worker) {
  StringSink sink;
  EXPECT_TRUE(write_chrome_trace(trace, sink).ok());
  std::string text = sink.text;
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  const std::string quoted = "\"host_name\": \"" + std::string(host);
  text.replace(text.find(quoted), quoted.size(), "\"host_name\": \"HOST");
  replace_id(text, worker, "WORKER");
  replace_id(text, getpid(), "MAIN");
  return text;
}

TEST(RecordedGolden, EveryKindOfRow) {
  char name[16] = {};
  prctl(PR_GET_NAME, name);
  prctl(PR_SET_NAME, "golden");
  const FakeClock clock;
  Options options;
  options.schedule = schedule(0, 0, 1, 1);
  options.record_shapes = options.profile_memory = options.with_modules = true;
  options.distributed = DistributedInfo{"gloo", 1, 2};
  options.custom_trace_id = [] { return "an id"; };
  Profiler profiler(options);
  profiler.add_metadata("mine", "a \"note\"");
  profiler.start();
  pid_t worker = 0;
  {
    clock.set_us(1'010);
    const ModuleScope module("fc");
    const std::array<std::int64_t, 2> sizes{8, 3}, strides{3, 1};
    Input tensor;
    tensor.kind = Input::Kind::kTensor;
    tensor.dims = 2;
    tensor.sizes = sizes.data();
    tensor.strides = strides.data();
    tensor.type = "float";
    Input scalar;
    scalar.kind = Input::Kind::kScalar;
    scalar.value = "1";
    const std::array<Input, 2> inputs{tensor, scalar};
    const RangeArg arg{"batch", Value::integer(4)};
    RangeDetails details;
    details.inputs = inputs.data();
    details.input_count = 2;
    details.args = &arg;
    details.arg_count = 1;
    details.sequence_number = 9;
    details.thread = 1;
    clock.set_us(1'020);
    {
      const RecordFunction op("aten::addmm", RecordScope::kFunction, details);
      MemoryReport report;
      report.address = 64;
      report.bytes = 96;
      report_memory(report);
      clock.set_us(1'030);
    }
    clock.set_us(1'040);
  }
  AsyncRange request("request");
  clock.set_us(1'050);
  std::thread([&] {
    worker = gettid();
    prctl(PR_SET_NAME, "other");
    RangeDetails details;
    details.sequence_number = 9;
    details.thread = 2;
    details.forward_thread = 1;
    const RecordFunction op("AddmmBackward0", RecordScope::kFunction, details);
    clock.set_us(1'060);
    request.end();
    mark("half way");
    count("queue", 2.5);
  }).join();
  clock.set_us(1'070);
  profiler.step();
  profiler.stop();
  prctl(PR_SET_NAME, name);
  const std::string text = written(*profiler.trace(), worker);
  EXPECT_EQ(text, std::string(kGolden));
  StringSink sink;
  EXPECT_TRUE(write_chrome_trace(*profiler.trace(), sink).ok());
  for (const std::string& broken : testing::broken_rules(sink.text)) ADD_FAILURE() << broken;
}

}  // namespace
}  // namespace libtrace
