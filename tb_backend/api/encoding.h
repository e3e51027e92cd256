// Entity tags and compression: what makes an answer cheap to send, or not sent at all.
#pragma once

#include <string>
#include <string_view>

#include "tb_backend/api/call.h"

namespace traceglass {

// The client has it: If-None-Match names `etag` (with or without our gzip suffix) or is "*".
bool has_etag(const Call& call, std::string_view etag);

// Headers for caching; the body as gzip where the client takes it and it pays (1.4 kB: a packet).
void encode_reply(const Call& call, Reply& reply);

// Levels as libdeflate counts: 1 is fastest, 9 small. "" for want of memory.
std::string gzip(std::string_view bytes, int level);

}  // namespace traceglass
