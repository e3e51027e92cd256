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
  if (std::any_of(rules.host_names.begin(), rules.host_names.end(),
                  [&](const std::string& name) { return host == lower(name); })) {
    return true;
  }
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

// One spelling for each address: "::ffff:10.0.0.1" is 10.0.0.1. "" if it is none.
std::string normal_address(std::string_view text) {
  std::string address(text);
  if (address.starts_with('[') && address.ends_with(']')) {
    address = address.substr(1, address.size() - 2);
  }
  in_addr v4{};
  in6_addr v6{};
  std::array<char, INET6_ADDRSTRLEN> out{};
  if (inet_pton(AF_INET, address.c_str(), &v4) == 1) {
    return inet_ntop(AF_INET, &v4, out.data(), out.size());
  }
  if (inet_pton(AF_INET6, address.c_str(), &v6) != 1) return {};
  if (IN6_IS_ADDR_V4MAPPED(&v6)) {
    return inet_ntop(AF_INET, &v6.s6_addr[12], out.data(), out.size());
  }
  return inet_ntop(AF_INET6, &v6, out.data(), out.size());
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::optional<Problem> foreign_write(const Call& call) {
  const std::string_view origin = call.header("Origin");
  const auto scheme = origin.find("://");
  const bool own = scheme != std::string_view::npos &&
                   lower(origin.substr(scheme + 3)) == lower(call.header("Host"));
  if (!origin.empty() && !own) {
    return Problem{403, "origin", "A page of another site may not change anything here.", "", {}};
  }
  if (call.header(kWriteHeader).empty()) {
    return Problem{
        403,
        "write_header",
        std::string("A request that changes something has the header ") + kWriteHeader + ": 1.",
        "",
        {}};
  }
  return std::nullopt;
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
  // A page elsewhere may lead here, but not ask behind its user's back.
  if (call.header("Sec-Fetch-Site") == "cross-site" &&
      call.header("Sec-Fetch-Mode") != "navigate") {
    return Problem{403, "origin", "The request comes from a page of another site.", "", {}};
  }
  if (!call.reads()) return foreign_write(call);
  return std::nullopt;
}

TokenShown token_is(const AccessRules& rules, std::string_view token) {
  TokenShown shown = token.empty() ? TokenShown::kNone : TokenShown::kWrong;
  // All of them, so that the time does not tell which one it is.
  for (const AccessToken& known : rules.tokens) {
    if (!same_secret(token, known.secret)) continue;
    shown = std::max(shown, known.may_write ? TokenShown::kWrites : TokenShown::kReads);
  }
  return shown;
}

TokenShown token_shown(const AccessRules& rules, const Call& call) {
  constexpr std::string_view kBearer = "Bearer ";
  TokenShown best = token_is(rules, cookie(call, kTokenCookie));
  const std::string* query = call.query.find("token");
  std::string_view bearer = call.header("Authorization");
  bearer = bearer.starts_with(kBearer) ? bearer.substr(kBearer.size()) : std::string_view();
  for (const std::string_view token :
       {call.header("X-Traceglass-Token"), bearer,
        // In an address it may have been seen: enough to read, a link of another site cannot write.
        query != nullptr && call.reads() ? std::string_view(*query) : std::string_view()}) {
    const TokenShown shown = token_is(rules, token);
    // A wrong one is a wrong one whatever the cookie says: who may read cannot try to guess what
    // may write. What a proxy puts into Authorization may be its own.
    const bool of_proxy = token.data() == bearer.data() && from_trusted_proxy(rules, call);
    if (shown == TokenShown::kWrong && !of_proxy) return shown;
    best = std::max(best, shown);
  }
  return best;
}

bool from_trusted_proxy(const AccessRules& rules, const Call& call) {
  const std::string remote = normal_address(call.remote);
  return !remote.empty() &&
         std::any_of(rules.trusted_proxies.begin(), rules.trusted_proxies.end(),
                     [&](const std::string& proxy) { return normal_address(proxy) == remote; });
}

std::string client_address(const AccessRules& rules, const Call& call) {
  if (from_trusted_proxy(rules, call) && call.header_count("X-Forwarded-For") == 1) {
    // Its last entry is the proxy's own; those before are what the client says.
    std::string_view list = call.header("X-Forwarded-For");
    list.remove_prefix(list.rfind(',') + 1);
    std::string named = normal_address(trimmed(list));
    if (!named.empty()) return named;
  }
  return normal_address(call.remote);
}

std::string proxy_user(const AccessRules& rules, const Call& call) {
  if (rules.user_header.empty() || call.header_count(rules.user_header) != 1) return {};
  if (!from_trusted_proxy(rules, call)) return {};
  return std::string(trimmed(call.header(rules.user_header)));
}

std::string token_cookie(std::string_view token, bool secure) {
  return std::string(kTokenCookie) + '=' + std::string(token) +
         "; Path=/; HttpOnly; SameSite=Strict" + (secure ? "; Secure" : "");
}

bool is_tls(const AccessRules& rules, const Call& call) {
  return from_trusted_proxy(rules, call) && call.header("X-Forwarded-Proto") == "https";
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
