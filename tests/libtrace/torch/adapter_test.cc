// What a Profiler records of libtorch's operators.
#include <ATen/ATen.h>
#include <ATen/record_function.h>
#include <c10/core/Allocator.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/profiler_legacy.h>

#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "libtrace/profile.h"
#include "libtrace/torch.h"

namespace libtrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TracePtr record(Options options, const std::function<void()>& work) {
  EXPECT_TRUE(observe_torch().ok());
  Profiler profiler(std::move(options));
  profiler.start();
  work();
  profiler.stop();
  return profiler.trace();
}
TracePtr record(const std::function<void()>& work) { return record(Options{}, work); }

EventId find(const Trace& trace, std::string_view name, int nth = 0) {
  for (EventId e = 0; e < trace.size(); ++e) {
    if (trace.name(e) == name && nth-- == 0) return e;
  }
  ADD_FAILURE() << "no " << name;
  return 0;
}

std::map<std::string, int> counts(const Trace& trace) {
  std::map<std::string, int> of;
  for (EventId e = 0; e < trace.size(); ++e) {
    if (trace.kind(e) == Kind::kOp || trace.kind(e) == Kind::kAnnotation) {
      ++of[std::string(trace.name(e))];
    }
  }
  return of;
}

std::string metadata(const Trace& trace, std::string_view key) {
  for (const auto& [known, json] : trace.metadata()) {
    if (known == key) return json;
  }
  return {};
}

TEST(TorchAdapter, OperatorsNestAsTheyCall) {
  const at::Tensor a = at::ones({2, 3}), b = at::ones({3, 4});
  const TracePtr trace = record([&] {
    at::mm(a, b);
    at::linear(a, b.t());
  });
  const std::map<std::string, int> of = counts(*trace);
  EXPECT_EQ(of.at("aten::mm"), 2);  // linear calls one
  EXPECT_EQ(of.at("aten::linear"), 1);
  const EventId matmul = find(*trace, "aten::matmul");
  EXPECT_EQ(trace->name(trace->parent(matmul)), "aten::linear");
  EXPECT_EQ(trace->kind(matmul), Kind::kOp);
}

TEST(TorchAdapter, NothingIsWatchedOutsideAWindow) {
  const TracePtr trace = record([] { at::ones({2}); });
  EXPECT_EQ(counts(*trace).at("aten::ones"), 1);
  EXPECT_FALSE(at::hasGlobalCallbacks() &&
               at::getStepCallbacksUnlessEmpty(at::RecordScope::FUNCTION));
  const TracePtr empty = record([] {});
  EXPECT_TRUE(counts(*empty).empty());
}

TEST(TorchAdapter, UserScopesAreAnnotations) {
  const TracePtr trace = record([] {
    RECORD_USER_SCOPE(std::string("my ") + "scope");
    at::ones({2});
  });
  const EventId scope = find(*trace, "my scope");
  EXPECT_EQ(trace->kind(scope), Kind::kAnnotation);
  EXPECT_EQ(trace->parent(find(*trace, "aten::ones")), scope);
}

std::string text_arg(const Trace& trace, EventId e, std::string_view key) {
  const std::optional<Value> value = trace.arg(e, key);
  return value ? std::string(value->text) : "";
}

