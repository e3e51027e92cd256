#include "tb_backend/ingest/ingest.h"

#include <exception>

#include "tb_backend/ingest/build.h"
#include "tb_backend/ingest/document.h"
#include "tb_backend/ingest/inflate.h"

namespace traceglass {

IngestResult ingest_file(const std::filesystem::path& file, IngestProgress* progress) {
  IngestProgress own;
  IngestProgress& p = progress != nullptr ? *progress : own;
  std::error_code ignored;
  const auto bytes = std::filesystem::file_size(file, ignored);
  if (!ignored) p.bytes_total = bytes;
  try {
    TraceAssembler assembler(p);
    {
      TextStream stream(file, &p.bytes_done);
      Document document(stream, assembler, assembler.report(), [&] { return !p.cancel; });
      if (auto error = document.read()) return {nullptr, std::move(error)};
    }
    return {assembler.finish(file.filename().string()), std::nullopt};
  } catch (const std::exception& e) {  // out of memory is the only one expected
    return {nullptr,
            FileError{"unreadable", std::string("The file cannot be read: ") + e.what(), 0}};
  }
}

}  // namespace traceglass
