#include "tb_backend/api/indexed_load.h"

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "tb_backend/api/terminal_text.h"

namespace traceglass {

std::shared_ptr<index::Cache> make_cache(const IndexOptions& options) {
  const char* const variable = std::getenv("TRACEGLASS_INDEX");
  const std::string said =
      !options.directory.empty() || variable == nullptr ? options.directory : variable;
  if (options.off || said == "off") return nullptr;
  index::Cache::Options cache;
  std::error_code failed;
  cache.directory =
      said.empty() ? index::default_directory() : std::filesystem::absolute(said, failed);
  if (cache.directory.empty()) return nullptr;
  cache.most_bytes = options.most_bytes;
  cache.log = [](std::string_view sentence) {
    fmt::print(stderr, "traceglass: {}\n", printable(std::string(sentence)));
  };
  // A limit on the size of files is an error of the write, not the end of the program.
  std::signal(SIGXFSZ, SIG_IGN);
  return std::make_shared<index::Cache>(std::move(cache));
}

Registry::Loader indexed_loader(std::shared_ptr<index::Cache> cache) {
  if (!cache) return &ingest_file;
  return [cache](const std::filesystem::path& file, IngestProgress* progress) -> LoadResult {
    const std::optional<index::Content> content = index::content_of(file);
    if (content) {
      if (libtrace::TracePtr trace = cache->open(*content)) {
        progress->bytes_done = progress->bytes_total = content->key.bytes;
        progress->events = trace->size();
        return IngestResult{std::move(trace), std::nullopt};
      }
    }
    LoadResult loaded = ingest_file(file, progress);
    if (loaded.ingest.trace && content) {
      loaded.later = [cache, content = *content,
                      trace = loaded.ingest.trace](const std::function<bool()>& keep_on) {
        cache->save(content, *trace, keep_on);
      };
    }
    return loaded;
  };
}

}  // namespace traceglass
