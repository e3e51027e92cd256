#include "tb_backend/ingest/ingest.h"

#include <exception>

#include "tb_backend/ingest/build.h"
#include "tb_backend/ingest/document.h"
#include "tb_backend/ingest/inflate.h"

namespace traceglass {

IngestResult ingest_text(TextSource& text, std::string_view file_name, IngestProgress& progress) {
  TraceAssembler assembler(progress);
  Document document(text, assembler, assembler.report(), [&] { return !progress.cancel; });
  if (auto error = document.read()) return {nullptr, std::move(error)};
  return {assembler.finish(file_name), std::nullopt};
}

IngestResult ingest_file(const std::filesystem::path& file, IngestProgress* progress) {
  IngestProgress own;
  IngestProgress& p = progress != nullptr ? *progress : own;
  std::error_code failed;
  const auto bytes = std::filesystem::file_size(file, failed);
  if (!failed) p.bytes_total = bytes;
  try {
    TextStream text(file, &p.bytes_done);
    return ingest_text(text, file.filename().string(), p);
  } catch (const std::exception& e) {  // out of memory is the only one expected
    std::string message = "The file cannot be read: ";
    return {nullptr, FileError{"unreadable", message + e.what() + ".", {}}};
  }
}

}  // namespace traceglass
