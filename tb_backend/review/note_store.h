// The notes of a log directory. Thread-safe: one lock, one connection; a question costs
// milliseconds whatever the number of notes. Several servers may share one file.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tb_backend/review/database.h"
#include "tb_backend/review/note.h"

namespace traceglass {

// Text of a note and name of an author, in bytes.
inline constexpr std::size_t kLongestNote = std::size_t{64} << 10U;
inline constexpr std::size_t kLongestAuthor = 120;

class NoteStore {
 public:
  struct Options {
    std::filesystem::path path;  // "": there are no notes and none can be written
    std::int64_t largest_bytes = std::int64_t{4} << 30U;
    std::function<std::int64_t()> now_ms;  // by default the clock
  };

  // Opens nothing yet.
  explicit NoteStore(Options options);

  // What is in the way of writing, as a sentence; "" when nothing seems to be. Makes no file.
  [[nodiscard]] std::string obstacle();
  [[nodiscard]] const std::filesystem::path& path() const { return options_.path; }

  NoteResult<NoteThread> start(const NoteAnchor& anchor, const NoteAuthor& author,
                               const std::string& text);
  NoteResult<NoteThread> reply(std::int64_t thread, const NoteAuthor& author,
                               const std::string& text);
  // Only by its author. The text before stays in its history.
  NoteResult<NoteThread> edit(std::int64_t thread, std::int64_t note, const NoteAuthor& author,
                              const std::string& text);
  // Only by its author. Text and history are erased; that there was a note is not.
  NoteResult<NoteThread> remove(std::int64_t thread, std::int64_t note, const NoteAuthor& author);
  NoteResult<NoteThread> resolve(std::int64_t thread, const NoteAuthor& author, bool resolved);

  NoteResult<NotePage> list(const NoteFilter& filter);
  // With its first note and the newest before that one: all, unless they are megabytes of text.
  NoteResult<NoteThread> find(std::int64_t thread, std::int64_t before = INT64_MAX);
  // With its first and its newest notes, as in a list.
  NoteResult<NoteThread> glance(std::int64_t thread);
  // Notes of a thread after that one, oldest first: one at least, then until they hold `bytes`.
  NoteResult<std::vector<Note>> notes_after(std::int64_t thread, std::int64_t note,
                                            std::size_t bytes);
  // Oldest first, without the text of now.
  NoteResult<std::vector<NoteEdit>> history(std::int64_t thread, std::int64_t note);
  // By number, at most `limit`.
  NoteResult<std::vector<NoteChange>> changes_after(std::int64_t seq, std::size_t limit);
  NoteResult<std::int64_t> last_change();
  // A number that changes when another program wrote; 0 while there is no file.
  std::int64_t version();

 private:
  template <typename T, typename Body>
  NoteResult<T> reading(T nothing, Body&& body);
  template <typename Body>
  NoteResult<NoteThread> writing(Body&& body);
  bool open_to_read();  // false: there is no file yet
  void open_to_write();
  struct Part {  // of a thread's notes: number, bytes of text
    std::size_t notes, bytes;
  };
  NoteThread head(std::int64_t thread);
  NoteResult<NoteThread> read_one(std::int64_t thread, Part most, std::int64_t before);
  // The first note and the newest before that one. Returns the bytes of their text.
  std::size_t fill(NoteThread& thread, Part most, std::int64_t before = INT64_MAX);
  void record(std::int64_t thread, std::int64_t note, const char* what, const std::string& who);
  void index(std::int64_t note, const std::string& text, const std::string& author,
             const std::string& label);

  const Options options_;
  std::mutex mutex_;  // guards all below
  std::unique_ptr<Database> database_;
  bool writes_ = false;  // of database_
  std::uint64_t inode_ = 0, device_ = 0;
};

}  // namespace traceglass
