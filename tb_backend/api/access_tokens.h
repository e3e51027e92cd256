// The file of --token-file: who may read, and who may write notes too.
//
//     # comments and empty lines are skipped
//     write 7hV0c…       a token of 16 to 200 letters, digits and -._~
//     read  pQ2mx…
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tb_backend/api/security.h"

namespace traceglass {

// Letters, digits and -._~: goes into a cookie and an address as it stands.
bool is_plain_token(std::string_view token);

// The tokens, or a sentence on what is wrong with which line. Never quotes a token.
std::variant<std::vector<AccessToken>, std::string> parse_token_file(std::string_view text);

// The same of a file; also refused where others than its owner and group may read it.
std::variant<std::vector<AccessToken>, std::string> read_token_file(const std::string& path);

}  // namespace traceglass
