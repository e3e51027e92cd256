// The memory timeline by hand: blocks, categories, the three forms.
#include "libtrace/averages/memory_timeline.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "tests/libtrace/averages/builder.h"

namespace libtrace {
namespace {

using testing::Rows;
using Category = MemoryCategory;

Rows profile() {
  Rows r;
  r.flag("record_shapes").flag("profile_memory").flag("with_stack");
  return r;
}

Rows& block(Rows& r, double at, std::int64_t bytes, std::uint64_t addr, const char* tid = "1",
            std::optional<std::int64_t> total = std::nullopt, std::int32_t type = 0) {
  MemoryEvent m;
  m.at = static_cast<std::int64_t>(at * 1000);
  m.bytes = bytes;
  m.addr = addr;
  m.total_allocated = total;
  m.device_type = type;
  m.device_id = type == 0 ? -1 : 1;
  r.b.add_memory(m, r.b.intern("1"), r.b.intern(tid));
  return r;
}

// Categories of what was created, in order of time.
std::vector<std::string> created(const MemoryTimeline& t) {
  std::vector<std::string> out;
  for (const auto& row : t.rows) {
    if (row.action == MemoryAction::kCreate) out.emplace_back(memory_category_name(row.category));
  }
  return out;
}

TEST(MemoryTimeline, BlocksFromBeforeStandAtTheStart) {
  Rows r = profile();
  block(r, 10, 100, 0xA, "1", 1100);  // 1000 were there
  block(r, 20, -300, 0xB);            // 300 of them go
  block(r, 30, -100, 0xA);
  block(r, 40, 50, 0xA);  // stays
  const MemoryTimeline t = memory_timeline(*r.finish(), "cpu");
  EXPECT_EQ(t.raw_json(),
            "[[-1, 1, 300, 7], [-1, 1, 700, 7], [10000, 2, 100, 7], [20000, 4, -300, 7], "
            "[30000, 4, -100, 7], [40000, 2, 50, 7]]");
  EXPECT_EQ(
      t.json(),
      "[[10, 10, 20, 30, 40], [[0, 0, 0, 0, 0, 0, 0, 0, 1000], [0, 0, 0, 0, 0, 0, 0, 0, 1100], "
      "[0, 0, 0, 0, 0, 0, 0, 0, 800], [0, 0, 0, 0, 0, 0, 0, 0, 700], "
      "[0, 0, 0, 0, 0, 0, 0, 0, 750]]]");
  EXPECT_EQ(t.peak_allocated, 1100);
}

TEST(MemoryTimeline, RowsWithoutAddressesAreAddedUp) {
  const MemoryTimeline t =
      memory_timeline(*profile().memory(1, -40).memory(2, 100).memory(3, -70).finish(), "");
  EXPECT_EQ(t.device, "cpu");
  EXPECT_EQ(t.raw_json(),
            "[[-1, 1, 40, 7], [1000, 4, -40, 7], [2000, 2, 100, 7], [3000, 4, -70, 7]]");
}

TEST(MemoryTimeline, AnAddressGivenTwiceWasFreedInBetween) {
  Rows r = profile();
  block(r, 1, 10, 0xA);
  block(r, 2, 30, 0xA);
  const MemoryTimeline t = memory_timeline(*r.finish(), "cpu");
  EXPECT_EQ(t.raw_json(), "[[1000, 2, 10, 7], [2000, 2, 30, 7], [2000, 4, -10, 7]]");
}

TEST(MemoryTimeline, DevicesAreToldApart) {
  Rows r = profile();
  block(r, 1, 10, 0xA);
  block(r, 2, 4096, 0xA, "1", std::nullopt, 1);
  const TracePtr trace = r.finish();
  EXPECT_EQ(memory_timeline(*trace).device, "cuda:1");
  EXPECT_EQ(memory_timeline(*trace, "cuda:1").rows.size(), 1U);
  EXPECT_EQ(memory_timeline(*trace, "cuda").device, "cuda:0");
  EXPECT_TRUE(memory_timeline(*trace, "cuda").rows.empty());
  EXPECT_EQ(memory_timeline(*trace, "cpu").rows.size(), 1U);
  for (const char* wrong : {"gpu", "cuda:", "cuda:x", "cuda:-1", "<b>", "cuda:1:2"}) {
    EXPECT_THROW(memory_timeline(*trace, wrong), std::invalid_argument) << wrong;
  }
}

// One training step: data, forward, backward, optimizer, and zero_grad of the next.
TEST(MemoryTimeline, CategoriesFollowFromWhereAndWhen) {
  const std::string engine = "autograd::engine::evaluate_function: ";
  Rows r = profile();
  r.range("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 0, 10);
  r.op("aten::stack", 1, 8);
  r.number("Sequence number", 7).op("aten::addmm", 20, 10);
  r.op("aten::detached", 40, 5);
  r.op(engine + "AddmmBackward0", 100, 50, "2");
  r.number("Sequence number", 7).op("AddmmBackward0", 101, 40, "2");
  r.op("aten::mm", 105, 20, "2");
  r.range("Optimizer.step#SGD.step", 200, 50).op("aten::zeros_like", 210, 10);
  r.range("Optimizer.zero_grad#SGD.zero_grad", 300, 10);
  block(r, 2, 64, 0x1);   // the batch
  block(r, 21, 32, 0x2);  // an activation, freed in backward
  block(r, 25, 16, 0x3);  // scratch of one operator
  block(r, 26, -16, 0x3);
  block(r, 41, 8, 0x4);          // of no part of the graph
  block(r, 110, 256, 0x5, "2");  // a gradient: the optimizer sees it
  block(r, 112, 128, 0x6, "2");  // backward's own
  block(r, 145, -128, 0x6, "2");
  block(r, 146, -32, 0x2, "2");
  block(r, 211, 512, 0x7);  // momentum
  block(r, 305, -256, 0x5);
  block(r, 306, -1024, 0x8);  // a gradient from before
  const MemoryTimeline t = memory_timeline(*r.finish());
  EXPECT_EQ(created(t),
            (std::vector<std::string>{"INPUT", "ACTIVATION", "TEMPORARY", "Unknown", "GRADIENT",
                                      "AUTOGRAD_DETAIL", "OPTIMIZER_STATE"}));
  ASSERT_EQ(t.rows[0].action, MemoryAction::kPreexisting);
  EXPECT_EQ(t.rows[0].category, Category::kGradient);
}

TEST(MemoryTimeline, TheUserHasTheLastWord) {
  Rows r = profile();
  r.text("Memory category", "PARAMETER").range("make model", 0, 10).op("aten::randn", 1, 5);
  r.text("Memory category", "nonsense").range("other", 20, 10);
  block(r, 2, 64, 0x1);
  block(r, 3, -64, 0x1);
  block(r, 25, 64, 0x1);
  EXPECT_EQ(created(memory_timeline(*r.finish())),
            (std::vector<std::string>{"PARAMETER", "Unknown"}));
}

TEST(MemoryTimeline, AMarkOfItsAddressTellsOfABlockWhileItLives) {
  Rows r = profile();
  const auto mark = [&](double at, std::string_view name) {
    TraceBuilder::Row row;
    row.start = static_cast<std::int64_t>(at * 1000);
    row.name = r.b.intern(name);
    row.pid = r.b.intern("1");
    row.tid = r.b.intern("1");
    r.b.add_instant(row, 'i');
  };
  block(r, 1, 64, 0xAB);
  mark(2, "Memory category PARAMETER 0xab");
  mark(3, "Memory category nonsense 0xab");
  mark(3, "Memory category GRADIENT 0xabc");
  mark(3, "Memory category GRADIENT 0xabz");
  mark(3, "Memory category GRADIENT");
  block(r, 4, 64, 0xCD);
  mark(5, "Memory category GRADIENT 0xcd");
  mark(6, "Memory category OPTIMIZER_STATE 0xcd");  // the last one stands
  block(r, 7, -64, 0xCD);
  block(r, 8, 64, 0xCD);  // another block of that address
  const MemoryTimeline t = memory_timeline(*r.finish());
  EXPECT_EQ(created(t), (std::vector<std::string>{"PARAMETER", "OPTIMIZER_STATE", "Unknown"}));
}

TEST(MemoryTimeline, NeedsWhatTorchNeeds) {
  const auto message = [](Rows& r) -> std::string {
    try {
      memory_timeline(*r.finish());
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "";
  };
  Rows none;
  EXPECT_EQ(message(none),
            "record_shapes, profile_memory, with_stack required for memory profiling");
  Rows some;
  some.flag("with_stack").memory(1, 10);
  EXPECT_EQ(message(some), "record_shapes required for memory profiling");
  Rows evident;  // says nothing of its options, but holds what they bring
  evident.json("Input Dims", "[]").text("Call stack", "f;").op("aten::x", 0, 9).memory(1, 10);
  EXPECT_EQ(message(evident), "");
}

TEST(MemoryTimeline, ThePageIsAPictureWithoutHelp) {
  Rows r = profile();
  block(r, 10, 3 << 20, 0xA, "1", 3 << 20);
  block(r, 5000, -(3 << 20), 0xA);
  const std::string page = memory_timeline(*r.finish()).html();
  EXPECT_EQ(page.find("http://www.w3.org/2000/svg"), page.find("http"));  // nothing is fetched
  for (const char* part : {"<!doctype html>", "Memory of cpu", "Max memory allocated: 3.00 MiB",
                           ">Time (ms)<", ">MiB<", "<title>Unknown</title>", "</svg>"}) {
    EXPECT_NE(page.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(page.find("nan"), std::string::npos);
  const std::string empty = memory_timeline(*profile().finish()).html();
  EXPECT_NE(empty.find("No memory was recorded"), std::string::npos);
  EXPECT_EQ(memory_timeline(*profile().finish()).json(), "[[], []]");
  EXPECT_EQ(memory_timeline(*profile().finish()).raw_json(), "[]");
}

}  // namespace
}  // namespace libtrace
