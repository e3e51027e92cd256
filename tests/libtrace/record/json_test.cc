#include "libtrace/record/json.h"

#include <gtest/gtest.h>

namespace libtrace::detail {
namespace {

TEST(Json, AcceptsValues) {
  for (const char* const text :
       {"1", "-0.5e+10", "true", " null ", "\"a\\u00e9\\n\"", "[]", "{}", "[1, [2, {\"a\": 3}]]",
        "{\"a\": \"b\", \"c\": [false]}", "\"\xC3\xA9\"", "0", "1E5"}) {
    EXPECT_TRUE(is_json(text)) << text;
  }
}

TEST(Json, RefusesEverythingElse) {
  for (const char* const text : {"",
                                 " ",
                                 "plain text",
                                 "{a: 1}",
                                 "{\"a\" 1}",
                                 "[1,]",
                                 "{\"a\": 1,}",
                                 "[1 2]",
                                 "01",
                                 "1.",
                                 ".5",
                                 "+1",
                                 "nan",
                                 "inf",
                                 "\"open",
                                 "\"\n\"",
                                 "\"\\x\"",
                                 "\"\\u12\"",
                                 "[",
                                 "{\"a\": 1",
                                 "1 2",
                                 "\"\xFF\"",
                                 "\"\xC0\x80\"",
                                 "\"\xED\xA0\x80\"",
                                 "'a'",
                                 "tru",
                                 "-",
                                 "1e"}) {
    EXPECT_FALSE(is_json(text)) << text;
  }
}

TEST(Json, DeepNestingIsRefusedNotFollowed) {
  EXPECT_TRUE(is_json(std::string(200, '[') + std::string(200, ']')));
  EXPECT_FALSE(is_json(std::string(1'000'000, '[')));
}

TEST(Json, QuotesAnything) {
  EXPECT_EQ(json_quoted("a \"b\" \\ \n"), R"("a \"b\" \\ \u000a")");
  EXPECT_EQ(json_quoted(std::string_view("\0", 1)), R"("\u0000")");
  EXPECT_EQ(json_quoted("\xFF"
                        "a\xE2\x82"),
            "\"\xEF\xBF\xBD"
            "a\xEF\xBF\xBD\xEF\xBF\xBD\"");
  EXPECT_EQ(json_quoted("\xF0\x9F\x98\x80"), "\"\xF0\x9F\x98\x80\"");
}

}  // namespace
}  // namespace libtrace::detail
