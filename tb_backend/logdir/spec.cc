#include "tb_backend/logdir/spec.h"

#include <cstdlib>

namespace traceglass {

namespace fs = std::filesystem;

fs::path expand_user(std::string_view path) {
  if (path == "~" || path.starts_with("~/")) {
    if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') {
      return fs::path(std::string(home) + std::string(path.substr(1)));
    }
  }
  return fs::path(path);
}

LogdirSpec single_logdir(std::string_view path) { return {{"", expand_user(path)}}; }

LogdirSpec parse_logdir_spec(std::string_view text) {
  LogdirSpec spec;
  while (true) {
    const auto comma = text.find(',');
    std::string_view part = text.substr(0, comma);
    if (!part.empty()) {
      const auto colon = part.find(':');
      const bool named = colon != std::string_view::npos && colon > 0 && !part.starts_with('/');
      const std::string_view path = named ? part.substr(colon + 1) : part;
      spec.push_back({std::string(named ? part.substr(0, colon) : part), expand_user(path)});
    }
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  return spec;
}

std::string describe(const LogdirSpec& spec) {
  std::string text;
  for (const LogdirRoot& root : spec) {
    if (!text.empty()) text += ',';
    const std::string path = root.path.string();
    if (!root.name.empty() && root.name != path) text += root.name + ':';
    text += path;
  }
  return text;
}

}  // namespace traceglass
