#include "tb_backend/api/note_export.h"

#include <deque>
#include <stdexcept>
#include <utility>

#include "tb_backend/api/notes_json.h"

namespace traceglass {
namespace {

constexpr std::size_t kPiece = std::size_t{256} << 10U;  // bytes of text at a time
constexpr std::size_t kPage = 500;

template <typename T>
T or_throw(NoteResult<T> result) {
  if (const auto* error = std::get_if<NoteError>(&result)) {
    throw std::runtime_error(error->sentence);
  }
  return std::move(std::get<T>(result));
}

class Export : public ReplyStream {
 public:
  Export(NoteStore& store, std::deque<std::int64_t> threads, NoteFormat format)
      : store_(store), threads_(std::move(threads)), json_(format == NoteFormat::kJson) {}

  bool next(std::string& bytes) override {
    if (!begun_) {
      begun_ = true;
      bytes += json_ ? "{\"threads\": [" : kNotesTitle;
    }
    while (bytes.size() < kPiece) {
      if (ended_) return !bytes.empty();
      if (!thread_ && threads_.empty()) {
        ended_ = true;
        if (json_) bytes += "\n]}\n";
      } else {
        go_on(bytes);
      }
    }
    return true;
  }

 private:
  void go_on(std::string& bytes) {
    if (!thread_) {
      auto found = store_.glance(threads_.front());
      threads_.pop_front();
      const auto* error = std::get_if<NoteError>(&found);
      if (error != nullptr && error->kind == NoteError::Kind::kNotFound) return;
      thread_ = or_throw(std::move(found));
      thread_->notes.clear();
      last_ = 0;
      head(bytes);
    }
    const auto notes = or_throw(store_.notes_after(thread_->id, last_, kPiece));
    for (const Note& note : notes) {
      if (json_) {
        bytes += (last_ == 0 ? "\n  " : ",\n  ") + dump(note_json(note));
      } else {
        bytes += note_markdown(note);
      }
      last_ = note.id;
    }
    if (!notes.empty()) return;
    bytes += json_ ? "]}" : thread_markdown_end(*thread_);
    thread_.reset();
  }

  void head(std::string& bytes) {
    if (!json_) {
      bytes += thread_markdown_head(*thread_);
      return;
    }
    Json json = note_thread_json(*thread_);
    json.erase("notes");
    std::string text = dump(json);
    text.pop_back();  // its brace
    bytes += (first_ ? "\n" : ",\n") + text + ",\"notes\":[";
    first_ = false;
  }

  NoteStore& store_;
  std::deque<std::int64_t> threads_;
  const bool json_;
  bool begun_ = false, ended_ = false, first_ = true;
  std::optional<NoteThread> thread_;  // in the midst of which it is
  std::int64_t last_ = 0;             // its note written last
};

}  // namespace

NoteResult<std::shared_ptr<ReplyStream>> export_notes(NoteStore& store, NoteFilter filter,
                                                      NoteFormat format) {
  filter.limit = kPage;
  filter.with_notes = false;
  std::deque<std::int64_t> threads;
  do {
    auto found = store.list(filter);
    if (auto* error = std::get_if<NoteError>(&found)) return std::move(*error);
    const auto& page = std::get<NotePage>(found);
    for (const NoteThread& one : page.threads) threads.push_back(one.id);
    filter.before = page.next;
  } while (filter.before != 0);
  return std::make_shared<Export>(store, std::move(threads), format);
}

}  // namespace traceglass
