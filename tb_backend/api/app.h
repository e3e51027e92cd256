// The whole of what is served, without the HTTP library: mounts, security, the API, the page.
//
// Everything is there under several roots: "/", the path prefix if any, and TensorBoard's place
// for a plugin, so that the page can be tested in a TensorBoard-like host without Python.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tb_backend/api/call.h"
#include "tb_backend/api/registry.h"
#include "tb_backend/api/router.h"
#include "tb_backend/api/security.h"
#include "tb_backend/api/static_files.h"
#include "tb_backend/api/try_limit.h"
#include "tb_backend/logdir/watch.h"

namespace traceglass {

inline constexpr const char* kPluginName = "traceglass";

struct AppOptions {
  LogdirSpec logdir;
  std::string path_prefix;  // "" or "/a/b"
  std::filesystem::path web_dir;
  NoteStore::Options notes;
  AccessRules access;
  std::chrono::milliseconds max_age = Watcher::kMaxAge;
  Registry::Options registry;
};

class App {
 public:
  explicit App(AppOptions options);

  // Never throws. Thread-safe.
  Reply handle(const Call& call);

  [[nodiscard]] const AppOptions& options() const { return options_; }
  // Ends all answers that have no end of their own.
  void end_streams() { notes_.feed.stop(); }

 private:
  Reply answer(const Call& call);
  Reply below_mount(const Call& call, std::string_view path);
  // Fills in who asks, or says why that may not be.
  std::optional<Reply> unknown_caller(Call& call);
  // Looks at a token that somebody gives, unless too many wrong ones came from there.
  std::optional<Reply> wrong_token(const Call& call, TokenShown shown);
  Reply sign_in(const Call& call);

  const AppOptions options_;
  Watcher watcher_;
  Registry registry_;
  RankParts ranks_;
  MetricBook metrics_;
  Notes notes_;
  TryLimit tries_;
  StaticFiles files_;
};

}  // namespace traceglass
