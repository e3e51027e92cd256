// Errors as problem+json: a title for the kind, a sentence for this one.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "tb_backend/api/call.h"

namespace traceglass {

struct Problem {
  int status = 500;
  std::string code;    // "" or a word a program can test: not_found, bad_parameter, broken, …
  std::string detail;  // a sentence for a user
  std::string file;
  std::optional<std::uint64_t> offset;
};

nlohmann::json problem_json(const Problem& problem);
Reply problem_reply(const Problem& problem);

}  // namespace traceglass
