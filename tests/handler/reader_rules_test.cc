// The checker itself: each rule finds what breaks it.
#include "tests/handler/reader_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace libtrace {
namespace {

using testing::broken_rules;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string file(const std::string& rows, const std::string& head = "") {
  return "{\n" + head + "\"traceEvents\": [\n" + rows + "\n]}\n";
}
const std::string kOp =
    R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":2,"ts":1.000,"dur":5.000})";

TEST(ReaderRules, AGoodFile) {
  EXPECT_THAT(broken_rules(file(kOp, "\"distributedInfo\": {\"rank\": 3},\n")), IsEmpty());
}

TEST(ReaderRules, EachIsFound) {
  const auto breaks = [](const std::string& text, const std::string& what) {
    EXPECT_THAT(broken_rules(text), ::testing::Contains(HasSubstr(what))) << text;
  };
  breaks("{", "no JSON");
  breaks(file(kOp) + "\t", "control character");
  breaks("{\"traceEvents\":[" + kOp + "]}", "stand otherwise");
  breaks("{\"traceEvents\": [\n" + kOp + "], \"a\": 1}", "metadata behind");
  breaks(file(kOp, "\"distributedInfo\": {\"rank\":3},\n"), "rank");
  const auto changed = [](const std::string& from, const std::string& to) {
    std::string row = kOp;
    row.replace(row.find(from), from.size(), to);
    return row;
  };
  breaks(file(changed("\"name\"", "\"nom\"")), "no name");
  breaks(file(changed("\"cat\"", "\"kat\"")), "no category");
  breaks(file(changed("\"dur\":5", "\"dur\":-5")), "no duration");
  breaks(file(changed("\"pid\":1", "\"pid\":-1")), "negative pid");
  breaks(file(changed("\"tid\":2", "\"tid\":\"2\"")), "thread is no number");
  breaks(file(changed("\"dur\"", "\"args\":{\"stream\":7},\"dur\"")), "with a stream");
  breaks(
      file(changed("\"cpu_op\",\"name\":\"a\",\"pid\":1", "\"kernel\",\"name\":\"a\",\"pid\":64")),
      "device not below 64");
  breaks(file(kOp + ",\n" + changed("\"ts\":1", "\"ts\":0")), "order of (ts, -dur)");
  breaks(file(kOp + ",\n" + changed("\"ts\":1", "\"ts\":3")), "partial overlap");
  const std::string arrow = R"({"ph":"s","id":1,"cat":"c","name":"n","pid":1,"tid":2,"ts":1.000})";
  breaks(file(kOp + ",\n" + arrow), "without both ends");
  std::string end = arrow;
  end.replace(end.find("\"s\""), 3, "\"f\"");
  breaks(file(kOp + ",\n" + arrow + ",\n" + end), "binds to the next");
  std::string launch = arrow, work = end;
  for (std::string* const text : {&launch, &work}) {
    text->replace(text->find("\"c\""), 3, "\"ac2g\"");
  }
  work.replace(work.find("}"), 1, ",\"bp\":\"e\"}");
  EXPECT_THAT(broken_rules(file(kOp + ",\n" + launch + ",\n" + work)), IsEmpty());
  breaks(file(kOp + ",\n" + launch + ",\n" + work + ",\n" + work), "more than one arrow");
  end.replace(end.find("1.000"), 5, "9.000");
  breaks(file(kOp + ",\n" + arrow + ",\n" + end), "ends in no row");
}

}  // namespace
}  // namespace libtrace
