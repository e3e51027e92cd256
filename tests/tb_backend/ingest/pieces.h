// A text source that hands out a string in pieces of a chosen size, and may end cut.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tb_backend/ingest/inflate.h"
#include "tb_backend/ingest/ingest.h"

namespace traceglass::testing {

class Pieces : public TextSource {
 public:
  Pieces(std::string_view text, std::size_t size, End end = End::kOk)
      : text_(text), size_(size), end_(end) {}
  bool read(std::vector<char>& out) override {
    if (text_.empty()) return false;
    const std::string_view piece = text_.substr(0, size_);
    out.insert(out.end(), piece.begin(), piece.end());
    text_.remove_prefix(piece.size());
    return true;
  }
  [[nodiscard]] End end() const override { return end_; }
  [[nodiscard]] const std::string& error() const override { return error_; }

 private:
  std::string_view text_;
  std::size_t size_;
  End end_;
  std::string error_ = "cut by the test";
};

inline IngestResult ingest_string(std::string_view text, std::size_t piece = 1 << 20,
                                  std::string_view name = "w.pt.trace.json") {
  Pieces source(text, piece);
  IngestProgress progress;
  return ingest_text(source, name, progress);
}

}  // namespace traceglass::testing
