#include "tb_backend/ingest/ingest.h"

#include <exception>
#include <utility>
#include <vector>

#include "tb_backend/ingest/build.h"
#include "tb_backend/ingest/document.h"
#include "tb_backend/ingest/inflate.h"
#include "tb_backend/ingest/perfetto.h"

namespace traceglass {
namespace {

// A source whose first bytes have been looked at.
class Peeked : public TextSource {
 public:
  explicit Peeked(TextSource& source) : source_(source) {
    while (begin_.size() < kMagic && source_.read(begin_)) {
    }
  }
  [[nodiscard]] std::string_view begin() const { return {begin_.data(), begin_.size()}; }

  bool read(std::vector<char>& out) override {
    if (begin_.empty()) return source_.read(out);
    out.insert(out.end(), begin_.begin(), begin_.end());
    begin_ = {};
    return true;
  }
  [[nodiscard]] End end() const override { return source_.end(); }
  [[nodiscard]] const std::string& error() const override { return source_.error(); }
  [[nodiscard]] bool changed() const override { return source_.changed(); }

 private:
  static constexpr std::size_t kMagic = 32;
  TextSource& source_;
  std::vector<char> begin_;
};

}  // namespace

IngestResult ingest_text(TextSource& source, std::string_view file_name, IngestProgress& progress) {
  TraceAssembler assembler(progress);
  Peeked text(source);
  const auto keep_on = [&] { return !progress.cancel; };
  auto error = is_perfetto(text.begin())
                   ? read_perfetto(text, assembler, assembler.report(), keep_on)
                   : Document(text, assembler, assembler.report(), keep_on).read();
  if (error) return {nullptr, std::move(error)};
  if (text.changed()) assembler.report().add("changed");
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
