// Texts of cells, each rule by hand; what torch 2.15 prints for the same values.
#include "libtrace/averages/cell.h"

#include <gtest/gtest.h>

namespace libtrace {
namespace {

TEST(Cell, TimesHaveAUnitBySize) {
  EXPECT_EQ(time_text(0), "0.000us");
  EXPECT_EQ(time_text(999.9996), "1000.000us");  // the unit goes by the value, not by its text
  EXPECT_EQ(time_text(1000), "1.000ms");
  EXPECT_EQ(time_text(999'999), "999.999ms");
  EXPECT_EQ(time_text(1e6), "1.000s");
  EXPECT_EQ(time_text(-5000), "-5000.000us");  // negative self times stay us
  EXPECT_EQ(time_text(1500, "s"), "0.002s");
  EXPECT_EQ(time_text(1500, "ms"), "1.500ms");
  EXPECT_EQ(time_text(2e6, "us"), "2000000.000us");
}

TEST(Cell, SharesOfNothingAreNaN) {
  EXPECT_EQ(share_text(1, 3), "33.33%");
  EXPECT_EQ(share_text(3, 1), "300.00%");
  EXPECT_EQ(share_text(0, 5), "0.00%");
  EXPECT_EQ(share_text(-1, 8), "-12.50%");
  EXPECT_EQ(share_text(0, 0), "NaN");
}

TEST(Cell, MemoryIsBinary) {
  EXPECT_EQ(memory_text(0), "0 B");
  EXPECT_EQ(memory_text(1023), "1023 B");
  EXPECT_EQ(memory_text(-1024), "-1.00 KB");
  EXPECT_EQ(memory_text(1536 * 1024), "1.50 MB");
  EXPECT_EQ(memory_text(-(std::int64_t{5} << 30)), "-5.00 GB");
  EXPECT_EQ(memory_text(std::int64_t{1} << 50), "1048576.00 GB");
}

TEST(Cell, FlopsHaveTheUnitOfTheSmallest) {
  EXPECT_STREQ(flops_unit(1).name, "FLOPs");
  EXPECT_STREQ(flops_unit(999).name, "FLOPs");
  EXPECT_STREQ(flops_unit(1000).name, "KFLOPs");
  EXPECT_STREQ(flops_unit(2'000'000).name, "MFLOPs");
  EXPECT_STREQ(flops_unit(3'000'000'000).name, "GFLOPs");
  EXPECT_STREQ(flops_unit(4'000'000'000'000).name, "TFLOPs");
  EXPECT_STREQ(flops_unit(INT64_MAX).name, "PFLOPs");
  EXPECT_EQ(flops_unit(5'000'000'000'000'000).scale, 1e-15);
}

TEST(Cell, HostileNamesAreOneLine) {
  EXPECT_EQ(one_line("a\nb\r\tc"), "a b  c");
  EXPECT_EQ(one_line(std::string_view("a\0b", 3)), "a b");
  EXPECT_EQ(one_line("\x1b[2J\x7f"), " [2J ");
  EXPECT_EQ(one_line("caf\xC3\xA9 \xF0\x9F\x9A\x80"), "caf\xC3\xA9 \xF0\x9F\x9A\x80");
  EXPECT_EQ(one_line("\xC3(\xFF"), "\xEF\xBF\xBD(\xEF\xBF\xBD");
  EXPECT_EQ(one_line("a\xC2\x85"
                     "b\xE2\x80\xA8"
                     "c"),
            "a b c");
}

TEST(Cell, CutsCountCodePoints) {
  const std::string_view text = "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x9A\x80x";  // é € 🚀 x
  EXPECT_EQ(text_length(text), 4U);
  EXPECT_EQ(text_prefix(text, 2), "\xC3\xA9\xE2\x82\xAC");
  EXPECT_EQ(text_prefix(text, 9), text);
  EXPECT_EQ(text_prefix(text, 0), "");
  EXPECT_EQ(text_prefix(text, -1), "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x9A\x80");
  EXPECT_EQ(text_prefix(text, -9), "");
  EXPECT_EQ(text_tail("0123456789", 10), "0123456789");
  EXPECT_EQ(text_tail("0123456789", 7), "...6789");
  EXPECT_EQ(text_tail("0123456789", 3), "789");
  EXPECT_EQ(text_tail(text, 4), text);
}

}  // namespace
}  // namespace libtrace
