// The tree of modules: small traces worked out by hand, every source, and what must hold whatever
// the input.
#include "tb_backend/analysis/modules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tb_backend/analysis/contents.h"
#include "tests/libtrace/model/generate.h"
#include "tests/tb_backend/analysis/rows.h"

namespace traceglass {
namespace {

using ::testing::ElementsAre;
using testing::Rows;
using testing::Value;

Rows& frame(Rows& r, std::string_view name, int tid, std::int64_t ts, std::int64_t dur) {
  return r.add("python_function", name, "13721", std::to_string(tid), ts, dur);
}

void arrow(Rows& r, std::int64_t id, int tid, std::int64_t at, bool begin) {
  libtrace::Flow flow;
  flow.id = id;
  flow.at = at;
  flow.category = flow.name = r.b.intern("fwdbwd");
  flow.begin = begin;
  r.b.add_flow(flow, r.b.intern("13721"), r.b.intern(std::to_string(tid)));
}

Selection everything(const libtrace::Trace& t) { return Selection::everything(find_steps(t)); }

// "  Linear_0 1" per row: depth, name, calls.
std::vector<std::string> outline(const Modules& m) {
  std::vector<std::string> out;
  for (const ModuleRow& r : m.rows) {
    out.push_back(std::string(r.depth * 2, ' ') + r.name + " " + std::to_string(r.calls));
  }
  return out;
}

std::int64_t device_sum(const Modules& m) {
  std::int64_t sum = m.no_module_device_ns;
  for (const ModuleRow& r : m.rows) {
    sum += r.times.device_self_ns + r.times.backward_device_self_ns;
  }
  return sum;
}

// Net [0, 100) calls a [5, 15), which launches 30 ns, and Linear [30, 70), in which b calls c and
// launches 7 ns. Outside of any module 11 ns are launched.
Rows net() {
  Rows r;
  frame(r, "train.py(3): step", 1, 0, 200);
  frame(r, "nn.Module: Net_0", 1, 0, 100);
  r.op("a", 1, 5, 10).runtime(1, 7, 1, 1).kernel("k1", 300, 30, 1);
  frame(r, "nn.Module: Linear_0", 1, 30, 40);
  frame(r, "torch/nn/linear.py(9): forward", 1, 32, 36);
  r.op("b", 1, 35, 20).op("c", 1, 37, 5).runtime(1, 45, 2, 2).kernel("k2", 340, 7, 2);
  r.op("loss", 1, 120, 10).runtime(1, 121, 1, 3).kernel("k3", 350, 11, 3);
  return r;
}

TEST(Modules, ByFrames) {
  Rows r = net();
  const auto trace = r.trace();
  const Modules m = find_modules(*trace, everything(*trace));
  EXPECT_EQ(m.source, ModuleSource::kFrames);
  EXPECT_THAT(outline(m), ElementsAre("Net_0 1", "  Linear_0 1"));
  const ModuleTimes &net = m.rows[0].times, &linear = m.rows[1].times;
  EXPECT_EQ(net.host_total_ns, 100);
  EXPECT_EQ(net.host_self_ns, 60);
  EXPECT_EQ(net.device_total_ns, 37);
  EXPECT_EQ(net.device_self_ns, 30);
  EXPECT_EQ(net.operators, 2);  // a and b; c is called by b
  EXPECT_EQ(linear.host_total_ns, 40);
  EXPECT_EQ(linear.host_self_ns, 40);
  EXPECT_EQ(linear.device_self_ns, 7);
  EXPECT_EQ(linear.operators, 1);
  EXPECT_EQ(m.no_module_device_ns, 11);
  EXPECT_EQ(m.no_module_host_ns, 10);
  EXPECT_EQ(m.device_ns, 48);
}

TEST(Modules, CallsOfOnePathAreOneRowAndListed) {
  Rows r;
  for (const std::int64_t at : {0, 100}) {
    frame(r, "nn.Module: Net_0", 1, at, 50 + at / 10);
    frame(r, "nn.Module: ReLU_0", 1, at + 5, 10);
    r.op("aten::relu", 1, at + 6, 4);
    frame(r, "nn.Module: ReLU_0", 1, at + 20, 12);
  }
  frame(r, "nn.Module: ReLU_0", 1, 300, 5);  // the same module from elsewhere
  const auto trace = r.trace();
  const Selection all = everything(*trace);
  const Modules m = find_modules(*trace, all);
  EXPECT_THAT(outline(m), ElementsAre("Net_0 2", "  ReLU_0 4", "ReLU_0 1"));
  EXPECT_EQ(m.rows[0].times.host_total_ns, 110);
  const auto detail = find_module(*trace, all, m.rows[1].id);
  ASSERT_TRUE(detail);
  EXPECT_THAT(detail->path, ElementsAre("Net_0", "ReLU_0"));
  std::vector<std::int64_t> starts, lengths;
  for (const ModuleInstance& i : detail->instances) {
    starts.push_back(i.start_ns);
    lengths.push_back(i.host_ns);
  }
  EXPECT_THAT(starts, ElementsAre(5, 20, 105, 120));
  EXPECT_THAT(lengths, ElementsAre(10, 12, 10, 12));
  ASSERT_EQ(detail->operators.size(), 1U);
  EXPECT_EQ(detail->operators[0].calls, 2);
  EXPECT_FALSE(find_module(*trace, all, 77));
}

TEST(Modules, TheNumberOfAnInstanceIsAnArgumentInOldFiles) {
  Rows r;
  r.arg("Python module id", Value::integer(4));
  frame(r, "nn.Module: Linear", 1, 0, 10);
  r.arg("Python module id", Value::integer(5));
  frame(r, "nn.Module: Linear", 1, 20, 5);
  const auto trace = r.trace();
  EXPECT_THAT(outline(find_modules(*trace, everything(*trace))),
              ElementsAre("Linear_4 1", "Linear_5 1"));
}

// Forward: op f1 in Net, f2 in Net/Linear. Backward on another thread: the engine's calls with the
// node within, an AccumulateGrad behind the first, one call without a partner.
Rows backward(bool arrows, bool numbers) {
  Rows r;
  const auto number = [&](std::int64_t seq, std::int64_t thread) {
    if (!numbers) return;
    r.arg("Sequence number", Value::integer(seq)).arg("Fwd thread id", Value::integer(thread));
  };
  const std::string engine = "autograd::engine::evaluate_function: ";
  frame(r, "nn.Module: Net_0", 1, 0, 100);
  number(7, 0);
  r.op("f1", 1, 5, 10);
  frame(r, "nn.Module: Linear_0", 1, 30, 40);
  number(8, 0);
  r.op("f2", 1, 35, 20);
  number(8, 1);
  r.op(engine + "F2Backward0", 2, 200, 30);
  number(8, 1);
  r.op("F2Backward0", 2, 202, 20).runtime(2, 205, 3, 1).kernel("k1", 400, 50, 1);
  r.op(engine + "torch::autograd::AccumulateGrad", 2, 230, 8);
  r.runtime(2, 232, 3, 2).kernel("k2", 450, 6, 2);
  number(7, 1);
  r.op(engine + "F1Backward0", 2, 240, 10);
  number(7, 1);
  r.op("F1Backward0", 2, 241, 8);
  number(99, 1);
  r.op(engine + "LostBackward0", 2, 260, 10).runtime(2, 262, 3, 3).kernel("k3", 460, 9, 3);
  if (arrows) {
    arrow(r, 1, 1, 5, true);
    arrow(r, 1, 2, 241, false);
    arrow(r, 2, 1, 35, true);
    arrow(r, 2, 2, 202, false);
    arrow(r, 3, 1, 35, true);  // without an end
  }
  return r;
}

void expect_backward(Rows r) {
  const auto trace = r.trace();
  const Modules m = find_modules(*trace, everything(*trace));
  ASSERT_THAT(outline(m), ElementsAre("Net_0 1", "  Linear_0 1"));
  const ModuleTimes &net = m.rows[0].times, &linear = m.rows[1].times;
  EXPECT_EQ(linear.backward_host_total_ns, 38);  // 30 and the gradient's 8
  EXPECT_EQ(linear.backward_device_total_ns, 56);
  EXPECT_EQ(net.backward_host_total_ns, 48);
  EXPECT_EQ(net.backward_host_self_ns, 10);
  EXPECT_EQ(net.backward_device_total_ns, 56);
  EXPECT_EQ(net.device_total_ns, 0);
  EXPECT_EQ(m.linked, 3);
  EXPECT_EQ(m.missing, 1);
  EXPECT_EQ(m.no_module_device_ns, 9);
  EXPECT_EQ(device_sum(m), m.device_ns);
}

TEST(Modules, BackwardByArrows) { expect_backward(backward(true, false)); }
TEST(Modules, BackwardByNumbers) { expect_backward(backward(false, true)); }
TEST(Modules, BackwardByBoth) { expect_backward(backward(true, true)); }

TEST(Modules, ADoubledArrowCostsItselfAlone) {
  Rows r = backward(true, false);
  arrow(r, 2, 1, 5, true);  // the arrow of f2 begins twice
  const auto trace = r.trace();
  const Modules m = find_modules(*trace, everything(*trace));
  EXPECT_EQ(m.doubled, 1);
  EXPECT_EQ(m.rows[0].times.backward_host_total_ns, 10);  // f1's is still there
  EXPECT_EQ(device_sum(m), m.device_ns);
}

TEST(Modules, TheThreadOfTheForwardPassIsLearnt) {
  // Two threads count from the same number; one backward call can only be the first's, and tells
  // which thread number 1 is.
  Rows r;
  const auto op = [&](std::string_view name, int tid, std::int64_t ts, std::int64_t seq,
                      std::int64_t thread) {
    r.arg("Sequence number", Value::integer(seq)).arg("Fwd thread id", Value::integer(thread));
    r.op(name, tid, ts, 10);
  };
  frame(r, "nn.Module: A_0", 1, 0, 100);
  frame(r, "nn.Module: B_0", 2, 0, 100);
  op("f", 1, 5, 1, 0);
  op("g", 1, 20, 2, 0);
  op("h", 2, 5, 1, 0);
  op("GBackward", 3, 200, 2, 1);
  op("FBackward", 3, 220, 1, 1);
  op("XBackward", 3, 240, 1, 9);  // of a thread that nothing tells
  const auto trace = r.trace();
  const Modules m = find_modules(*trace, everything(*trace));
  EXPECT_EQ(m.doubled, 1);
  for (const ModuleRow& row : m.rows) {
    EXPECT_EQ(row.times.backward_host_total_ns, row.name == "A_0" ? 20 : 0) << row.name;
  }
}

TEST(Modules, ByHierarchyOfOperators) {
  Rows r;
  const auto op = [&](std::string_view path, std::int64_t ts, std::int64_t dur) {
    r.arg("Module Hierarchy", Value::string(path)).op("op", 1, ts, dur);
  };
  op("net.conv", 0, 10);
  op("net.conv", 12, 8);
  op("net.conv.act(a.B)", 13, 5);  // within the operator before
  op("net.fc", 20, 10);
  op("", 40, 5);  // outside
  op("net.conv", 50, 10);
  r.runtime(1, 22, 2, 5).kernel("k", 100, 40, 5);
  const auto trace = r.trace();
  const Modules m = find_modules(*trace, everything(*trace));
  EXPECT_EQ(m.source, ModuleSource::kHierarchy);
  EXPECT_THAT(outline(m), ElementsAre("net 2", "  fc 1", "  conv 2", "    act(a.B) 1"));
  EXPECT_EQ(m.rows[0].times.host_total_ns, 40);  // [0, 30) and [50, 60)
  EXPECT_EQ(m.rows[1].times.device_self_ns, 40);
  EXPECT_EQ(m.rows[2].times.host_total_ns, 30);  // with the pause between its operators
}

TEST(Modules, ByAnnotations) {
  Rows r;
  r.step(1, 1, 0, 200)
      .annotation("Optimizer.step#SGD.step", 1, 150, 20)
      .op("aten::add_", 1, 151, 5)
      .annotation("forward", 1, 10, 50)
      .annotation("encoder", 1, 20, 30)
      .op("aten::mm", 1, 25, 10)
      .annotation("nothing within", 1, 80, 10);
  const auto trace = r.trace();
  const Modules m = find_modules(*trace, everything(*trace));
  EXPECT_EQ(m.source, ModuleSource::kAnnotations);
  EXPECT_THAT(outline(m), ElementsAre("forward 1", "  encoder 1"));
  EXPECT_EQ(m.rows[0].times.host_self_ns, 20);
  EXPECT_THAT(find_contents(*trace).views, ::testing::Contains("modules"));
}

TEST(Modules, ByAnnotationsOfLightning) {
  Rows r;
  r.annotation("[pl][profile]run_training_batch", 1, 0, 100)
      .annotation("[pl][module]Net: net", 1, 10, 50)
      .annotation("[pl][module]Linear: net.fc", 1, 20, 30)
      .annotation("other", 1, 22, 20)
      .op("aten::mm", 1, 25, 10);
  const auto trace = r.trace();
  const Modules m = find_modules(*trace, everything(*trace));
  EXPECT_EQ(m.source, ModuleSource::kLightning);
  EXPECT_THAT(outline(m), ElementsAre("Net: net 1", "  Linear: net.fc 1"));
}

TEST(Modules, OfTheChosenSteps) {
  Rows r;
  for (const std::int64_t n : {0, 1, 2}) {
    r.step(static_cast<int>(n), 1, n * 100, 100);
    frame(r, "nn.Module: Net_0", 1, n * 100 + 10, 40);
    r.op("op", 1, n * 100 + 20, 10).runtime(1, n * 100 + 21, 2, n + 1);
    r.kernel("k", n * 100 + 30, 20 + n, n + 1);
  }
  const auto trace = r.trace();
  const Modules m = find_modules(*trace, Selection::of(find_steps(*trace), 1, 2));
  EXPECT_THAT(outline(m), ElementsAre("Net_0 2"));
  EXPECT_EQ(m.rows[0].times.device_total_ns, 43);
  EXPECT_EQ(m.device_ns, 43);
}

TEST(Modules, DeviceOnlyHasNone) {
  Rows r;
  r.kernel("k", 0, 10);
  const auto trace = r.trace();
  const Modules m = find_modules(*trace, everything(*trace));
  EXPECT_EQ(m.source, ModuleSource::kNone);
  EXPECT_EQ(m.no_module_device_ns, 10);
  EXPECT_TRUE(m.rows.empty());
}

TEST(Modules, OfAnyDepth) {
  constexpr std::int64_t kLevels = 20'000;
  Rows r;
  for (std::int64_t i = 0; i < kLevels; ++i) {
    frame(r, "nn.Module: M_" + std::to_string(i), 1, i, 4 * kLevels - 2 * i);
  }
  r.op("op", 1, kLevels + 1, 5);
  const auto trace = r.trace();
  const Selection all = everything(*trace);
  const Modules m = find_modules(*trace, all);
  ASSERT_EQ(m.rows.size(), static_cast<std::size_t>(kLevels));
  EXPECT_EQ(m.rows.back().depth, kLevels - 1);
  EXPECT_EQ(m.rows[0].times.host_total_ns, 4 * kLevels);
  EXPECT_EQ(find_module(*trace, all, m.rows.back().id)->path.size(), m.rows.size());
  const Modules few = find_modules(*trace, all, 100);
  EXPECT_EQ(few.rows.size(), 100U);
  EXPECT_EQ(few.left_out, kLevels - 100);
  EXPECT_EQ(few.rows.back().depth, 99U);
}

// Random traces whose annotations are modules; frames and arrows strewn in.
class ModuleLaws : public ::testing::TestWithParam<unsigned> {};

TEST_P(ModuleLaws, DeviceWorkIsSharedOutExactlyAndTotalsHoldTheirParts) {
  const auto trace = libtrace::testing::Generator(GetParam()).trace();
  const Modules m = find_modules(*trace, everything(*trace));
  std::int64_t work = 0;
  for (libtrace::EventId e = 0; e < trace->size(); ++e) {
    if (libtrace::is_device_work(trace->kind(e)) && !trace->suspect(e)) work += trace->dur(e);
  }
  EXPECT_EQ(m.device_ns, work);
  EXPECT_EQ(device_sum(m), work);
  std::map<std::uint32_t, ModuleTimes> parts;  // by parent
  for (const ModuleRow& r : m.rows) {
    EXPECT_GE(r.times.host_self_ns, 0) << r.name;
    EXPECT_LE(r.times.host_self_ns, r.times.host_total_ns) << r.name;
    parts[r.parent].host_total_ns += r.times.host_total_ns;
    parts[r.parent].device_total_ns += r.times.device_total_ns;
  }
  for (const ModuleRow& r : m.rows) {
    EXPECT_EQ(r.times.host_total_ns, r.times.host_self_ns + parts[r.id].host_total_ns) << r.name;
    EXPECT_EQ(r.times.device_total_ns, r.times.device_self_ns + parts[r.id].device_total_ns);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, ModuleLaws, ::testing::Range(200U, 240U));

}  // namespace
}  // namespace traceglass
