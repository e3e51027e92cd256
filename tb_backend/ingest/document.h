// Walks the text of a trace file: top-level keys, rows, what stands behind. Strict where the text
// is valid, row by row where it is not, and always on to the end.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libtrace/report.h"
#include "tb_backend/ingest/inflate.h"
#include "tb_backend/ingest/ingest.h"
#include "tb_backend/ingest/tokenizer.h"

namespace traceglass {

// What the walk delivers, in file order.
class DocumentSink : public EventSink {
 public:
  virtual void legacy_array() = 0;  // the file is a bare array of rows
  virtual void metadata(std::string_view key, std::string_view json) = 0;
};

class Document {
 public:
  // `keep_on` is asked every block; false gives up.
  Document(TextSource& stream, DocumentSink& sink, libtrace::Report& report,
           std::function<bool()> keep_on);

  // nullopt: a trace, complete or not (see the report).
  std::optional<FileError> read();

 private:
  enum class Outcome { kDone, kCut, kBroken };

  // ---- the window: text not consumed yet is [pos_, end) of buffer_ --------------------------
  bool more();  // appends a block; false at the end of the file
  void double_window();
  [[nodiscard]] std::size_t available() const { return size_ - pos_; }
  [[nodiscard]] std::string_view rest() const { return {buffer_.data() + pos_, available()}; }
  [[nodiscard]] std::uint64_t offset() const { return consumed_ + pos_; }
  [[nodiscard]] std::string place() const { return "byte " + std::to_string(offset()); }
  int peek();         // next character that is no white space, -1 at the end
  bool take(char c);  // consumes `c` if it is next

  std::optional<FileError> read_object();
  std::optional<FileError> read_array();
  Outcome read_member(bool head, std::string& key, bool& events);
  Outcome read_value(bool head, std::string_view key);
  Outcome read_rows();
  Outcome read_row();  // one row, strictly or tolerantly
  void take_commas();
  void check_commas();  // before a row
  [[nodiscard]] int commas_before() const;
  Outcome skip_value();
  bool resync();       // to the next thing that looks like a row
  void read_behind();  // further documents in the file
  FileError broken(std::string_view why) const;
  void add_incomplete();

  TextSource& stream_;
  DocumentSink& sink_;
  libtrace::Report& report_;
  std::function<bool()> keep_on_;
  Tokenizer tokenizer_;
  std::vector<char> buffer_;
  std::size_t size_ = 0, pos_ = 0;
  std::uint64_t consumed_ = 0;  // bytes dropped from the front of the window
  bool at_end_ = false, cancelled_ = false;
  bool row_end_ = false;  // the last read_row met the end of the rows
  int commas_ = 0;        // since the last row; -1: not known
  bool first_row_ = true;
  std::uint64_t rows_ = 0, skipped_ = 0;
  std::uint64_t in_vain_ = 0;  // bytes looked at from broken rows without taking them
};

}  // namespace traceglass
