// The table to the character: each column and rule by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "libtrace/key_averages.h"

namespace libtrace {
namespace {

KeyAverage row(std::string key, std::int64_t count, std::int64_t total_us, std::int64_t self_us) {
  KeyAverage r;
  r.key = std::move(key);
  r.count = count;
  r.cpu_time_total_ns = total_us * 1000;
  r.self_cpu_time_total_ns = self_us * 1000;
  return r;
}

// Without the blanks at line ends, which an editor would eat.
std::string trimmed(const std::string& table) {
  std::string out;
  for (const char c : table) {
    if (c == '\n') out.erase(out.find_last_not_of(' ') + 1);
    out += c;
  }
  return out;
}

TEST(Table, TimesCallsAndFooter) {
  const KeyAverages a({row("step", 2, 3'000'000, 500), row("mm", 4, 1500, 1500)}, {});
  EXPECT_EQ(
      trimmed(a.table()),
      R"(--------  ------------  ------------  ------------  ------------  ------------  ------------
    Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg    # of Calls
--------  ------------  ------------  ------------  ------------  ------------  ------------
    step        25.00%     500.000us    150000.00%        3.000s        1.500s             2
      mm        75.00%       1.500ms        75.00%       1.500ms     375.000us             4
--------  ------------  ------------  ------------  ------------  ------------  ------------
Self CPU time total: 2.000ms
)");
  // torch ends every row in two blanks.
  EXPECT_NE(a.table().find("# of Calls  \n"), std::string::npos);
}

TEST(Table, MemoryAndFlops) {
  KeyAverage mm = row("aten::mm", 1, 10, 10), add = row("aten::add", 1, 30, 30);
  mm.cpu_memory_usage = 4096;
  mm.self_cpu_memory_usage = -3 * (1 << 20);
  mm.flops = 1'376'256;
  add.flops = 9000;
  KeyAverages::Columns columns;
  columns.memory = columns.flops = true;
  EXPECT_EQ(
      trimmed(KeyAverages({mm, add, row("free", 1, 0, 0)}, columns).table()),
      R"(-------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------
         Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg       CPU Mem  Self CPU Mem    # of Calls  Total KFLOPs
-------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------
     aten::mm        25.00%      10.000us        25.00%      10.000us      10.000us       4.00 KB      -3.00 MB             1      1376.256
    aten::add        75.00%      30.000us        75.00%      30.000us      30.000us           0 B           0 B             1         9.000
         free         0.00%       0.000us         0.00%       0.000us       0.000us           0 B           0 B             1            --
-------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------
Self CPU time total: 40.000us
)");
}

TEST(Table, DeviceColumnsCountDeviceRowsOnly) {
  KeyAverage op = row("mm", 1, 40, 40), gemm = row("gemm", 2, 0, 0), range = row("step", 1, 0, 0);
  op.device_time_total_ns = op.self_device_time_total_ns = 300'000;
  op.self_device_memory_usage = -2048;  // torch would hide a column that only shrinks
  gemm.device_time_total_ns = gemm.self_device_time_total_ns = 400'000;
  range.device_time_total_ns = range.self_device_time_total_ns = 600'000;
  gemm.device_type = range.device_type = "cuda";
  range.is_user_annotation = true;
  KeyAverages::Columns columns;
  columns.device = "cuda";
  columns.memory = true;
  EXPECT_EQ(
      trimmed(KeyAverages({op, gemm, range}, columns).table()),
      R"(--------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------
    Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg     Self CUDA   Self CUDA %    CUDA total  CUDA time avg       CPU Mem  Self CPU Mem      CUDA Mem  Self CUDA Mem    # of Calls
--------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------
      mm       100.00%      40.000us       100.00%      40.000us      40.000us     300.000us        75.00%     300.000us     300.000us           0 B           0 B           0 B      -2.00 KB             1
    gemm         0.00%       0.000us         0.00%       0.000us       0.000us     400.000us       100.00%     400.000us     200.000us           0 B           0 B           0 B           0 B             2
    step         0.00%       0.000us         0.00%       0.000us       0.000us     600.000us       150.00%     600.000us     600.000us           0 B           0 B           0 B           0 B             1
--------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------
Self CPU time total: 40.000us
Self CUDA time total: 400.000us
)");
}

TEST(Table, ShapesAndOverloads) {
  KeyAverage a = row("aten::mm", 1, 10, 10), b = row("aten::add", 1, 10, 10);
  a.input_shapes = "[[32, 32], [32, 32]]";
  b.input_shapes = "[]";
  b.overload_name = "Tensor";
  TableOptions cut;
  cut.max_shapes_column_width = 14;
  EXPECT_EQ(
      trimmed(KeyAverages({a, b}, {}).table(cut)),
      R"(-------------  -------------  ------------  ------------  ------------  ------------  ------------  ------------  --------------
         Name  Overload Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg    # of Calls    Input Shapes
-------------  -------------  ------------  ------------  ------------  ------------  ------------  ------------  --------------
     aten::mm                       50.00%      10.000us        50.00%      10.000us      10.000us             1  [[32, 32], [32
    aten::add         Tensor        50.00%      10.000us        50.00%      10.000us      10.000us             1              []
-------------  -------------  ------------  ------------  ------------  ------------  ------------  ------------  --------------
Self CPU time total: 20.000us
)");
}

TEST(Table, StacksGoBelowTheirRow) {
  KeyAverage a = row("aten::mm", 1, 10, 10);
  a.stack = {"torch/nn/functional.py(6264): linear", "model.py(3): forward"};
  TableOptions cut;
  cut.max_src_column_width = 24;
  EXPECT_EQ(
      trimmed(KeyAverages({a, row("free", 1, 0, 0)}, {}).table(cut)),
      R"(------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------------------
        Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg    # of Calls  Source Location
------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------------------
    aten::mm       100.00%      10.000us       100.00%      10.000us      10.000us             1  ...onal.py(6264): linear
                                                                                                  model.py(3): forward

        free         0.00%       0.000us         0.00%       0.000us       0.000us             1

------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------------------
Self CPU time total: 10.000us
)");
}

// What torch prints: its rows put FLOPs before the source, its headers behind.
TEST(Table, StacksWithFlopsStandAsTorchPutsThem) {
  KeyAverage a = row("aten::mm", 1, 10, 10);
  a.stack = {"a.py(1): f", "b.py(2): g"};
  a.flops = 1500;
  KeyAverages::Columns columns;
  columns.flops = true;
  EXPECT_EQ(
      trimmed(KeyAverages({a}, columns).table()),
      R"(------------  ------------  ------------  ------------  ------------  ------------  ------------  --------------  ------------
        Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg    # of Calls  Source Location  Total KFLOPs
------------  ------------  ------------  ------------  ------------  ------------  ------------  --------------  ------------
    aten::mm       100.00%      10.000us       100.00%      10.000us      10.000us             1     1.500          a.py(1): f
                                                                                                                    b.py(2): g

------------  ------------  ------------  ------------  ------------  ------------  ------------  --------------  ------------
Self CPU time total: 10.000us
)");
}

TEST(Table, HeadersAndTopLevel) {
  KeyAverage inner = row("inner", 1, 1, 1);
  inner.is_top_level = false;
  TableOptions options;
  options.header = "Epoch 1";
  options.top_level_events_only = true;
  EXPECT_EQ(
      trimmed(KeyAverages({row("outer", 1, 3, 2), inner}, {}).table(options)),
      R"(=============================================================================================
Epoch 1
=============================================================================================
This report only display top-level ops statistics
---------  ------------  ------------  ------------  ------------  ------------  ------------
     Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg    # of Calls
---------  ------------  ------------  ------------  ------------  ------------  ------------
    outer        66.67%       2.000us       100.00%       3.000us       3.000us             1
---------  ------------  ------------  ------------  ------------  ------------  ------------
Self CPU time total: 3.000us
)");
}

std::string name_line(const std::string& table) {
  const std::size_t begin = table.find('\n', table.find("# of Calls")) + 1;
  const std::size_t first = table.find('\n', begin) + 1;
  return table.substr(first, table.find('\n', first) - first);
}

TEST(Table, LongNamesAreCut) {
  const auto cell = [](std::size_t length, const TableOptions& options = {}) {
    const std::string line =
        name_line(KeyAverages({row(std::string(length, 'x'), 1, 1, 1)}, {}).table(options));
    return line.substr(0, line.find("  100.00%") - 5);
  };
  EXPECT_EQ(cell(51), "    " + std::string(51, 'x'));
  EXPECT_EQ(cell(52), std::string(52, 'x') + "...");
  EXPECT_EQ(cell(1'000'000), std::string(52, 'x') + "...");
  TableOptions whole;
  whole.max_name_column_width.reset();
  EXPECT_EQ(cell(200, whole), "    " + std::string(200, 'x'));
}

TEST(Table, WidthsCountCodePointsAndControlCharactersAreBlanks) {
  const std::string line = name_line(
      KeyAverages({row("\xE3\x83\xA6\xE3\x83\x8B", 1, 1, 1), row("long name", 1, 1, 1)}, {})
          .table());
  EXPECT_EQ(line.substr(0, 17), "           \xE3\x83\xA6\xE3\x83\x8B");
  const std::string hostile = KeyAverages({row("a\nb\x1b[2J\xFF", 1, 1, 1)}, {}).table();
  EXPECT_NE(hostile.find("    a b [2J\xEF\xBF\xBD  "), std::string::npos);
}

TEST(Table, SortsAndLimits) {
  KeyAverage a = row("a", 1, 5, 1), b = row("b", 9, 9, 1), c = row("c", 2, 5, 1);
  a.self_device_memory_usage = 7;
  const KeyAverages all({a, b, c}, {});
  const auto order = [&](std::string_view key) {
    KeyAverages sorted = all;
    sorted.sort(key);
    std::string out;
    for (const KeyAverage& r : sorted) out += r.key;
    return out;
  };
  EXPECT_EQ(order("cpu_time_total"), "bac");  // equal ones keep their order
  EXPECT_EQ(order("cpu_time"), "acb");
  EXPECT_EQ(order("count"), "bca");
  EXPECT_EQ(order("self_cuda_memory_usage"), "abc");
  EXPECT_EQ(order("self_xpu_time_total"), "abc");
  for (const char* wrong : {"time", "self_cpu_time_total ", "key", ""}) {
    EXPECT_THROW(order(wrong), std::invalid_argument) << wrong;
  }
  const auto lines = [&](int limit) {
    TableOptions options;
    options.row_limit = limit;
    const std::string t = all.table(options);
    return std::count(t.begin(), t.end(), '\n') - 5;
  };
  EXPECT_EQ(lines(-1), 3);
  EXPECT_EQ(lines(0), 0);
  EXPECT_EQ(lines(2), 2);
  EXPECT_EQ(lines(100), 3);
}

TEST(Table, WhatCannotBeMeantIsRefused) {
  const KeyAverages none;
  TableOptions options;
  EXPECT_EQ(none.table(options), "");
  options.sort_by = "nonsense";
  EXPECT_THROW(none.table(options), std::invalid_argument);
  options = {};
  options.time_unit = "min";
  EXPECT_THROW(none.table(options), std::invalid_argument);
  options = {};
  options.max_name_column_width = -3;
  EXPECT_THROW(none.table(options), std::invalid_argument);
}

TEST(Table, NarrowColumnsBreakNothing) {
  KeyAverage a = row("name", 1, 1, 1);
  a.input_shapes = "[[1, 2]]";
  a.stack = {"frame"};
  for (int width = 0; width < 8; ++width) {
    TableOptions options;
    options.max_name_column_width = options.max_shapes_column_width = options.max_src_column_width =
        width;
    EXPECT_FALSE(KeyAverages({a}, {}).table(options).empty());
  }
}

TEST(Table, NothingSpentHasNoShares) {
  EXPECT_NE(KeyAverages({row("a", 1, 0, 0)}, {}).table().find("NaN"), std::string::npos);
  KeyAverage async = row("gloo:send", 1, 10, 0);
  async.is_async = true;
  const std::string line = name_line(KeyAverages({async, row("b", 1, 5, 5)}, {}).table());
  EXPECT_EQ(line,
            "    gloo:send         0.00%       0.000us             0      10.000us      10.000us   "
            "          1  ");
}

}  // namespace
}  // namespace libtrace
