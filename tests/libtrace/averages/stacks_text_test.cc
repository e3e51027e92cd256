// export_stacks' lines by hand.
#include "libtrace/averages/stacks_text.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/libtrace/averages/builder.h"

namespace libtrace {
namespace {

using testing::Rows;

TEST(StacksText, OutermostFirstWithWholeMicroseconds) {
  Rows r;
  r.text("Call stack", "b.py(2): g x;a.py(1): f;").op("aten::mm", 10, 12.9);
  r.text("Call stack", "a.py(1): f;").python("b.py(2): g x", 5, 20);  // 7.1 us without mm
  r.text("Call stack", "a.py(1): f;").op("aten::tiny", 30, 0.999);
  r.text("Call stack", "tab\there\nline\x01;").op("aten::odd", 40, 3);
  r.op("aten::none", 50, 10);
  EXPECT_EQ(stacks_text(*r.finish(), "self_cpu_time_total"),
            "a.py(1):_f 7\n"
            "a.py(1):_f;b.py(2):_g_x 12\n"
            "tab_here_line_ 3\n");
}

TEST(StacksText, DeviceTimeOfAnOp) {
  Rows r;
  r.text("Call stack", "a.py(1): f;").op("aten::mm", 10, 5);
  r.launch("gemm", 12, 20, 300.7);
  const TracePtr trace = r.finish();
  for (const char* metric :
       {"self_cuda_time_total", "self_xpu_time_total", "self_privateuse1_time_total"}) {
    EXPECT_EQ(stacks_text(*trace, metric), "a.py(1):_f 300\n");
  }
}

TEST(StacksText, RefusesWhatTorchRefuses) {
  const TracePtr with = Rows().text("Call stack", "f;").op("x", 0, 5).finish();
  EXPECT_THROW(stacks_text(*with, "cpu_time_total"), std::invalid_argument);
  EXPECT_THROW(stacks_text(*with, ""), std::invalid_argument);
  EXPECT_THROW(stacks_text(*Rows().op("x", 0, 5).finish(), "self_cpu_time_total"),
               std::invalid_argument);
  // Asked for, and none came: no lines.
  EXPECT_EQ(stacks_text(*Rows().flag("with_stack").op("x", 0, 5).finish(), "self_cpu_time_total"),
            "");
}

}  // namespace
}  // namespace libtrace
