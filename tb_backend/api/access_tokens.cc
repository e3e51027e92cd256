#include "tb_backend/api/access_tokens.h"

#include <sys/stat.h>

#include <cstring>
#include <fstream>
#include <sstream>

namespace traceglass {
namespace {

constexpr std::size_t kShortest = 16, kLongest = 200;
constexpr std::size_t kMostTokens = 64;

}  // namespace

bool is_plain_token(std::string_view token) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  return token.find_first_not_of(kPlain) == std::string_view::npos;
}

std::variant<std::vector<AccessToken>, std::string> parse_token_file(std::string_view text) {
  std::vector<AccessToken> out;
  std::istringstream lines{std::string(text)};
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const auto wrong = [&](const std::string& what) {
      return "line " + std::to_string(number) + ' ' + what;
    };
    std::istringstream words(line);
    std::string what, token, more;
    words >> what;
    if (what.empty() || what.front() == '#') continue;
    words >> token >> more;
    if (what != "write" && what != "read") {
      return wrong("has to begin with write or read.");
    }
    if (token.empty() || !more.empty()) return wrong("has to hold one token.");
    if (!is_plain_token(token) || token.size() < kShortest || token.size() > kLongest) {
      return wrong("has to hold a token of 16 to 200 letters, digits and -._~.");
    }
    for (const AccessToken& other : out) {
      if (other.secret == token) return wrong("repeats a token.");
    }
    out.push_back({token, what == "write"});
    if (out.size() > kMostTokens) return wrong("is one too many: 64 tokens are enough.");
  }
  if (out.empty()) return std::string("it holds no token: write a line write TOKEN or read TOKEN.");
  return out;
}

std::variant<std::vector<AccessToken>, std::string> read_token_file(const std::string& path) {
  struct stat s{};
  if (::stat(path.c_str(), &s) != 0) return std::string(std::strerror(errno)) + '.';
  if (!S_ISREG(s.st_mode)) return std::string("it is no file.");
  if ((s.st_mode & S_IRWXO) != 0) {
    return std::string("everybody on this machine may read it: chmod 600 it first.");
  }
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return std::string("it cannot be read, or is empty.");
  return parse_token_file(text.str());
}

}  // namespace traceglass
