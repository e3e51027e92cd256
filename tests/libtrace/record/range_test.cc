// What ranges carry beyond their names, and ranges that end elsewhere.
#include "libtrace/range.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "libtrace/profile.h"
#include "tests/libtrace/record/lookup.h"

namespace libtrace {
namespace {

using testing::arg;
using testing::event;

constexpr RecordScope kOp = RecordScope::kFunction, kUser = RecordScope::kUserScope;

Input tensor_of(std::string_view type) {
  Input input;
  input.kind = Input::Kind::kTensor;
  input.type = type;
  return input;
}

template <class F>
TracePtr record(Options options, F&& f) {
  Profiler profiler(std::move(options));
  profiler.start();
  f();
  profiler.stop();
  EXPECT_EQ(profiler.stats().dropped, 0U);
  return profiler.trace();
}

TEST(Range, NothingIsWantedWithoutAWindow) {
  for (const Detail d :
       {Detail::kRanges, Detail::kShapes, Detail::kMemory, Detail::kStacks, Detail::kModules}) {
    EXPECT_FALSE(wants(d));
  }
  EXPECT_EQ(begin_range("nothing", kOp), nullptr);
  EXPECT_EQ(begin_async_range("nothing"), nullptr);
  end_range(nullptr);
  end_async_range(nullptr);
  report_memory({});
  mark("nothing");
  count("nothing", 1);
}

TEST(Range, EachOptionMakesItsDetailWanted) {
  const auto wanted = [](const Options& options) {
    std::string text;
    record(options, [&] {
      for (const auto& [detail, letter] : {std::pair(Detail::kRanges, 'r'),
                                           {Detail::kShapes, 's'},
                                           {Detail::kMemory, 'm'},
                                           {Detail::kStacks, 'k'},
                                           {Detail::kModules, 'o'}}) {
        if (wants(detail)) text += letter;
      }
    });
    return text;
  };
  EXPECT_EQ(wanted({}), "r");
  EXPECT_EQ(wanted({.record_shapes = true}), "rs");
  EXPECT_EQ(wanted({.profile_memory = true}), "rm");
  EXPECT_EQ(wanted({.with_stack = true}), "rk");
  EXPECT_EQ(wanted({.with_flops = true}), "rs");
  EXPECT_EQ(wanted({.with_modules = true}), "ro");
}

// The names and forms that torch 2.15 writes.
TEST(Range, InputsAreWrittenAsTorchDoes) {
  const std::array<std::int64_t, 2> sizes{384, 33}, strides{33, 1};
  Input tensor;
  tensor.kind = Input::Kind::kTensor;
  tensor.dims = 2;
  tensor.sizes = sizes.data();
  tensor.strides = strides.data();
  tensor.type = "long int";
  Input scalar;
  scalar.kind = Input::Kind::kScalar;
  scalar.value = "16";
  Input numbers;
  numbers.kind = Input::Kind::kScalarList;
  numbers.value = "[1, 512]";
  const std::array<Input, 2> items{tensor, tensor_of("float")};
  Input list;
  list.kind = Input::Kind::kTensorList;
  list.items = items.data();
  list.item_count = 2;
  const std::array<Input, 5> inputs{tensor, scalar, numbers, list, Input{}};
  RangeDetails details;
  details.inputs = inputs.data();
  details.input_count = inputs.size();

  const TracePtr trace = record({.record_shapes = true},
                                [&] { const RecordFunction range("aten::select", kOp, details); });
  const EventId e = event(*trace, "aten::select");
  EXPECT_EQ(trace->category(e), "cpu_op");
  EXPECT_EQ(arg(*trace, e, "Input Dims"), "[[384,33],[],[],[[384,33],[]],[]]");
  EXPECT_EQ(arg(*trace, e, "Input Strides"), "[[33,1],[],[],[[33,1],[]],[]]");
  EXPECT_EQ(arg(*trace, e, "Input type"), R"(["long int","Scalar","ScalarList","TensorList",""])");
  EXPECT_EQ(arg(*trace, e, "Concrete Inputs"), R"(["","16","[1, 512]","",""])");
  EXPECT_EQ(*trace->metadata("record_shapes"), "1");
  EXPECT_EQ(trace->metadata("profile_memory"), nullptr);
}

TEST(Range, InputsAreLeftOutWhenNotAskedFor) {
  const Input input;
  RangeDetails details;
  details.inputs = &input;
  details.input_count = 1;
  const TracePtr trace = record({}, [&] { const RecordFunction range("aten::mm", kOp, details); });
  EXPECT_EQ(arg(*trace, event(*trace, "aten::mm"), "Input Dims"), "-");
}

TEST(Range, AListOfTooManyTensorsIsLeftOutAsInTorch) {
  const std::vector<Input> items(31, tensor_of("float"));
  Input list;
  list.kind = Input::Kind::kTensorList;
  list.items = items.data();
  list.item_count = items.size();
  RangeDetails details;
  details.inputs = &list;
  details.input_count = 1;
  const TracePtr trace = record({.record_shapes = true},
                                [&] { const RecordFunction range("aten::cat", kOp, details); });
  EXPECT_EQ(arg(*trace, event(*trace, "aten::cat"), "Input Dims"), "[[]]");
}

TEST(Range, ArgumentsOfTheUser) {
  const std::array<RangeArg, 8> args{
      {{"batch", Value::integer(-3)},
       {"loss", Value::real(0.5)},
       {"bad", Value::real(std::numeric_limits<double>::quiet_NaN())},
       {"note", Value::string("a\"b\n\xFF")},
       {"shape", Value::json("[1, {\"a\": 2}]")},
       {"no json", Value::json("[1")},
       {"External id", Value::integer(99)},
       {"batch", Value::integer(4)}}};
  RangeDetails details;
  details.args = args.data();
  details.arg_count = args.size();
  const TracePtr trace = record({}, [&] { const RecordFunction range("epoch", kUser, details); });
  const EventId e = event(*trace, "epoch");
  EXPECT_EQ(arg(*trace, e, "batch"), "-3");
  EXPECT_EQ(arg(*trace, e, "loss"), "0.500000");
  EXPECT_EQ(arg(*trace, e, "bad"), "null");
  EXPECT_EQ(arg(*trace, e, "note"), "a\"b\n\xEF\xBF\xBD");
  EXPECT_EQ(arg(*trace, e, "shape"), "[1, {\"a\": 2}]");
  EXPECT_EQ(trace->arg(e, "no json")->type, Value::Type::kString);
  EXPECT_NE(arg(*trace, e, "External id"), "99") << "the recorder's own";
}

TEST(Range, TextsAreCopiedAndMayBeLong) {
  std::string name(1'000'000, 'n'), value(100'000, 'v');
  const TracePtr trace = record({}, [&] {
    RangeArg one{"key", Value::string(value)};
    RangeDetails details;
    details.args = &one;
    details.arg_count = 1;
    OpenRange* const range = begin_range(name, kUser, details);
    ASSERT_NE(range, nullptr);
    name.assign(name.size(), 'x');
    value.assign(value.size(), 'x');
    end_range(range);
  });
  const EventId e = event(*trace, std::string(1'000'000, 'n'));
  EXPECT_EQ(arg(*trace, e, "key"), std::string(65'535, 'v')) << "cut at 64 KiB";
}

// Forward on thread 1, backward elsewhere: an arrow from the innermost forward operator of the
// number to the first backward one that ends.
TEST(Range, SequenceNumbersJoinForwardAndBackward) {
  const auto op = [](const char* name, std::int64_t sequence, std::uint64_t thread,
                     std::uint64_t forward) {
    RangeDetails details;
    details.sequence_number = sequence;
    details.thread = thread;
    details.forward_thread = forward;
    return begin_range(name, kOp, details);
  };
  const TracePtr trace = record({}, [&] {
    OpenRange* const outer = op("aten::linear", 7, 1, 0);
    OpenRange* const inner = op("aten::addmm", 7, 1, 0);
    end_range(inner);
    end_range(outer);
    std::thread([&] {
      OpenRange* const engine = op("autograd::engine::evaluate_function", 7, 2, 1);
      end_range(op("AddmmBackward0", 7, 2, 1));
      end_range(engine);
      end_range(op("Unrelated", 8, 2, 1));
    }).join();
  });
  ASSERT_EQ(trace->flows().size(), 2U);
  const Flow& from = trace->flows()[0];
  const Flow& to = trace->flows()[1];
  EXPECT_EQ(trace->text(from.category), "fwdbwd");
  EXPECT_TRUE(from.begin && !to.begin);
  EXPECT_EQ(from.id, to.id);
  const EventId forward = event(*trace, "aten::addmm"), backward = event(*trace, "AddmmBackward0");
  EXPECT_EQ(from.at, trace->start(forward));
  EXPECT_EQ(from.lane, trace->lane_of(forward));
  EXPECT_EQ(to.at, trace->start(backward));
  EXPECT_EQ(to.lane, trace->lane_of(backward));
  EXPECT_EQ(arg(*trace, backward, "Sequence number"), "7");
  EXPECT_EQ(arg(*trace, backward, "Fwd thread id"), "1");
  EXPECT_EQ(arg(*trace, forward, "Fwd thread id"), "0");
}

TEST(Range, AsyncRangesOverlapAndEndOnOtherThreads) {
  pid_t other = 0;
  const TracePtr trace = record({}, [&] {
    const RecordFunction around("around", kUser);
    AsyncRange first("request 1"), second("request 2");
    {
      const RecordFunction inner("inner", kUser);
      first.end();
    }
    std::thread([&other, moved = std::move(second)]() mutable {
      other = gettid();
      moved.end();
    }).join();
    const AsyncRange third("request 3");
  });
  const EventId one = event(*trace, "request 1"), two = event(*trace, "request 2"),
                three = event(*trace, "request 3"), inner = event(*trace, "inner");
  EXPECT_EQ(arg(*trace, one, "async"), "true");
  for (const EventId e : {one, two, three}) {
    EXPECT_EQ(arg(*trace, e, "Begin thread id"), std::to_string(getpid()));
  }
  EXPECT_EQ(arg(*trace, one, "End thread id"), std::to_string(getpid()));
  EXPECT_EQ(arg(*trace, two, "End thread id"), std::to_string(other));
  // They share no row with the threads, nor with each other where they overlap.
  EXPECT_EQ(trace->parent(inner), event(*trace, "around"));
  EXPECT_NE(trace->lane_of(one), trace->lane_of(inner));
  EXPECT_NE(trace->lane_of(one), trace->lane_of(two));
  EXPECT_EQ(trace->lane_of(three), trace->lane_of(one)) << "free again";
  EXPECT_EQ(trace->lanes()[trace->lane_of(one)].thread, "async ranges 1");
  EXPECT_EQ(trace->report().entries().size(), 0U);
}

TEST(Range, AnAsyncRangeOutlivesItsThreadAndItsWindow) {
  Options options;
  options.schedule = schedule(0, 0, 1);
  std::vector<TracePtr> traces;
  options.on_trace_ready = [&](const TracePtr& t) { traces.push_back(t); };
  Profiler profiler(options);
  profiler.start();
  AsyncRange range;
  std::thread([&] { range = AsyncRange("long"); }).join();
  profiler.step();
  range.end();
  profiler.stop();
  ASSERT_EQ(traces.size(), 2U);
  const EventId e = event(*traces[0], "long");
  EXPECT_EQ(arg(*traces[0], e, "finished"), "false");
  EXPECT_EQ(traces[0]->end(e), traces[0]->end(event(*traces[0], "PyTorch Profiler (0)")))
      << "open until the window closed, whatever became of the thread";
}

TEST(Range, ModulesNameTheOperatorsWithin) {
  const auto model = [] {
    const ModuleScope net("Net");
    {
      const RecordFunction early("aten::relu", kOp);
    }
    for (const char* const layer : {"conv1", "conv2"}) {
      const ModuleScope scope(layer);
      const RecordFunction op("aten::conv2d", kOp);
    }
  };
  const TracePtr trace = record({.with_modules = true}, [&] {
    model();
    model();
    const RecordFunction outside("aten::mm", kOp);
  });
  EXPECT_EQ(arg(*trace, event(*trace, "aten::mm"), "Module Hierarchy"), "-");
  const auto convs = testing::events(*trace, "aten::conv2d");
  ASSERT_EQ(convs.size(), 4U);
  EXPECT_EQ(arg(*trace, convs[0], "Module Hierarchy"), "Net.conv1");
  EXPECT_EQ(arg(*trace, convs[3], "Module Hierarchy"), "Net.conv2");
  EXPECT_EQ(arg(*trace, testing::events(*trace, "aten::relu")[1], "Module Hierarchy"), "Net");
  const auto rows = testing::events(*trace, "nn.Module: conv2_0");
  ASSERT_EQ(rows.size(), 2U) << "the same module, twice";
  EXPECT_EQ(trace->kind(rows[0]), Kind::kPython);
  EXPECT_EQ(arg(*trace, rows[0], "Python module id"), arg(*trace, rows[1], "Python module id"));
  const auto nets = testing::events(*trace, "nn.Module: Net_0");
  EXPECT_EQ(arg(*trace, rows[0], "Python parent id"), arg(*trace, nets[0], "Python id"));

  const TracePtr without = record({}, model);
  EXPECT_TRUE(testing::events(*without, "nn.Module: Net_0").empty());
}

TEST(Range, MemoryIsPlacedInItsOperator) {
  const TracePtr trace = record({.profile_memory = true}, [] {
    {
      const RecordFunction op("aten::empty", kOp);
      MemoryReport report;
      report.address = 0xDEAD'BEEF;
      report.bytes = 4096;
      report.total_allocated = 10'000;
      report.total_reserved = 20'000;
      report.device_type = 1;
      report.device_index = 2;
      report_memory(report);
    }
    MemoryReport mine;  // of an engine that keeps no books
    mine.address = 64;
    mine.bytes = 100;
    report_memory(mine);
    mine.bytes = -30;
    report_memory(mine);
    mine.bytes = 1 << 30;
    mine.out_of_memory = true;
    report_memory(mine);
  });
  const auto memory = trace->memory();
  ASSERT_EQ(memory.size(), 4U);
  EXPECT_EQ(memory[0].op, event(*trace, "aten::empty"));
  EXPECT_EQ(memory[0].addr, 0xDEAD'BEEFU);
  EXPECT_EQ(memory[0].bytes, 4096);
  EXPECT_EQ(memory[0].total_allocated, 10'000);
  EXPECT_EQ(memory[0].total_reserved, 20'000);
  EXPECT_EQ(memory[0].device_type, 1);
  EXPECT_EQ(memory[0].device_id, 2);
  EXPECT_EQ(memory[1].op, kNone);
  EXPECT_EQ(memory[1].total_allocated, 100);
  EXPECT_EQ(memory[2].total_allocated, 70) << "counted here";
  EXPECT_FALSE(memory[2].total_reserved.has_value());
  EXPECT_TRUE(memory[3].out_of_memory);
  EXPECT_EQ(memory[3].total_allocated, 70) << "was not given";
}

TEST(Range, MarksAndCounters) {
  const TracePtr trace = record({}, [] {
    mark("reached");
    count("queue length", 3);
    count("queue length", std::numeric_limits<double>::infinity());
  });
  std::vector<std::string> seen;
  for (const Instant& i : trace->instants()) {
    const auto args = trace->args_at(i.args);
    seen.push_back(std::string(1, i.phase) + " " + std::string(trace->text(i.name)) +
                   (args.empty() ? ""
                    : args[0].second.type == Value::Type::kNull
                        ? " null"
                        : " " + std::to_string(args[0].second.d)));
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"i Iteration Start: PyTorch Profiler", "i reached",
                                            "C queue length 3.000000", "C queue length null",
                                            "i Record Window End"}));
}

TEST(Range, MarksCarryArguments) {
  for (const bool with_stack : {false, true}) {
    Options options;
    options.with_stack = with_stack;
    const TracePtr trace = record(options, [] {
      const RangeArg args[] = {{"Domain", Value::string("library")}, {"Payload", Value::real(0.5)}};
      RangeDetails details;
      details.args = args;
      details.arg_count = 2;
      mark("reached", details);
      mark(std::string(100'000, 'x'), details);  // more than a chunk holds
      mark("plain", RangeDetails{});
    });
    std::vector<std::string> seen;
    for (const Instant& i : trace->instants()) {
      std::string text(trace->text(i.name).substr(0, 10));
      for (const auto& [key, value] : trace->args_at(i.args)) {
        text += " " + std::string(key) + "=" +
                (value.type == Value::Type::kDouble ? std::to_string(value.d)
                                                    : std::string(value.text));
      }
      seen.push_back(text);
    }
    EXPECT_EQ(seen, (std::vector<std::string>{
                        "Iteration ", "reached Domain=library Payload=0.500000",
                        "xxxxxxxxxx Domain=library Payload=0.500000", "plain", "Record Win"}));
    EXPECT_EQ(trace->size(), 1U) << "the window alone";
  }
}

}  // namespace
}  // namespace libtrace
