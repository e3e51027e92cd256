#include "handler/local_path.h"

#include <algorithm>
#include <string>

namespace libtrace {

Status check_local_path(const std::filesystem::path& path) {
  const std::string& text = path.native();
  if (text.empty()) return Status::invalid_argument("The path to write to is empty");
  if (text.find('\0') != std::string::npos) {
    return Status::invalid_argument("The path to write to has a NUL in it");
  }
  const std::size_t colon = text.find("://");
  const auto is_scheme = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '-' || c == '.';
  };
  if (colon != std::string::npos && colon > 0 &&
      std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(colon), is_scheme)) {
    return Status::invalid_argument("Traces are written to local folders only, not to " + text +
                                    "; write to a mounted one, or copy the files");
  }
  return {};
}

}  // namespace libtrace