TEST(TorchAdapter, InputsAsTorchPrintsThem) {
  const at::Tensor a = at::ones({2, 3}), bytes = at::ones({2, 3}, at::kByte);
  Options options;
  options.record_shapes = true;
  const TracePtr trace = record(options, [&] {
    at::add(a.t(), bytes.t(), 0.1);
    at::cat({a, a}, 0);
    at::clamp(a, -2.0, 1e12);
    at::sum(a, at::IntArrayRef({0, -1}), /*keepdim=*/true);
    at::batch_norm(a, {}, {}, {}, {}, /*training=*/true, 0.1, 1e-5, false);
    at::mul(a.to_sparse(), 2);
  });
  EventId e = find(*trace, "aten::add");
  EXPECT_EQ(text_arg(*trace, e, "Input Dims"), "[[3,2],[3,2],[]]");
  EXPECT_EQ(text_arg(*trace, e, "Input Strides"), "[[1,3],[1,3],[]]");
  EXPECT_EQ(text_arg(*trace, e, "Input type"), R"(["float","unsigned char","Scalar"])");
  EXPECT_EQ(text_arg(*trace, e, "Concrete Inputs"), R"(["","","0.10000000000000001"])");
  e = find(*trace, "aten::cat");
  EXPECT_EQ(text_arg(*trace, e, "Input Dims"), "[[[2,3],[2,3]],[]]");
  EXPECT_EQ(text_arg(*trace, e, "Input type"), R"(["TensorList","Scalar"])");
  e = find(*trace, "aten::clamp");
  EXPECT_EQ(text_arg(*trace, e, "Concrete Inputs"), R"(["","-2.","1000000000000"])");
  e = find(*trace, "aten::sum");
  EXPECT_EQ(text_arg(*trace, e, "Concrete Inputs"), R"(["","[0, -1]","True",""])");
  e = find(*trace, "aten::batch_norm");
  EXPECT_EQ(text_arg(*trace, e, "Input type"),
            R"(["float","","","","","Scalar","Scalar","Scalar","Scalar"])");
  EXPECT_EQ(trace->report().entries().size(), 0U);

  // Without shapes nothing is read.
  const TracePtr plain = record([&] { at::add(a, a); });
  EXPECT_FALSE(plain->arg(find(*plain, "aten::add"), "Input Dims"));
}

TEST(TorchAdapter, BackwardIsJoinedToForward) {
  at::Tensor weight = at::ones({3, 2});
  weight.set_requires_grad(true);
  const TracePtr trace = record([&] { at::mm(at::ones({2, 3}), weight).sum().backward(); });
  const EventId forward = find(*trace, "aten::mm"), backward = find(*trace, "MmBackward0");
  const auto number = trace->int_arg(forward, "Sequence number");
  ASSERT_TRUE(number);
  EXPECT_EQ(trace->int_arg(backward, "Sequence number"), number);
  EXPECT_GT(trace->int_arg(backward, "Fwd thread id").value_or(0), 0);
  std::vector<std::int64_t> starts;
  for (const Flow& flow : trace->flows()) {
    if (flow.begin) starts.push_back(flow.at);
  }
  EXPECT_THAT(starts, ::testing::Contains(trace->start(forward)));
}

TEST(TorchAdapter, AllocationsOfTheirOperators) {
  Options options;
  options.profile_memory = true;
  const TracePtr trace = record(options, [] { at::ones({256}); });
  const EventId empty = find(*trace, "aten::empty");
  ASSERT_EQ(trace->memory().size(), 2U);
  const MemoryEvent &taken = trace->memory()[0], &given_back = trace->memory()[1];
  EXPECT_EQ(taken.bytes, 1024);
  EXPECT_EQ(taken.op, empty);
  EXPECT_EQ(taken.device_type, 0);
  EXPECT_EQ(given_back.bytes, -1024);
  EXPECT_EQ(given_back.addr, taken.addr);
  EXPECT_EQ(given_back.total_allocated.value_or(-1), taken.total_allocated.value_or(-1) - 1024);
}

TEST(TorchAdapter, AFailedAllocation) {
  Options options;
  options.profile_memory = true;
  const TracePtr trace = record(
      options, [] { c10::reportOutOfMemoryToProfiler(1 << 20, 5, 7, c10::Device(c10::kCUDA, 1)); });
  ASSERT_EQ(trace->memory().size(), 1U);
  const MemoryEvent& event = trace->memory()[0];
  EXPECT_TRUE(event.out_of_memory);
  EXPECT_EQ(event.bytes, 1 << 20);
  EXPECT_EQ(event.total_allocated, 5);
  EXPECT_EQ(event.total_reserved, 7);
  EXPECT_EQ(event.device_type, 1);
  EXPECT_EQ(event.device_id, 1);
}

