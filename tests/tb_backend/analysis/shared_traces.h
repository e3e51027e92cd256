// Real traces, where they are at hand: TRACEGLASS_SHARED, or ../shared beside the project.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>

#include "tb_backend/ingest/ingest.h"

namespace traceglass::testing {

inline std::filesystem::path shared_fixtures() {
  const char* given = std::getenv("TRACEGLASS_SHARED");
  const std::filesystem::path root =
      given != nullptr ? given
                       : std::filesystem::path(TRACEGLASS_SOURCE_DIR).parent_path() / "shared";
  return root / "fixtures";
}

// One by its path below fixtures/; null where it is not.
inline libtrace::TracePtr shared_trace(const std::string& path) {
  const std::filesystem::path file = shared_fixtures() / path;
  return std::filesystem::exists(file) ? ingest_file(file).trace : nullptr;
}

inline void for_each_shared_trace(
    const std::function<void(const std::string&, const libtrace::Trace&)>& look) {
  std::error_code missing;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(shared_fixtures(), missing)) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_regular_file() || name.find(".json") == std::string::npos) continue;
    if (const auto result = ingest_file(entry.path()); result.trace) look(name, *result.trace);
  }
}

}  // namespace traceglass::testing
