#include "tb_backend/api/serve.h"

#include <fmt/format.h>
#include <sys/sysinfo.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "tb_backend/api/access_tokens.h"
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

std::size_t memory_budget(std::uint64_t bytes) {
  if (bytes > 0) return bytes;
  struct sysinfo info{};
  if (::sysinfo(&info) != 0) return Registry::Options{}.budget_bytes;
  return static_cast<std::size_t>(info.totalram) * info.mem_unit / 2;
}

// Beside the traces; of a single file, in its folder.
std::filesystem::path default_notes(const LogdirSpec& logdir) {
  std::error_code error;
  std::filesystem::path folder = logdir.front().path;
  if (std::filesystem::is_regular_file(folder, error)) folder = folder.parent_path();
  return folder / ".traceglass" / "notes.db";
}

// What is wrong, "" for nothing. `shown`: the token to print in an address.
std::string add_tokens(const ServeOptions& options, AccessRules& access, std::string& shown) {
  const std::string token = or_environment(options.token, "TRACEGLASS_TOKEN");
  if (!is_plain_token(token)) return "a token is letters, digits and -._~ only.";
  if (!token.empty()) access.tokens.push_back({token, true});
  shown = token;
  if (options.token_file.empty()) return "";
  auto read = read_token_file(options.token_file);
  if (const auto* wrong = std::get_if<std::string>(&read)) {
    return "--token-file " + options.token_file + ": " + *wrong;
  }
  for (AccessToken& one : std::get<std::vector<AccessToken>>(read)) {
    access.tokens.push_back(std::move(one));
  }
  return "";
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
  app_options.access.host_names = options.host_names;
  app_options.access.user_header = options.user_header;
  app_options.access.trusted_proxies = options.trusted_proxies;
  if (app_options.logdir.empty()) return refuse("give a log directory.");
  app_options.notes.path =
      options.notes.empty() ? default_notes(app_options.logdir) : expand_user(options.notes);
  std::string token;
  if (!options.no_auth) {
    const std::string wrong = add_tokens(options, app_options.access, token);
    if (!wrong.empty()) return refuse(wrong);
  }
  if (!options.user_header.empty() && options.trusted_proxies.empty()) {
    return refuse("--user-header needs --trusted-proxy: anybody can send a header.");
  }
  const bool open =
      app_options.access.tokens.empty() && app_options.access.secret.empty() && !options.no_auth;
  if (!is_loopback(options.host) && open) {
    return refuse(fmt::format(
        "--host {} can be reached from other machines: give --token-file FILE, "
        "or --token TOKEN (or TRACEGLASS_TOKEN), which a reader then needs, or --no-auth "
        "if everybody who reaches it may read your traces and write notes.",
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
