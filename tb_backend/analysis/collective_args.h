// What is written about a collective, on its kernel or on the calls around its launch.
#pragma once

#include <cstdint>
#include <string>

#include "libtrace/trace.h"
#include "tb_backend/analysis/bandwidth.h"

namespace traceglass {

struct CollectiveArgs {
  std::string group;
  std::string name;        // "Collective name", else that of the event
  std::string said;        // a name that says what it does: of the call where the kernel's does not
  std::string_view dtype;  // canonical; "" unknown
  std::int64_t seq = 0;
  bool has_seq = false;
  std::int64_t elements = -1, bytes = -1;  // -1: unknown
  std::int32_t group_size = 0;             // 0: unknown
  std::int32_t from = -1, to = -1;
};

CollectiveArgs read_collective_args(const libtrace::Trace& trace, libtrace::EventId e);

}  // namespace traceglass
