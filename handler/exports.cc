#include "libtrace/exports.h"

#include "handler/file_sink.h"
#include "handler/gzip_sink.h"
#include "libtrace/averages/memory_timeline.h"
#include "libtrace/averages/stacks_text.h"

namespace libtrace {
namespace {

bool ends_with(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

Status write_file(const std::string& path, std::string_view text, bool compressed = false) {
  FileSink file(path);
  GzipSink gzip(file);
  ByteSink& sink = compressed ? static_cast<ByteSink&>(gzip) : file;
  if (Status s = sink.write(text); !s.ok()) return s;
  return sink.finish();
}

}  // namespace

Status export_stacks(const Trace& trace, const std::string& path, std::string_view metric) {
  return write_file(path, stacks_text(trace, metric));
}

Status export_memory_timeline(const Trace& trace, const std::string& path,
                              std::string_view device) {
  const MemoryTimeline timeline = memory_timeline(trace, device);
  if (ends_with(path, ".html")) return write_file(path, timeline.html());
  const bool compressed = ends_with(path, ".gz");
  const bool raw = ends_with(path, ".raw.json.gz");
  return write_file(path, raw ? timeline.raw_json() : timeline.json(), compressed);
}

}  // namespace libtrace
