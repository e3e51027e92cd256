#include "libtrace/exports.h"

#include "handler/chrome_writer.h"
#include "handler/file_sink.h"
#include "handler/gzip_sink.h"
#include "handler/local_path.h"
#include "handler/thread_sink.h"
#include "handler/trace_folder.h"
#include "libtrace/averages/memory_timeline.h"
#include "libtrace/averages/stacks_text.h"

namespace libtrace {
namespace {

bool ends_with(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

// `write` fills a sink and finishes it.
template <typename Write>
Status to_file(const std::string& path, bool compressed, Write&& write) {
  if (Status s = check_local_path(path); !s.ok()) return s;
  FileSink file(path);
  if (!compressed) return write(static_cast<ByteSink&>(file));
  GzipSink gzip(file);
  ThreadSink beside(gzip);
  return write(static_cast<ByteSink&>(beside));
}

Status write_text(const std::string& path, std::string_view text, bool compressed = false) {
  return to_file(path, compressed, [&](ByteSink& sink) {
    const Status written = sink.write(text);
    return written.ok() ? sink.finish() : written;
  });
}

}  // namespace

Status export_chrome_trace(const Trace& trace, const std::string& path) {
  return to_file(path, ends_with(path, ".gz"),
                 [&](ByteSink& sink) { return write_chrome_trace(trace, sink, path); });
}

Status export_to_tensorboard(const Trace& trace, const std::string& dir) {
  if (Status s = check_local_path(dir); !s.ok()) return s;
  return TraceFolder(dir, {}, false).write(trace);
}

Status export_stacks(const Trace& trace, const std::string& path, std::string_view metric) {
  return write_text(path, stacks_text(trace, metric));
}

Status export_memory_timeline(const Trace& trace, const std::string& path,
                              std::string_view device) {
  const MemoryTimeline timeline = memory_timeline(trace, device);
  if (ends_with(path, ".html")) return write_text(path, timeline.html());
  const bool compressed = ends_with(path, ".gz");
  const bool raw = ends_with(path, ".raw.json.gz");
  return write_text(path, raw ? timeline.raw_json() : timeline.json(), compressed);
}

}  // namespace libtrace