TEST(TorchAdapter, AnAsynchronousOperator) {
  const TracePtr trace = record([] {
    auto guard = std::make_unique<at::RecordFunction>(at::RecordScope::USER_SCOPE);
    guard->_setAsync();
    guard->before("request");
    at::ones({2});
    std::thread([&] { guard.reset(); }).join();
  });
  const EventId request = find(*trace, "request"), ones = find(*trace, "aten::ones");
  EXPECT_EQ(trace->flags(request) & flag::kUnfinished, 0);
  EXPECT_LT(trace->start(request), trace->start(ones));
  EXPECT_GE(trace->end(request), trace->end(ones));
  EXPECT_EQ(trace->parent(ones), kNone);  // it is no part of its thread's calls
}

TEST(TorchAdapter, EveryThread) {
  const TracePtr trace = record([] {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([] {
        for (int k = 0; k < 100; ++k) at::ones({2});
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
  EXPECT_EQ(counts(*trace).at("aten::ones"), 400);
  EXPECT_EQ(trace->report().entries().size(), 0U);
}

// Windows that open and close while other threads call operators.
TEST(TorchAdapter, WindowsAmongBusyThreads) {
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!done) at::add(at::ones({2}), 1);
    });
  }
  for (int round = 0; round < 50; ++round) {
    Options options;
    options.record_shapes = options.profile_memory = round % 2 == 0;
    const TracePtr trace = record(options, [] { at::mul(at::ones({2}), 2); });
    EXPECT_EQ(counts(*trace).count("aten::mul"), 1U);
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
}

TEST(TorchAdapter, AnEndOnAnotherThread) {
  const TracePtr trace = record([] {
    auto guard = std::make_unique<at::RecordFunction>(at::RecordScope::USER_SCOPE);
    guard->before("elsewhere");
    std::thread([&] { guard.reset(); }).join();
    at::ones({2});
  });
  const EventId elsewhere = find(*trace, "elsewhere");
  EXPECT_EQ(trace->flags(elsewhere) & flag::kUnfinished, 0);
  EXPECT_LE(trace->end(elsewhere), trace->start(find(*trace, "aten::ones")));
}

void nest(int levels) {
  RECORD_USER_SCOPE("nested");
  if (levels > 1) nest(levels - 1);
}

TEST(TorchAdapter, DeeperThanAnyModel) {
  const TracePtr trace = record([] { nest(1000); });
  EXPECT_EQ(counts(*trace).at("nested"), 1000);
  for (EventId e = 0; e < trace->size(); ++e) EXPECT_EQ(trace->flags(e) & flag::kUnfinished, 0);
}

TEST(TorchAdapter, TorchsOwnProfilerIsNotJoined) {
  using torch::autograd::profiler::TLSLegacyProfilerGuard;
  namespace impl = torch::profiler::impl;
  std::optional<TLSLegacyProfilerGuard> guard;
  guard.emplace(impl::ProfilerConfig(impl::ProfilerState::CPU, false, true));
  const TracePtr refused = record([] { at::ones({2}); });
  guard.reset();
  EXPECT_TRUE(counts(*refused).empty());
  EXPECT_THAT(metadata(*refused, "torch_adapter"), HasSubstr("torch's own profiler"));

  // And afterwards both are free again, in turn.
  Options options;
  options.profile_memory = true;
  const TracePtr trace = record(options, [] { at::ones({2}); });
  EXPECT_EQ(counts(*trace).at("aten::ones"), 1);
  EXPECT_EQ(metadata(*trace, "torch_adapter"), "");
  guard.emplace(impl::ProfilerConfig(impl::ProfilerState::CPU, false, true));
  at::ones({2});
}

}  // namespace
}  // namespace libtrace
