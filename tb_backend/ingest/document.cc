#include "tb_backend/ingest/document.h"

#include <algorithm>
#include <cstring>

#include "tb_backend/ingest/foreign.h"
#include "tb_backend/ingest/repair.h"
#include "tb_backend/ingest/row_edges.h"
#include "tb_backend/ingest/text.h"

namespace traceglass {
namespace {

constexpr std::size_t kBlock = 1U << 20;       // rows are tried in blocks of about this
constexpr std::size_t kFirstBlock = 4U << 10;  // grows to kBlock: a list of rows may be short
constexpr std::size_t kUsualRow = 64U << 10;   // longer ones go the tolerant way at once
// Looking ahead from broken rows may cost this much for nothing, and some times the file: else a
// small file of the worst rows would hold the reader for hours.
constexpr std::uint64_t kMostInVain = 64U << 20;
constexpr std::size_t kMostValue = 64U << 20;  // of one row or one top-level value

bool space(char c) noexcept { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

}  // namespace

Document::Document(TextSource& stream, DocumentSink& sink, libtrace::Report& report,
                   std::function<bool()> keep_on)
    : stream_(stream), sink_(sink), report_(report), keep_on_(std::move(keep_on)) {}

bool Document::more() {
  if (at_end_) return false;
  if (!keep_on_()) {
    cancelled_ = at_end_ = true;
    return false;
  }
  // One byte before pos_ stays: the strict parser puts a bracket there.
  if (pos_ > 1) {
    const std::size_t drop = pos_ - 1;
    std::memmove(buffer_.data(), buffer_.data() + drop, size_ - drop);
    consumed_ += drop;
    size_ -= drop;
    pos_ = 1;
  }
  buffer_.resize(size_);
  if (!stream_.read(buffer_)) at_end_ = true;
  size_ = buffer_.size();
  buffer_.resize(size_ + Tokenizer::kPadding);
  return !at_end_;
}

// Twice the window before another attempt: attempts cost their length.
void Document::double_window() {
  const std::size_t wanted = 2 * std::max(available(), kBlock / 4);
  while (available() < wanted && more()) {
  }
}

int Document::peek() {
  for (;;) {
    while (pos_ < size_ && space(buffer_[pos_])) ++pos_;
    if (pos_ < size_) return static_cast<unsigned char>(buffer_[pos_]);
    if (!more()) return -1;
  }
}

bool Document::take(char c) {
  if (peek() != static_cast<unsigned char>(c)) return false;
  ++pos_;
  return true;
}

FileError Document::broken(std::string_view why) const {
  return {"broken",
          "The file is broken at byte " + std::to_string(offset()) + ": " + std::string(why) + ".",
          offset()};
}

void Document::add_incomplete() {
  const bool damaged = stream_.end() == TextSource::End::kDamaged;
  report_.add("incomplete", 1, place(), damaged ? "The compressed data is damaged there." : "");
}

std::optional<FileError> Document::read() {
  constexpr std::size_t kMagic = 64;  // bytes that tell what a file is
  while (available() < kMagic && more()) {
  }
  if (stream_.end() == TextSource::End::kUnreadable) {
    return FileError{"unreadable", "The file cannot be read: " + stream_.error() + ".", {}};
  }
  if (rest().starts_with("\xEF\xBB\xBF")) pos_ += 3;
  const std::string first(rest().substr(0, kMagic));
  const int c = peek();
  std::optional<FileError> error;
  if (c < 0) {
    if (stream_.end() != TextSource::End::kOk && stream_.end() != TextSource::End::kBehind) {
      return FileError{"broken", "The file is broken at byte 0: " + stream_.error() + ".", {}};
    }
    return FileError{"empty", "The file is empty.", {}};
  }
  // A protobuf begins with a tag byte that is white space in JSON and may go on with a "{": the
  // bytes behind tell. Damage further on is damage, not another format.
  const std::string_view start = std::string_view(first).substr(0, 8);
  const bool binary = std::any_of(start.begin(), start.end(), [](char ch) {
    const auto b = static_cast<unsigned char>(ch);
    return b < 0x20 && !space(ch);
  });
  if (binary || (c != '{' && c != '[')) {
    return FileError{
        "not_a_trace", "The file is not a trace. " + describe_foreign_bytes(first), {}};
  }
  error = c == '{' ? read_object() : read_array();
  if (error) return error;
  if (cancelled_) return FileError{"unreadable", "Reading was cancelled.", offset()};
  if (stream_.end() == TextSource::End::kUnreadable) {
    return FileError{"unreadable", "The file cannot be read: " + stream_.error() + ".", offset()};
  }
  if (stream_.end() == TextSource::End::kBehind) {
    report_.add("repaired", 1, "behind the end", "Bytes that are no gzip follow its data.");
  } else if (stream_.end() == TextSource::End::kChecksum) {
    report_.add("checksum");
  } else if (stream_.end() != TextSource::End::kOk && report_.count("incomplete") == 0) {
    add_incomplete();
  }
  return std::nullopt;
}

std::optional<FileError> Document::read_object() {
  take('{');
  bool events = false;
  std::string key;
  for (;;) {
    while (take(',')) {
    }
    if (take('}')) break;
    Outcome outcome = Outcome::kCut;
    if (peek() >= 0) {
      const bool head = !events;
      outcome = read_member(head, key, events);
      if (head && !events && outcome == Outcome::kDone) {
        if (auto what = describe_foreign_key(key)) {
          return FileError{"not_a_trace", "The file is not a trace. " + *what, offset()};
        }
      }
    }
    if (outcome == Outcome::kDone) continue;
    if (!events && outcome == Outcome::kBroken) {
      return broken(key == "traceEvents"
                        ? "\"traceEvents\" is not an array"
                        : "the value of \"" + key.substr(0, 80) + "\" is not valid JSON");
    }
    if (outcome == Outcome::kCut) {
      if (!cancelled_) add_incomplete();
    } else {
      report_.add("repaired", 1, place());  // what follows the rows is lost, the rows are not
    }
    return std::nullopt;
  }
  if (!events) {
    return FileError{"not_a_trace",
                     "The file is not a trace. It is a JSON object without \"traceEvents\".",
                     offset()};
  }
  read_behind();
  return std::nullopt;
}

std::optional<FileError> Document::read_array() {
  take('[');
  const int first = peek();
  if (first >= 0 && first != '{' && first != ']') {
    return FileError{"not_a_trace",
                     "The file is not a trace. " + describe_foreign_array(rest().substr(0, 16)),
                     offset()};
  }
  sink_.legacy_array();
  const Outcome outcome = read_rows();
  if (outcome == Outcome::kDone) {
    if (rows_ == 0 && skipped_ > 0) {
      return FileError{
          "not_a_trace", "The file is not a trace. " + describe_foreign_array("{"), {}};
    }
    read_behind();
  } else if (outcome == Outcome::kCut && peek() >= 0) {
    add_incomplete();  // in the middle of a row; a missing "]" is usual
  }
  return std::nullopt;
}

Document::Outcome Document::read_member(bool head, std::string& key, bool& events) {
  if (!take('"')) return Outcome::kBroken;
  std::size_t close = 0;
  for (;; ++close) {
    while (close >= available()) {
      if (available() > kMostValue) return Outcome::kBroken;
      if (!more()) return Outcome::kCut;
    }
    const char ch = buffer_[pos_ + close];
    if (ch == '"') break;
    if (ch == '\\') ++close;
  }
  decode_string(rest().substr(0, close), key);
  pos_ += close + 1;
  if (peek() < 0) return Outcome::kCut;
  if (!take(':')) return Outcome::kBroken;
  const int c = peek();
  if (c < 0) return Outcome::kCut;
  if (key == "traceEvents") {
    if (!take('[')) return Outcome::kBroken;
    events = true;
    return read_rows();
  }
  if (head && describe_foreign_key(key)) return Outcome::kDone;  // its value may be huge
  return read_value(head, key);
}

Document::Outcome Document::read_value(bool head, std::string_view key) {
  for (;;) {
    const Repaired value = repair_value(rest(), RepairContext::kTopLevel, at_end_);
    if (value.status == Repaired::Status::kNeedMore) {
      if (at_end_) return Outcome::kCut;
      if (available() > kMostValue) return Outcome::kBroken;
      double_window();
      continue;
    }
    if (value.status == Repaired::Status::kFailed) return Outcome::kBroken;
    const std::string_view text = rest().substr(0, value.length);
    const bool valid =
        !value.strings_changed && !value.structure_changed && value.missing_values == 0;
    if (!valid) {
      // A scalar that changed, or a value that lost its structure, cannot be trusted in the head.
      if (head && value.structure_changed && text[0] != '{' && text[0] != '[') {
        return Outcome::kBroken;
      }
      if (value.strings_changed || value.structure_changed) report_.add("repaired", 1, place());
      report_.add("missing_value", value.missing_values, place());
    }
    sink_.metadata(key, valid ? text : std::string_view(value.json));
    pos_ += value.length;
    const int next = peek();
    if (next < 0) return Outcome::kCut;
    return next == ',' || next == '}' ? Outcome::kDone : Outcome::kBroken;
  }
}

void Document::take_commas() {
  while (take(',')) {
    if (commas_ >= 0) ++commas_;
  }
}

// One between two rows, none before the first. A row that was lost takes its commas along.
void Document::check_commas() {
  if (commas_ >= 0 && commas_ != (first_row_ ? 0 : 1)) report_.add("repaired", 1, place());
  first_row_ = false;
  commas_ = -1;
}

// Those that the strict reader has taken since its last row.
int Document::commas_before() const {
  int commas = 0;
  for (std::size_t i = pos_; i > 0; --i) {
    const char c = buffer_[i - 1];
    if (c == '}') return commas;
    if (c == ',') {
      ++commas;
    } else if (!space(c)) {
      break;
    }
  }
  return -1;
}

Document::Outcome Document::read_rows() {
  std::size_t singly_until = 0;  // bytes of the window in which a bad row was met, from pos_
  std::size_t next_window = kFirstBlock;
  commas_ = 0;
  first_row_ = true;
  for (;;) {
    if (singly_until == 0) {
      const std::size_t window = next_window;
      next_window = std::min(2 * window, kBlock);
      while (available() < window && more()) {
      }
      take_commas();
      const int c = peek();
      if (c == ']') {
        ++pos_;
        return Outcome::kDone;
      }
      const std::size_t cut =
          c == '{' ? last_cut(rest().substr(0, window)) : std::string_view::npos;
      if (cut != std::string_view::npos && cut > 0 && pos_ > 0) {
        const std::size_t begin = pos_, block = pos_ + cut;
        check_commas();
        const auto [stop, at] = tokenizer_.rows(buffer_.data() + pos_, cut, sink_);
        pos_ = static_cast<std::size_t>(at - buffer_.data());
        rows_ += 1;
        if (stop == Tokenizer::Result::Stop::kArrayEnd) return Outcome::kDone;
        if (pos_ != begin) commas_ = commas_before();
        if (stop == Tokenizer::Result::Stop::kAll) continue;
        singly_until = std::max(block, pos_ + 1) - pos_;
      } else if (window < kBlock && c == '{' && object_end(rest().substr(0, kUsualRow)) == 0) {
        continue;  // a long row, or a broken one
      } else {
        // No cut in all of it: to search anew behind each row would be quadratic.
        singly_until = std::min(window, available());
      }
    }
    const std::uint64_t before = offset();
    const Outcome outcome = read_row();
    if (outcome != Outcome::kDone) return outcome;
    if (row_end_) return Outcome::kDone;
    const std::uint64_t used = offset() - before;
    singly_until = used >= singly_until ? 0 : singly_until - used;
  }
}

Document::Outcome Document::read_row() {
  row_end_ = false;
  take_commas();
  const int c = peek();
  if (c < 0) return Outcome::kCut;
  if (c == ']') {
    ++pos_;
    row_end_ = true;
    return Outcome::kDone;
  }
  if (c != '{') return skip_value();
  check_commas();
  const bool patient = in_vain_ < kMostInVain + 4 * offset();
  // Out of patience a row ends where the next one seems to begin, and is good or skipped.
  std::string_view usual = rest().substr(0, kUsualRow);
  if (!patient) usual = usual.substr(0, next_row(usual, false));
  const std::size_t n = object_end(usual);
  if (n != 0 && tokenizer_.row(usual.data(), n, sink_)) {
    pos_ += n;
    ++rows_;
    commas_ = 0;
    return Outcome::kDone;
  }
  if (n == 0) in_vain_ += usual.size();
  while (patient) {
    const Repaired row = repair_value(rest(), RepairContext::kEvent, at_end_);
    if (row.status == Repaired::Status::kNeedMore && available() < kMostValue) {
      if (at_end_) return Outcome::kCut;
      double_window();
      continue;
    }
    in_vain_ += row.in_vain;
    if (row.status == Repaired::Status::kDone) {
      std::string json = row.json;
      const std::size_t n = json.size();
      json.resize(n + Tokenizer::kPadding);
      if (tokenizer_.row(json.data(), n, sink_)) {
        if (row.strings_changed || row.structure_changed) report_.add("repaired", 1, place());
        report_.add("missing_value", row.missing_values, place());
        ++rows_;
        if (!row.structure_changed) commas_ = 0;
      } else {
        report_.add("skipped", 1, place());
        ++skipped_;
      }
      pos_ += row.length;
      return Outcome::kDone;
    }
    break;
  }
  report_.add("skipped", 1, place());
  ++skipped_;
  return resync() ? Outcome::kDone : Outcome::kCut;
}

// Something else than an object among the rows.
Document::Outcome Document::skip_value() {
  commas_ = -1;
  report_.add("skipped", 1, place());
  ++skipped_;
  if (in_vain_ >= kMostInVain + 4 * offset()) return resync() ? Outcome::kDone : Outcome::kCut;
  Repaired value = repair_value(rest(), RepairContext::kEvent, at_end_);
  while (value.status == Repaired::Status::kNeedMore && available() < kMostValue) {
    if (at_end_) return Outcome::kCut;
    double_window();
    value = repair_value(rest(), RepairContext::kEvent, at_end_);
  }
  in_vain_ += value.in_vain;
  if (value.status == Repaired::Status::kDone && value.length > 0) {
    pos_ += value.length;
    return Outcome::kDone;
  }
  return resync() ? Outcome::kDone : Outcome::kCut;
}

bool Document::resync() {
  ++pos_;
  for (;;) {
    const std::size_t at = next_row(rest(), at_end_);
    if (at != std::string_view::npos) {
      pos_ += at;
      return true;
    }
    if (available() > kRowEdge) pos_ += available() - kRowEdge;  // a row may begin at the edge
    const std::size_t kept = available();
    if (!more()) {
      pos_ += kept;
      return false;
    }
  }
}

void Document::read_behind() {
  std::int64_t documents = 1;
  bool garbage = false;
  for (int c = peek(); c >= 0; c = peek()) {
    if (c != '{' && c != '[') {
      garbage = garbage || c != 0;
      ++pos_;
      continue;
    }
    ++documents;
    std::size_t depth = 0;
    bool in_string = false, escaped = false;
    do {
      for (; pos_ < size_; ++pos_) {
        const char ch = buffer_[pos_];
        if (in_string) {
          if (!escaped && ch == '"') in_string = false;
          escaped = !escaped && ch == '\\';
        } else if (ch == '"') {
          in_string = true;
        } else if (ch == '{' || ch == '[') {
          ++depth;
        } else if ((ch == '}' || ch == ']') && --depth == 0) {
          ++pos_;
          break;
        }
      }
    } while (depth > 0 && more());
  }
  if (documents > 1) report_.add("documents", documents);
  if (garbage && documents == 1) report_.add("repaired", 1, "behind the end");
}

}  // namespace traceglass
