// Who may ask, and the headers that keep a page from being misused.
//
// The server stands on a user's machine, so any web page the user visits can send it requests:
// the Host check stops DNS rebinding, the Origin check stops foreign pages from acting, a token
// stops everybody else once the address is reachable from outside.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tb_backend/api/problem.h"

namespace traceglass {

struct AccessToken {
  std::string secret;
  bool may_write = false;
};

struct AccessRules {
  std::string host = "127.0.0.1";       // as bound
  std::vector<std::string> host_names;  // further names under which a proxy is reached
  std::vector<AccessToken> tokens;      // none: none needed
  std::string secret;       // "": none needed; else only the TensorBoard plugin or a proxy may ask
  std::string user_header;  // "": users say their names themselves
  std::vector<std::string> trusted_proxies;  // addresses whose word on users and clients counts
};

inline constexpr const char* kTokenCookie = "traceglass_token";
// On every request that changes something: no form and no simple request of another site has it.
inline constexpr const char* kWriteHeader = "X-Traceglass-Write";

bool is_loopback(const std::string& host);

// Equal in a time that does not tell where they differ.
bool same_secret(std::string_view a, std::string_view b);

// Why this request gets no answer whatever it knows, or nullopt: Host, Origin, secret.
std::optional<Problem> refusal(const AccessRules& rules, const Call& call);

enum class TokenShown : std::uint8_t { kNone, kWrong, kReads, kWrites };
// The best token of header, cookie and address; kWrong where header or address show a wrong one.
TokenShown token_shown(const AccessRules& rules, const Call& call);
TokenShown token_is(const AccessRules& rules, std::string_view token);

bool from_trusted_proxy(const AccessRules& rules, const Call& call);
// Of the client: the other end, or whom a trusted proxy names.
std::string client_address(const AccessRules& rules, const Call& call);
// The user whom a trusted proxy names; "" for none, or when it does not do so clearly.
std::string proxy_user(const AccessRules& rules, const Call& call);

// For Set-Cookie. `secure`: the browser is reached by TLS.
std::string token_cookie(std::string_view token, bool secure);
bool is_tls(const AccessRules& rules, const Call& call);

// nosniff, content security policy, …: on every answer.
void add_security_headers(Reply& reply);

}  // namespace traceglass
