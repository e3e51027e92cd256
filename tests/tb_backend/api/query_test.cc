#include "tb_backend/api/query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace traceglass {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Query make(std::vector<std::pair<std::string, std::string>> values) {
  return Query(std::move(values));
}

std::string sentence(const std::function<void()>& ask) {
  try {
    ask();
  } catch (const BadRequest& bad) {
    return bad.parameter + ": " + bad.sentence;
  }
  return "";
}

TEST(Query, IntegersAreWholeAndWithinBounds) {
  const Query q = make({{"k", "12"}, {"bad", "1x"}, {"huge", "99999999999999999999"}, {"e", ""}});
  EXPECT_EQ(q.integer("k", 0, 52), 12);
  EXPECT_EQ(q.integer("absent", 0, 52, 7), 7);
  EXPECT_THAT(sentence([&] { (void)q.integer("k", 0, 5); }),
              HasSubstr("k must be an integer from 0 to 5, not \"12\""));
  EXPECT_THAT(sentence([&] { (void)q.integer("bad", 0, 5); }), HasSubstr("not \"1x\""));
  EXPECT_THAT(sentence([&] { (void)q.time("huge"); }), HasSubstr("huge must be"));
  EXPECT_THAT(sentence([&] { (void)q.time("e"); }), HasSubstr("e must be"));
  EXPECT_THAT(sentence([&] { (void)q.integer("absent", 0, 5); }), HasSubstr("absent is missing"));
}

TEST(Query, RangesOfPossiblyNegativeNumbers) {
  const Query q = make({{"a", "3-5"},
                        {"b", "3"},
                        {"c", "-2-5"},
                        {"d", "-3--1"},
                        {"e", "5-3"},
                        {"f", "3-"},
                        {"g", ""},
                        {"h", "-"},
                        {"i", "1-2-3"}});
  EXPECT_EQ(q.range("a"), std::pair(std::int64_t{3}, std::int64_t{5}));
  EXPECT_EQ(q.range("b"), std::pair(std::int64_t{3}, std::int64_t{3}));
  EXPECT_EQ(q.range("c"), std::pair(std::int64_t{-2}, std::int64_t{5}));
  EXPECT_EQ(q.range("d"), std::pair(std::int64_t{-3}, std::int64_t{-1}));
  for (const char* name : {"e", "f", "g", "h", "i"}) {
    EXPECT_THAT(sentence([&] { (void)q.range(name); }), HasSubstr("first-last")) << name;
  }
}

TEST(Query, IdsExistAndCountOnce) {
  const Query q = make({{"g", "2,0,2"},
                        {"far", "0,3"},
                        {"neg", "-1"},
                        {"end", "0,"},
                        {"none", ""},
                        {"runs", "4,1-5"},
                        {"back", "2-1"},
                        {"over", "1-3"},
                        {"open", "1-"}});
  EXPECT_THAT(q.ids("g", 3), ElementsAre(2, 0));
  EXPECT_THAT(q.ids("runs", 6), ElementsAre(4, 1, 2, 3, 5));
  for (const char* name : {"far", "neg", "end", "none", "back", "over", "open"}) {
    EXPECT_THAT(sentence([&] { (void)q.ids(name, 3); }), HasSubstr("below 3")) << name;
  }
}

TEST(Query, Choices) {
  const Query q = make({{"by", "kind"}, {"wrong", "x"}});
  EXPECT_EQ(q.choice("by", {"name", "kind"}), "kind");
  EXPECT_EQ(q.choice("absent", {"name", "kind"}), "name");
  EXPECT_THAT(sentence([&] { (void)q.choice("wrong", {"name", "kind"}); }),
              HasSubstr("one of name, kind"));
  EXPECT_THAT(sentence([&] { (void)q.choice("absent", {"name"}, true); }), HasSubstr("missing"));
}

TEST(Query, WrongValuesAreNotRepeatedWhole) {
  const Query q = make({{"k", std::string(100'000, 'x')}});
  EXPECT_LT(sentence([&] { (void)q.integer("k", 0, 1); }).size(), 200U);
}

TEST(Query, CanonicalDoesNotDependOnOrderAndDoesNotConfuse) {
  EXPECT_EQ(make({{"a", "1"}, {"b", "2"}}).canonical(), make({{"b", "2"}, {"a", "1"}}).canonical());
  EXPECT_NE(make({{"a", "1"}, {"b", "2"}}).canonical(), make({{"a", "1b2"}}).canonical());
}

}  // namespace
}  // namespace traceglass
