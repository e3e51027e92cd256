#include "tb_backend/api/app.h"

#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include "tb_backend/api/encoding.h"
#include "tb_backend/api/json.h"
#include "tb_backend/api/problem.h"

namespace traceglass {
namespace {

// What a TensorBoard page does with a plugin, in two files: the frame's document, which names the
// plugin's folder as its base, and its script. (TensorBoard's own is inline, allowed by hash.)
constexpr const char* kPluginFrame = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>traceglass</title>
<base href="plugin/traceglass/"></head>
<body><script type="module" src="../../plugin_entry.js"></script></body></html>
)";
constexpr const char* kPluginScript =
    "import('./plugin/traceglass/index.js').then((m) => void m.render());\n";

Reply plugins_listing(const std::string& root) {
  return json_reply({{kPluginName,
                      {{"disable_reload", true},
                       {"enabled", true},
                       {"loading_mechanism",
                        {{"type", "IFRAME"},
                         {"module_path", root + "/data/plugin/" + kPluginName + "/index.js"}}},
                       {"remove_dom", false},
                       {"tab_name", "PyTorch Profiler"}}}});
}

// The part of `path` below `mount`: "" for the mount itself without its slash.
std::optional<std::string_view> below(std::string_view path, std::string_view mount) {
  if (!path.starts_with(mount)) return std::nullopt;
  path.remove_prefix(mount.size());
  if (!path.empty() && path.front() != '/') return std::nullopt;
  return path;
}

// To the same place with a slash at its end: the page's addresses are relative to a folder.
Reply to_folder(const Call& call) {
  Reply reply;
  reply.status = 308;
  reply.type = "text/plain; charset=utf-8";
  const std::string query = call.raw_query.empty() ? "" : '?' + call.raw_query;
  const std::string last = call.path.substr(call.path.rfind('/') + 1);
  reply.headers.emplace_back("Location", "./" + last + '/' + query);
  return reply;
}

// A token in the address becomes a cookie, so that it does not stay in the history or in a link.
Reply to_cookie(const std::string& token, bool secure) {
  Reply reply;
  reply.status = 303;
  reply.type = "text/plain; charset=utf-8";
  // Never text of the request: "javascript:…" is an address too.
  reply.headers.emplace_back("Location", "./");
  reply.headers.emplace_back("Set-Cookie", token_cookie(token, secure));
  return reply;
}

}  // namespace

App::App(AppOptions options)
    : options_(std::move(options)),
      watcher_(options_.logdir, options_.max_age),
      registry_(options_.registry),
      ranks_(registry_, options_.registry),
      notes_(options_.notes),
      files_(options_.web_dir) {}

Reply App::handle(const Call& call) {
  Reply reply;
  try {
    reply = answer(call);
  } catch (const std::exception& e) {
    reply = problem_reply({500, "internal", std::string("The server failed: ") + e.what(), "", {}});
  }
  encode_reply(call, reply);
  add_security_headers(reply);
  return reply;
}

Reply App::answer(const Call& call) {
  if (const auto problem = refusal(options_.access, call)) return problem_reply(*problem);
  const std::string plugin = std::string("/data/plugin/") + kPluginName;
  std::vector<std::string> mounts = {plugin, ""};
  if (!options_.path_prefix.empty()) {
    mounts.insert(mounts.begin(), {options_.path_prefix + plugin, options_.path_prefix});
  }
  for (const std::string& mount : mounts) {
    const auto path = below(call.path, mount);
    if (!path) continue;
    if (path->empty()) return to_folder(call);
    return below_mount(call, *path);
  }
  return problem_reply({404, "not_found", "There is no such page or file here.", "", {}});
}

std::optional<Reply> App::wrong_token(const Call& call, TokenShown shown) {
  if (options_.access.tokens.empty() || shown == TokenShown::kNone) return std::nullopt;
  const std::string address = client_address(options_.access, call);
  if (!tries_.allows(address)) {
    Reply reply = problem_reply({429,
                                 "too_many_tries",
                                 "Too many wrong tokens came from your address: wait a moment.",
                                 "",
                                 {}});
    reply.headers.emplace_back("Retry-After", "2");
    return reply;
  }
  if (shown != TokenShown::kWrong) return std::nullopt;
  tries_.failed(address);
  return problem_reply({401, "token", "That is not a token of this server.", "", {}});
}

