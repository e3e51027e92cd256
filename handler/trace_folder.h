// A folder that TensorBoard reads: one file a trace, named as torch names them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "libtrace/status.h"
#include "libtrace/trace.h"

namespace libtrace {

// Not thread-safe, and of one process.
class TraceFolder {
 public:
  // `worker_name` "": `<hostname>_<pid>`.
  TraceFolder(std::filesystem::path dir, const std::string& worker_name, bool use_gzip);

  // `<dir>/<worker>.<unix ns>.pt.trace.json`, + `.gz`. Makes the folder, each time it is missing.
  Status write(const Trace& trace);

 private:
  std::filesystem::path next_path();
  void remove_leftovers();

  std::filesystem::path dir_;
  std::string worker_;
  bool use_gzip_;
  bool swept_ = false;
  std::int64_t stamp_ = 0;
};

}  // namespace libtrace
