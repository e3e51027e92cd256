// Tokens from their file, and guessing them.
#include <gtest/gtest.h>

#include "tb_backend/api/access_tokens.h"
#include "tb_backend/api/try_limit.h"

namespace traceglass {
namespace {

std::string wrong(const std::string& text) {
  const auto result = parse_token_file(text);
  const auto* sentence = std::get_if<std::string>(&result);
  return sentence == nullptr ? "" : *sentence;
}

TEST(AccessTokens, AFileOfThem) {
  const auto result =
      parse_token_file("# of the team\n\n write  0123456789abcdef\r\nread\tfedcba98-7654.3210_~\n");
  const auto& tokens = std::get<std::vector<AccessToken>>(result);
  ASSERT_EQ(tokens.size(), 2U);
  EXPECT_EQ(tokens[0].secret, "0123456789abcdef");
  EXPECT_TRUE(tokens[0].may_write);
  EXPECT_EQ(tokens[1].secret, "fedcba98-7654.3210_~");
  EXPECT_FALSE(tokens[1].may_write);
}

TEST(AccessTokens, WrongFilesAreNamedByLineAndQuoteNoToken) {
  EXPECT_NE(wrong(""), "");
  EXPECT_NE(wrong("# nothing\n"), "");
  for (const std::string line :
       {"0123456789abcdef", "admin 0123456789abcdef", "write", "write 0123456789abcde",
        "read 0123456789abcdef x", "write 0123456789abcde;", "read 0123456789abcd\xC3\xA9"}) {
    const std::string said = wrong("read zzzzzzzzzzzzzzzz\n" + line);
    EXPECT_NE(said.find("line 2"), std::string::npos) << line;
    EXPECT_EQ(said.find("0123456789"), std::string::npos) << line;
  }
  EXPECT_NE(wrong("read 0123456789abcdef\nwrite 0123456789abcdef"), "");
}

class TryLimitTest : public ::testing::Test {
 protected:
  std::chrono::steady_clock::time_point now_{};
  TryLimit limit_{[this] { return now_; }};
};

TEST_F(TryLimitTest, TenAtOnceThenOneEveryOtherSecond) {
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(limit_.allows("10.0.0.1"));
    limit_.failed("10.0.0.1");
  }
  EXPECT_FALSE(limit_.allows("10.0.0.1"));
  EXPECT_TRUE(limit_.allows("10.0.0.2"));
  now_ += std::chrono::milliseconds(1900);
  EXPECT_FALSE(limit_.allows("10.0.0.1"));
  now_ += std::chrono::milliseconds(200);
  EXPECT_TRUE(limit_.allows("10.0.0.1"));
  limit_.failed("10.0.0.1");
  EXPECT_FALSE(limit_.allows("10.0.0.1"));
}

TEST_F(TryLimitTest, ANetworkOfIpv6IsOne) {
  for (int i = 0; i < 10; ++i) limit_.failed("2001:db8:1:2::" + std::to_string(i));
  EXPECT_FALSE(limit_.allows("2001:db8:1:2:ffff::1"));
  EXPECT_TRUE(limit_.allows("2001:db8:1:3::1"));
}

TEST_F(TryLimitTest, MemoryIsBoundedAndGuessersAreRemembered) {
  for (int i = 0; i < 10; ++i) limit_.failed("10.0.0.1");
  now_ += std::chrono::milliseconds(1);
  for (std::size_t i = 0; i < TryLimit::kMostAddresses - 1; ++i) {
    limit_.failed("11." + std::to_string(i / 65536) + '.' + std::to_string(i / 256 % 256) + '.' +
                  std::to_string(i % 256));
  }
  EXPECT_FALSE(limit_.allows("10.0.0.1"));
  for (int i = 0; i < 1000; ++i) limit_.failed("12.0.0." + std::to_string(i));
  EXPECT_LE(limit_.addresses(), TryLimit::kMostAddresses);
}

}  // namespace
}  // namespace traceglass
