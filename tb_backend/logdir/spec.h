// Which directories are looked at: one, or several under names of their own.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace traceglass {

struct LogdirRoot {
  std::string name;  // prefix of its runs; "" for the only directory
  std::filesystem::path path;
};
using LogdirSpec = std::vector<LogdirRoot>;

// "~" and "~/x" as the shell would; other text as it stands.
std::filesystem::path expand_user(std::string_view path);

LogdirSpec single_logdir(std::string_view path);

// TensorBoard's --logdir_spec: "a:x,b:/y" or unnamed "x,y". A name ends at the first colon; text
// that starts with "/" is a path, colons and all. Unnamed parts are called by their path.
LogdirSpec parse_logdir_spec(std::string_view text);

// As a user would write it: the directory, or "a:x,b:y".
std::string describe(const LogdirSpec& spec);

}  // namespace traceglass
