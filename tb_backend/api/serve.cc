#include "tb_backend/api/serve.h"

#include <fmt/format.h>
#include <sys/sysinfo.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "tb_backend/api/app.h"
#include "tb_backend/api/http_server.h"
#include "tb_backend/api/parent_watch.h"

namespace traceglass {
namespace {

std::string or_environment(const std::string& given, const char* variable) {
  if (!given.empty()) return given;
  const char* value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

// "a/b/" → "/a/b"; "/" → "".
std::string normal_prefix(std::string prefix) {
  while (prefix.ends_with('/')) prefix.pop_back();
  if (!prefix.empty() && prefix.front() != '/') prefix.insert(prefix.begin(), '/');
  return prefix;
}

// Goes into a cookie and an address as it stands.
bool is_plain(std::string_view token) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  return token.find_first_not_of(kPlain) == std::string_view::npos;
}

std::size_t memory_budget(std::uint64_t bytes) {
  if (bytes > 0) return bytes;
  struct sysinfo info{};
  if (::sysinfo(&info) != 0) return Registry::Options{}.budget_bytes;
  return static_cast<std::size_t>(info.totalram) * info.mem_unit / 2;
}

std::string bracketed(const std::string& host) {
  return host.find(':') == std::string::npos ? host : '[' + host + ']';
}

int refuse(const std::string& sentence) {
  fmt::print(stderr, "traceglass serve: {}\n", sentence);
  return 2;
}

}  // namespace

int serve(const ServeOptions& options) {
  AppOptions app_options;
  app_options.logdir = options.logdir_spec.empty() ? single_logdir(options.logdir)
                                                   : parse_logdir_spec(options.logdir_spec);
  app_options.path_prefix = normal_prefix(options.path_prefix);
  app_options.web_dir = find_web_dir(options.web_dir);
  app_options.registry.budget_bytes = memory_budget(options.memory);
  app_options.registry.load = indexed_loader(make_cache(options.index));
  app_options.access.host = options.host;
  app_options.access.secret = or_environment(options.secret, "TRACEGLASS_SECRET");
  if (!options.no_auth) {
    app_options.access.token = or_environment(options.token, "TRACEGLASS_TOKEN");
  }
  const std::string& token = app_options.access.token;
  if (app_options.logdir.empty()) return refuse("give a log directory.");
  if (!is_plain(token)) return refuse("a token is letters, digits and -._~ only.");
  const bool open = token.empty() && app_options.access.secret.empty() && !options.no_auth;
  if (!is_loopback(options.host) && open) {
    return refuse(
        fmt::format("--host {} can be reached from other machines: give --token TOKEN (or "
                    "TRACEGLASS_TOKEN), which a reader then needs, or --no-auth if everybody who "
                    "reaches it may read your traces.",
                    options.host));
  }

  // As TensorBoard: a run may begin later. But a mistyped name should not look like an empty
  // folder.
  for (const LogdirRoot& root : app_options.logdir) {
    std::error_code error;
    if (std::filesystem::exists(root.path, error) || error) continue;
    fmt::print(stderr, "traceglass serve: {} does not exist yet; traces show once it does.\n",
               root.path.string());
  }

  App app(app_options);
  HttpServer server(app);
  const int port = server.bind(options.host, options.port);
  if (port == 0) {
    fmt::print(stderr, "traceglass serve: cannot listen on {} port {}: in use, or not ours.\n",
               options.host, options.port);
    return 1;
  }
  // An address to click: 0.0.0.0 is none.
  const bool any = options.host == "0.0.0.0" || options.host == "::";
  fmt::print("http://{}:{}{}/{}\n", any ? "localhost" : bracketed(options.host), port,
             app_options.path_prefix, token.empty() ? "" : "?token=" + token);
  if (app_options.web_dir.empty()) {
    fmt::print("The page is not built or was not found; only the API answers (see --web-dir).\n");
  }
  std::fflush(stdout);
  if (options.exit_with_parent) exit_with_parent();
  server.run();
  return 0;
}

}  // namespace traceglass
