#include "tb_backend/api/encoding.h"

#include <gtest/gtest.h>

namespace traceglass {
namespace {

std::string header(const Reply& reply, std::string_view name) {
  for (const auto& [key, value] : reply.headers) {
    if (key == name) return value;
  }
  return "";
}

Reply encoded(const char* accept, std::size_t size, const char* type = "application/json") {
  Call call;
  call.headers = {{"accept-encoding", accept}};
  Reply reply = Reply::text(200, type, std::string(size, 'a'));
  reply.etag = "tag";
  encode_reply(call, reply);
  return reply;
}

TEST(Encoding, GzipWhereItIsTakenAndPays) {
  EXPECT_EQ(header(encoded("gzip, deflate, br", 5000), "Content-Encoding"), "gzip");
  EXPECT_EQ(header(encoded("br, gzip;q=0.5", 5000), "Content-Encoding"), "gzip");
  EXPECT_LT(encoded("gzip", 5000).body->size(), 200U);
  EXPECT_EQ(header(encoded("gzip;q=0", 5000), "Content-Encoding"), "");
  EXPECT_EQ(header(encoded("br", 5000), "Content-Encoding"), "");
  EXPECT_EQ(header(encoded("gzip", 100), "Content-Encoding"), "");
  EXPECT_EQ(header(encoded("gzip", 5000, "image/png"), "Content-Encoding"), "");
  EXPECT_EQ(header(encoded("br", 5000), "Vary"), "Accept-Encoding");
}

TEST(Encoding, TagsOfBothFormsAreRecognised) {
  EXPECT_EQ(header(encoded("", 5000), "ETag"), "\"tag\"");
  EXPECT_EQ(header(encoded("gzip", 5000), "ETag"), "\"tag-gz\"");
  Call call;
  for (const char* value : {"\"tag\"", "\"tag-gz\"", "W/\"tag\"", "\"x\", \"tag\"", "*"}) {
    call.headers = {{"If-None-Match", value}};
    EXPECT_TRUE(has_etag(call, "tag")) << value;
  }
  for (const char* value : {"", "tag", "\"tag2\"", "\"xtag\""}) {
    call.headers = {{"If-None-Match", value}};
    EXPECT_FALSE(has_etag(call, "tag")) << value;
  }
}

}  // namespace
}  // namespace traceglass
