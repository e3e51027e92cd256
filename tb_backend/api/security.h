// Who may ask, and the headers that keep a page from being misused.
//
// The server stands on a user's machine, so any web page the user visits can send it requests:
// the Host check stops DNS rebinding, the Origin check stops foreign pages from acting, a token
// stops everybody else once the address is reachable from outside.
#pragma once

#include <optional>
#include <string>

#include "tb_backend/api/problem.h"

namespace traceglass {

struct AccessRules {
  std::string host = "127.0.0.1";  // as bound
  std::string token;               // "": none needed
  std::string secret;              // "": none needed; else only the TensorBoard plugin may ask
};

inline constexpr const char* kTokenCookie = "traceglass_token";

bool is_loopback(const std::string& host);

// Equal in a time that does not tell where they differ.
bool same_secret(std::string_view a, std::string_view b);

// Why this request gets no answer, or nullopt.
std::optional<Problem> refusal(const AccessRules& rules, const Call& call);

// nosniff, content security policy, …: on every answer.
void add_security_headers(Reply& reply);

}  // namespace traceglass
