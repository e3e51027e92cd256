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
Reply to_cookie(const std::string& token) {
  Reply reply;
  reply.status = 303;
  reply.type = "text/plain; charset=utf-8";
  // Never text of the request: "javascript:…" is an address too.
  reply.headers.emplace_back("Location", "./");
  reply.headers.emplace_back(
      "Set-Cookie", std::string(kTokenCookie) + '=' + token + "; Path=/; HttpOnly; SameSite=Lax");
  return reply;
}

}  // namespace

App::App(AppOptions options)
    : options_(std::move(options)),
      watcher_(options_.logdir, options_.max_age),
      registry_(options_.registry),
      ranks_(registry_, options_.registry),
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
  if (call.method != "GET" && call.method != "HEAD") {
    Reply reply = problem_reply({405, "method", "Everything here is read by GET.", "", {}});
    reply.headers.emplace_back("Allow", "GET, HEAD");
    return reply;
  }
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

Reply App::below_mount(const Call& call, std::string_view path) {
  constexpr std::string_view kApi = "/api/";
  if (path.starts_with(kApi)) {
    Services services{watcher_, registry_, ranks_, metrics_};
    return route(services, call, path.substr(kApi.size()));
  }
  const std::string* token = call.query.find("token");
  if (token != nullptr && !options_.access.token.empty()) {
    return to_cookie(options_.access.token);
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
