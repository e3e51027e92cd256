#include "tb_backend/api/security.h"

#include <arpa/inet.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace traceglass {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

// "[::1]:6006" → "::1", "localhost:6006" → "localhost".
std::string host_of(std::string_view authority) {
  if (authority.starts_with('[')) return lower(authority.substr(1, authority.find(']') - 1));
  return lower(authority.substr(0, authority.find(':')));
}

bool is_address(const std::string& host) {
  std::array<unsigned char, 16> ignored{};
  return inet_pton(AF_INET, host.c_str(), ignored.data()) == 1 ||
         inet_pton(AF_INET6, host.c_str(), ignored.data()) == 1;
}

std::string machine_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? lower(name.data()) : std::string();
}

// A rebinding attack needs a name of the attacker's own: addresses and our own names are safe.
bool known_host(const AccessRules& rules, std::string_view header) {
  const std::string host = host_of(header);
  if (host == "localhost" || host == lower(rules.host)) return true;
  if (is_loopback(rules.host)) return is_loopback(host);
  if (is_address(host)) return true;
  const std::string machine = machine_name();
  return !machine.empty() && (host == machine || host == machine + ".local");
}

std::string_view cookie(const Call& call, std::string_view name) {
  std::string_view rest = call.header("Cookie");
  while (!rest.empty()) {
    const auto end = rest.find(';');
    std::string_view item = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    while (item.starts_with(' ')) item.remove_prefix(1);
    if (item.starts_with(name) && item.substr(name.size()).starts_with('=')) {
      return item.substr(name.size() + 1);
    }
  }
  return {};
}

bool has_token(const AccessRules& rules, const Call& call) {
  constexpr std::string_view kBearer = "Bearer ";
  const std::string_view authorization = call.header("Authorization");
  const std::string* query = call.query.find("token");
  return same_secret(call.header("X-Traceglass-Token"), rules.token) ||
         same_secret(cookie(call, kTokenCookie), rules.token) ||
         (authorization.starts_with(kBearer) &&
          same_secret(authorization.substr(kBearer.size()), rules.token)) ||
         (query != nullptr && same_secret(*query, rules.token));
}

}  // namespace

bool is_loopback(const std::string& host) {
  if (host == "localhost" || host == "::1") return true;
  in_addr address{};
  return inet_pton(AF_INET, host.c_str(), &address) == 1 && (ntohl(address.s_addr) >> 24U) == 127;
}

bool same_secret(std::string_view a, std::string_view b) {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  }
  return difference == 0;
}

std::optional<Problem> refusal(const AccessRules& rules, const Call& call) {
  if (!rules.secret.empty() && !same_secret(call.header("X-Traceglass-Secret"), rules.secret)) {
    return Problem{403, "secret", "This server answers only the program that started it.", "", {}};
  }
  if (!known_host(rules, call.header("Host"))) {
    return Problem{403,
                   "host",
                   "The address you used is not one of this server's: open it by IP address, as "
                   "localhost, or by the name given with --host.",
                   "",
                   {}};
  }
  if (call.method != "GET" && call.method != "HEAD") {
    const std::string_view origin = call.header("Origin");
    const auto scheme = origin.find("://");
    const bool own = scheme != std::string_view::npos &&
                     lower(origin.substr(scheme + 3)) == lower(call.header("Host"));
    if (!origin.empty() && !own) {
      return Problem{403, "origin", "A page of another site may not change anything here.", "", {}};
    }
  }
  if (!rules.token.empty() && !has_token(rules, call)) {
    return Problem{401,
                   "token",
                   "This server needs its token: add ?token=… to the address once, or send it as "
                   "the header X-Traceglass-Token.",
                   "",
                   {}};
  }
  return std::nullopt;
}

void add_security_headers(Reply& reply) {
  reply.headers.emplace_back("X-Content-Type-Options", "nosniff");
  reply.headers.emplace_back(
      "Content-Security-Policy",
      "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'self'; "
      "form-action 'none'; frame-ancestors 'self'");
  reply.headers.emplace_back("Referrer-Policy", "no-referrer");
  reply.headers.emplace_back("Cross-Origin-Resource-Policy", "same-origin");
}

}  // namespace traceglass
