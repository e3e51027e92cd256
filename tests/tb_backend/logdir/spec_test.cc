#include "tb_backend/logdir/spec.h"

#include <gtest/gtest.h>

namespace traceglass {
namespace {

TEST(LogdirSpec, NamesAndPaths) {
  const LogdirSpec spec = parse_logdir_spec("a:tb/logs,b:/x:y,/z:1,rel");
  ASSERT_EQ(spec.size(), 4U);
  EXPECT_EQ(spec[0].name, "a");
  EXPECT_EQ(spec[0].path, "tb/logs");
  EXPECT_EQ(spec[1].name, "b");
  EXPECT_EQ(spec[1].path, "/x:y");
  EXPECT_EQ(spec[2].name, "/z:1");
  EXPECT_EQ(spec[2].path, "/z:1");
  EXPECT_EQ(spec[3].name, "rel");
  EXPECT_EQ(describe(spec), "a:tb/logs,b:/x:y,/z:1,rel");
}

TEST(LogdirSpec, EmptyPartsSayNothing) {
  EXPECT_TRUE(parse_logdir_spec("").empty());
  EXPECT_EQ(parse_logdir_spec(",a:x,,").size(), 1U);
}

TEST(LogdirSpec, HomeIsExpandedAtTheStartOnly) {
  ::setenv("HOME", "/home/u", 1);
  EXPECT_EQ(expand_user("~"), "/home/u");
  EXPECT_EQ(expand_user("~/logs"), "/home/u/logs");
  EXPECT_EQ(expand_user("~other/logs"), "~other/logs");
  EXPECT_EQ(expand_user("a/~/b"), "a/~/b");
  EXPECT_EQ(parse_logdir_spec("a:~/x")[0].path, "/home/u/x");
}

}  // namespace
}  // namespace traceglass
