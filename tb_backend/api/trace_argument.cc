#include "tb_backend/api/trace_argument.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "tb_backend/logdir/names.h"

namespace traceglass {
namespace {

// The newest span of the directory's only worker.
TraceFile newest_in(const std::string& path) {
  const Snapshot found = scan(single_logdir(path));
  if (found.files.empty()) throw NoSuchTrace(path + ": " + found.message);
  std::map<std::pair<std::string, std::string>, const TraceFile*> workers;
  for (const TraceFile& file : found.files) workers[{file.run, file.worker}] = &file;
  if (workers.size() == 1) return *workers.begin()->second;  // by index: the last is the newest
  std::string message = path + " holds traces of several workers; name one file:";
  std::size_t shown = 0;
  for (const auto& [key, file] : workers) {
    if (++shown > 10) break;
    message += "\n  " + file->path.string();
  }
  if (workers.size() > 10) message += fmt::format("\n  and {} more", workers.size() - 10);
  throw NoSuchTrace(message);
}

}  // namespace

TraceFile trace_argument(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return newest_in(path);
  TraceFile file;
  file.path = path;
  const FileName name = parse_file_name(file.path.filename().string());
  file.run = file.path.has_parent_path() ? file.path.parent_path().string() : ".";
  file.worker = name.worker;
  file.span = name.span;
  file.index = 1;
  return file;
}

}  // namespace traceglass
