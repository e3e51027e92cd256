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

constexpr const char* kToken = "0123456789abcdef";
constexpr const char* kReadToken = "fedcba9876543210";

AccessRules with_tokens() {
  AccessRules rules;
  rules.tokens = {{kToken, true}, {kReadToken, false}};
  return rules;
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
  const AccessRules rules = with_tokens();
  const auto shown = [&](std::vector<std::pair<std::string, std::string>> headers) {
    return token_shown(rules, get(std::move(headers)));
  };
  EXPECT_EQ(shown({}), TokenShown::kNone);
  EXPECT_EQ(shown({{"X-Traceglass-Token", kToken}}), TokenShown::kWrites);
  EXPECT_EQ(shown({{"X-Traceglass-Token", kReadToken}}), TokenShown::kReads);
  EXPECT_EQ(shown({{"X-Traceglass-Token", "0123456789abcde"}}), TokenShown::kWrong);
  EXPECT_EQ(shown({{"X-Traceglass-Token", "0123456789abcdeF"}}), TokenShown::kWrong);
  EXPECT_EQ(shown({{"Authorization", std::string("Bearer ") + kToken}}), TokenShown::kWrites);
  EXPECT_EQ(shown({{"Authorization", kToken}}), TokenShown::kNone);
  const std::string cookie = std::string("traceglass_token=") + kToken;
  EXPECT_EQ(shown({{"Cookie", "a=b; " + cookie + "; c=d"}}), TokenShown::kWrites);
  EXPECT_EQ(shown({{"Cookie", "x" + cookie}}), TokenShown::kNone);
  EXPECT_EQ(shown({{"Cookie", "traceglass_token="}}), TokenShown::kNone);
  // A stale cookie beside a good header.
  EXPECT_EQ(shown({{"Cookie", "traceglass_token=old"}, {"X-Traceglass-Token", kReadToken}}),
            TokenShown::kReads);
  // Who may read does not get to guess what may write.
  const std::string reads = std::string("traceglass_token=") + kReadToken;
  EXPECT_EQ(shown({{"Cookie", reads}, {"X-Traceglass-Token", "a guess"}}), TokenShown::kWrong);
  EXPECT_EQ(shown({{"Cookie", reads}, {"Authorization", "Bearer guess"}}), TokenShown::kWrong);
  EXPECT_EQ(shown({{"Cookie", reads}, {"Authorization", "Basic other"}}), TokenShown::kReads);
  Call call = get();
  call.query = Query(std::vector<std::pair<std::string, std::string>>{{"token", kToken}});
  EXPECT_EQ(token_shown(rules, call), TokenShown::kWrites);
  call.method = "POST";
  EXPECT_EQ(token_shown(rules, call), TokenShown::kNone);
}

TEST(Security, TheCookieIsTheServersAlone) {
  EXPECT_EQ(token_cookie("abc", false), "traceglass_token=abc; Path=/; HttpOnly; SameSite=Strict");
  EXPECT_EQ(token_cookie("abc", true),
            "traceglass_token=abc; Path=/; HttpOnly; SameSite=Strict; Secure");
}

TEST(Security, OnlyATrustedProxyNamesUserAndClient) {
  AccessRules rules;
  rules.user_header = "X-Forwarded-User";
  rules.trusted_proxies = {"10.0.0.9", "::1"};
  Call call = get({{"x-forwarded-user", " ann "}, {"X-Forwarded-For", "1.2.3.4, 10.1.1.1"}});
  call.remote = "10.0.0.8";
  EXPECT_EQ(proxy_user(rules, call), "");
  EXPECT_EQ(client_address(rules, call), "10.0.0.8");
  for (const char* proxy : {"10.0.0.9", "::ffff:10.0.0.9", "::1", "0:0::1"}) {
    call.remote = proxy;
    EXPECT_EQ(proxy_user(rules, call), "ann") << proxy;
    EXPECT_EQ(client_address(rules, call), "10.1.1.1") << proxy;  // what the proxy itself saw
  }
  call.headers.emplace_back("X-Forwarded-User", "mallory");  // two: one is the client's
  EXPECT_EQ(proxy_user(rules, call), "");
  EXPECT_FALSE(is_tls(rules, call));
  call.headers.emplace_back("X-Forwarded-Proto", "https");
  EXPECT_TRUE(is_tls(rules, call));
  call.remote = "";
  EXPECT_FALSE(is_tls(rules, call));
}

TEST(Security, FurtherNamesOfAProxy) {
  AccessRules rules;
  EXPECT_EQ(status(rules, get({{"Host", "traces.example.org"}})), 403);
  rules.host_names = {"Traces.Example.org"};
  EXPECT_EQ(status(rules, get({{"Host", "traces.example.org:8443"}})), 200);
  EXPECT_EQ(status(rules, get({{"Host", "traces.example.org.evil.example"}})), 403);
}

TEST(Security, PagesOfOtherSitesDoNotAskBehindTheUsersBack) {
  const AccessRules rules;
  const std::pair<std::string, std::string> host = {"Host", "localhost"};
  EXPECT_EQ(status(rules, get({host, {"Sec-Fetch-Site", "cross-site"}})), 403);
  EXPECT_EQ(
      status(rules, get({host, {"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Mode", "cors"}})),
      403);
  EXPECT_EQ(status(rules, get({host, {"Sec-Fetch-Site", "same-origin"}})), 200);
  EXPECT_EQ(
      status(rules, get({host, {"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Mode", "navigate"}})),
      200);
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
  for (const char* method : {"POST", "PATCH", "DELETE", "PUT"}) {
    call.method = method;
    call.headers = {{"Host", "127.0.0.1:6006"}, {"Origin", ""}, {"X-Traceglass-Write", "1"}};
    for (const char* foreign : {"http://evil.example", "null", "http://127.0.0.1:7007", "evil",
                                "http://127.0.0.1:6006.evil.example"}) {
      call.headers[1].second = foreign;
      EXPECT_EQ(status(rules, call), 403) << method << foreign;
    }
    for (const char* own : {"http://127.0.0.1:6006", ""}) {  // no browser leaves it out
      call.headers[1].second = own;
      EXPECT_EQ(status(rules, call), 200) << method << own;
    }
    call.headers.pop_back();  // what a form cannot send
    EXPECT_EQ(status(rules, call), 403) << method;
  }
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
