// A JSON document as an answer.
#pragma once

#include "tb_backend/api/call.h"
#include "tb_backend/api/view_json.h"

namespace traceglass {

inline Reply json_reply(const Json& json) {
  return Reply::text(200, "application/json", dump(json));
}

}  // namespace traceglass
