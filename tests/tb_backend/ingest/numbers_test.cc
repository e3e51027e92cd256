#include "tb_backend/ingest/numbers.h"

#include <gtest/gtest.h>

namespace traceglass {
namespace {

TEST(Numbers, MicrosecondsAsTextAreExactNanoseconds) {
  EXPECT_EQ(parse_us_as_ns("0"), 0);
  EXPECT_EQ(parse_us_as_ns("0.376"), 376);
  EXPECT_EQ(parse_us_as_ns("12.5"), 12'500);
  EXPECT_EQ(parse_us_as_ns("1700000000000000.376"), 1'700'000'000'000'000'376);
  EXPECT_EQ(parse_us_as_ns("1700000000000001.0769"), 1'700'000'000'000'001'076);
  EXPECT_EQ(parse_us_as_ns("-3.456"), -3'456);
  EXPECT_EQ(parse_us_as_ns("-0.001"), -1);
  EXPECT_EQ(parse_us_as_ns("1e3"), 1'000'000);
  EXPECT_EQ(parse_us_as_ns("1.5E-1"), 150);
}

TEST(Numbers, HugeOnesAreBounded) {
  EXPECT_EQ(parse_us_as_ns("99999999999999999999999999"), kMaxNs);
  EXPECT_EQ(parse_us_as_ns("-99999999999999999999999999.5"), -kMaxNs);
  EXPECT_EQ(parse_us_as_ns("1e300"), kMaxNs);
}

TEST(Numbers, OtherTextIsNone) {
  for (const char* text :
       {"", "-", ".", "1.", ".5", "1.-5", "abc", "1x", "1e", "nan", "inf", "0x1"}) {
    EXPECT_EQ(parse_us_as_ns(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace traceglass
