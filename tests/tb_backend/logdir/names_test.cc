#include "tb_backend/logdir/names.h"

#include <gtest/gtest.h>

namespace traceglass {
namespace {

using Type = FileName::Type;

struct Case {
  const char* name;
  Type type;
  const char* worker;
  const char* span;
};

class Names : public ::testing::TestWithParam<Case> {};

TEST_P(Names, SplitIntoWorkerAndSpan) {
  const Case& c = GetParam();
  const FileName got = parse_file_name(c.name);
  EXPECT_EQ(got.type, c.type) << c.name;
  EXPECT_EQ(got.worker, c.worker) << c.name;
  EXPECT_EQ(got.span, c.span) << c.name;
}

INSTANTIATE_TEST_SUITE_P(
    Seen, Names,
    ::testing::Values(
        Case{"host_1234.1700000000000.pt.trace.json", Type::kTrace, "host_1234", "1700000000000"},
        Case{"host_1234.1700000000000000001.pt.trace.json.gz", Type::kTrace, "host_1234",
             "1700000000000000001"},
        Case{"a.b.c_77.1700000000000.pt.trace.json.gz", Type::kTrace, "a.b.c_77", "1700000000000"},
        Case{"host_1.async_llm.1700000000000000001.pt.trace.json.gz", Type::kTrace,
             "host_1.async_llm", "1700000000000000001"},
        Case{"rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz", Type::kTrace, "rank-0.Apr_03_18_51_38",
             "1102"},
        Case{"worker0.pt.trace.json", Type::kTrace, "worker0", ""},
        Case{"worker0.7.pt.trace.json", Type::kTrace, "worker0", "7"},
        Case{"bert.v2.5.pt.trace.json", Type::kTrace, "bert.v2.5", ""},
        Case{"bert.2.5.pt.trace.json", Type::kTrace, "bert.2.5", ""},
        Case{"bert.v2.1700000000000.pt.trace.json", Type::kTrace, "bert.v2", "1700000000000"},
        Case{"node-3_1.1700000000000#rank3.pt.trace.json", Type::kTrace,
             "node-3_1.1700000000000#rank3", ""},
        Case{"rank0_trace.json.gz", Type::kTrace, "rank0_trace", ""},
        Case{"trace.json", Type::kTrace, "trace", ""},
        Case{"step.5.json", Type::kTrace, "step.5", ""},
        Case{"step.1700000000.json", Type::kTrace, "step", "1700000000"},
        Case{"by_name.pftrace", Type::kTrace, "by_name", ""},
        Case{".1700000000000.pt.trace.json", Type::kOther, "", ""},
        Case{"1700000000000.pt.trace.json", Type::kTrace, "1700000000000", ""}));

INSTANTIATE_TEST_SUITE_P(Temporary, Names,
                         ::testing::Values(Case{"x.1.pt.trace.json.gz.tmp", Type::kTemporary, "x",
                                                "1"},
                                           Case{"libkineto_activities_77.json.tmp",
                                                Type::kTemporary, "libkineto_activities_77", ""},
                                           Case{"a.pftrace.tmp", Type::kTemporary, "a", ""}));

INSTANTIATE_TEST_SUITE_P(NoTrace, Names,
                         ::testing::Values(Case{"events.out.tfevents.1", Type::kOther, "", ""},
                                           Case{"model.pt", Type::kOther, "", ""},
                                           Case{"notes.tmp", Type::kOther, "", ""},
                                           Case{"a.json.gz.bak", Type::kOther, "", ""},
                                           Case{"trace.JSON", Type::kOther, "", ""},
                                           Case{"json", Type::kOther, "", ""},
                                           Case{"", Type::kOther, "", ""},
                                           Case{".x.pt.trace.json.tmp.42", Type::kOther, "", ""},
                                           Case{".json", Type::kOther, "", ""}));

TEST(SpanOrder, IsNumericAtAnyLength) {
  EXPECT_TRUE(span_less("", "0"));
  EXPECT_TRUE(span_less("9", "10"));
  EXPECT_FALSE(span_less("10", "9"));
  EXPECT_TRUE(span_less("1700000000000", "1700000000000000001"));
  EXPECT_TRUE(span_less("99999999999999999999999998", "99999999999999999999999999"));
  EXPECT_FALSE(span_less("007", "7"));
  EXPECT_FALSE(span_less("7", "007"));
  EXPECT_FALSE(span_less("", ""));
}

}  // namespace
}  // namespace traceglass
