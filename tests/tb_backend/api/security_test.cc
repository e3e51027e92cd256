#include "tb_backend/api/security.h"

#include <gtest/gtest.h>

namespace traceglass {
namespace {

Call get(std::vector<std::pair<std::string, std::string>> headers = {}) {
  Call call;
  call.headers = std::move(headers);
  return call;
}

int status(const AccessRules& rules, const Call& call) {
  const auto problem = refusal(rules, call);
  return problem ? problem->status : 200;
}

TEST(Security, LoopbackServerAnswersOnlyLoopbackNames) {
  const AccessRules rules;
  for (const char* host :
       {"127.0.0.1:6006", "localhost", "LOCALHOST:1", "[::1]:6006", "127.9.9.9"}) {
    EXPECT_EQ(status(rules, get({{"Host", host}})), 200) << host;
  }
  for (const char* host : {"evil.example", "127.0.0.1.evil.example", "localhost.evil.example:6006",
                           "10.0.0.1", "", "[::2]", "["}) {
    EXPECT_EQ(status(rules, get({{"Host", host}})), 403) << host;
  }
  EXPECT_EQ(status(rules, get()), 403);
}

TEST(Security, OpenServerAnswersAddressesAndItsOwnName) {
  AccessRules rules;
  rules.host = "0.0.0.0";
  EXPECT_EQ(status(rules, get({{"Host", "10.0.0.1:6006"}})), 200);
  EXPECT_EQ(status(rules, get({{"Host", "[fe80::1]:6006"}})), 200);
  EXPECT_EQ(status(rules, get({{"Host", "evil.example"}})), 403);
  rules.host = "gpu7.lab.example";
  EXPECT_EQ(status(rules, get({{"Host", "GPU7.lab.example:6006"}})), 200);
}

TEST(Security, TokenByHeaderCookieOrAddress) {
  AccessRules rules;
  rules.token = "s3cret";
  const std::pair<std::string, std::string> host = {"Host", "localhost"};
  EXPECT_EQ(status(rules, get({host})), 401);
  EXPECT_EQ(status(rules, get({host, {"X-Traceglass-Token", "s3cret"}})), 200);
  EXPECT_EQ(status(rules, get({host, {"X-Traceglass-Token", "s3cre"}})), 401);
  EXPECT_EQ(status(rules, get({host, {"Authorization", "Bearer s3cret"}})), 200);
  EXPECT_EQ(status(rules, get({host, {"Cookie", "a=b; traceglass_token=s3cret; c=d"}})), 200);
  EXPECT_EQ(status(rules, get({host, {"Cookie", "xtraceglass_token=s3cret"}})), 401);
  EXPECT_EQ(status(rules, get({host, {"Cookie", "traceglass_token="}})), 401);
  Call call = get({host});
  call.query = Query(std::vector<std::pair<std::string, std::string>>{{"token", "s3cret"}});
  EXPECT_EQ(status(rules, call), 200);
}

TEST(Security, SecretIsNeededBeforeAnythingElse) {
  AccessRules rules;
  rules.secret = "from the plugin";
  EXPECT_EQ(status(rules, get({{"Host", "127.0.0.1"}})), 403);
  EXPECT_EQ(status(rules, get({{"Host", "127.0.0.1"}, {"X-Traceglass-Secret", "from the plugin"}})),
            200);
}

TEST(Security, ForeignPagesMayNotWrite) {
  const AccessRules rules;
  Call call = get({{"Host", "127.0.0.1:6006"}, {"Origin", "http://evil.example"}});
  EXPECT_EQ(status(rules, call), 200);  // reading is stopped by the browser
  call.method = "POST";
  EXPECT_EQ(status(rules, call), 403);
  call.headers[1].second = "null";
  EXPECT_EQ(status(rules, call), 403);
  call.headers[1].second = "http://127.0.0.1:6006";
  EXPECT_EQ(status(rules, call), 200);
  call.headers[1].second = "http://127.0.0.1:7007";
  EXPECT_EQ(status(rules, call), 403);
}

TEST(Security, SecretsCompareWhole) {
  EXPECT_TRUE(same_secret("abc", "abc"));
  EXPECT_FALSE(same_secret("abc", "ab"));
  EXPECT_FALSE(same_secret("ab", "abc"));
  EXPECT_FALSE(same_secret("", "a"));
  EXPECT_TRUE(is_loopback("127.0.0.1"));
  EXPECT_TRUE(is_loopback("::1"));
  EXPECT_FALSE(is_loopback("0.0.0.0"));
  EXPECT_FALSE(is_loopback("127.0.0.1.evil.example"));
}

}  // namespace
}  // namespace traceglass
