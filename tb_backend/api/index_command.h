// The `index` command: makes saved indexes ahead, so that a server opens the traces at once.
#pragma once

#include <string>
#include <vector>

#include "tb_backend/api/indexed_load.h"

namespace traceglass {

struct IndexCommand {
  std::vector<std::string> paths;  // trace files and log directories
  IndexOptions index;
};

// Prints a line a file; the exit status: 1 if a file was not indexed.
int run_index(const IndexCommand& command);

}  // namespace traceglass