std::optional<Reply> App::unknown_caller(Call& call) {
  const TokenShown shown = token_shown(options_.access, call);
  if (auto wrong = wrong_token(call, shown)) return wrong;
  if (!options_.access.tokens.empty() && shown == TokenShown::kNone) {
    return problem_reply({401,
                          "token",
                          "This server needs a token: type it here, add ?token=… to the address "
                          "once, or send it as the header X-Traceglass-Token.",
                          "",
                          {}});
  }
  call.caller.may_write = options_.access.tokens.empty() || shown == TokenShown::kWrites;
  call.caller.user = proxy_user(options_.access, call);
  call.caller.verified = !call.caller.user.empty();
  if (!call.reads() && !call.caller.may_write) {
    return problem_reply({403,
                          "may_not_write",
                          "Your token lets you read; a note needs one that may write.",
                          "",
                          {}});
  }
  return std::nullopt;
}

Reply App::sign_in(const Call& call) {
  const Json body = Json::parse(call.body, nullptr, false);
  const auto token = body.is_object() ? body.find("token") : body.end();
  if (!body.is_object() || token == body.end() || !token->is_string()) {
    return problem_reply({422, "bad_parameter", "The body has to hold token, a string.", "", {}});
  }
  const auto& text = token->get_ref<const std::string&>();
  const TokenShown shown = token_is(options_.access, text);
  if (options_.access.tokens.empty() || shown == TokenShown::kNone) {
    return problem_reply({422, "bad_parameter", "No token is needed, or none was given.", "", {}});
  }
  if (auto wrong = wrong_token(call, shown)) return *wrong;
  Reply reply = json_reply({{"may_write", shown == TokenShown::kWrites}});
  reply.headers.emplace_back("Set-Cookie", token_cookie(text, is_tls(options_.access, call)));
  return reply;
}

Reply App::below_mount(const Call& call, std::string_view path) {
  constexpr std::string_view kApi = "/api/";
  if (path.starts_with(kApi)) {
    if (!call.reads() && call.method != "DELETE" &&
        !call.header("Content-Type").starts_with("application/json")) {
      return problem_reply({415, "type", "The body has to be application/json.", "", {}});
    }
    if (path == "/api/session" && call.method == "POST") return sign_in(call);
    Call known = call;
    if (auto refused = unknown_caller(known)) return *refused;
    Services services{watcher_, registry_, ranks_, metrics_, notes_};
    return route(services, known, path.substr(kApi.size()));
  }
  if (!call.reads()) {
    Reply reply = problem_reply({405, "method", "The page is read by GET.", "", {}});
    reply.headers.emplace_back("Allow", "GET, HEAD");
    return reply;
  }
  // The page itself is the same for everybody and holds nothing of theirs, so it comes without a
  // token; it could not come with one when a link on another site leads to it (SameSite=Strict).
  const std::string* token = call.query.find("token");
  if (token != nullptr && !options_.access.tokens.empty()) {
    const TokenShown shown = token_is(options_.access, *token);
    if (auto wrong = wrong_token(call, shown)) return *wrong;
    if (shown != TokenShown::kNone) return to_cookie(*token, is_tls(options_.access, call));
  }
  if (path == "/data/plugins_listing") {
    return plugins_listing(call.path.substr(0, call.path.size() - path.size()));
  }
  if (path == "/data/plugin_entry.html") {
    return Reply::text(200, "text/html; charset=utf-8", kPluginFrame);
  }
  if (path == "/data/plugin_entry.js") {
    return Reply::text(200, "text/javascript; charset=utf-8", kPluginScript);
  }
  Reply reply = files_.get(path.substr(1));
  if (reply.status == 200 && has_etag(call, reply.etag)) {
    reply.status = 304;
    reply.body = std::make_shared<const std::string>();
  }
  return reply;
}

}  // namespace traceglass
