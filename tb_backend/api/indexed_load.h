// Loading by way of the saved index: mapped where there is one, else read from the file and saved
// once it is shown.
#pragma once

#include <memory>
#include <string>

#include "tb_backend/api/registry.h"
#include "tb_backend/index/cache.h"

namespace traceglass {

// What a user may say of indexes.
struct IndexOptions {
  std::string directory;  // "": $TRACEGLASS_INDEX, else the user's cache
  bool off = false;
  std::uint64_t most_bytes = index::Cache::Options{}.most_bytes;
};

// Null: there is to be none, or nobody knows where. It logs to standard error.
std::shared_ptr<index::Cache> make_cache(const IndexOptions& options);

// `cache` may be null.
Registry::Loader indexed_loader(std::shared_ptr<index::Cache> cache);

}  // namespace traceglass
