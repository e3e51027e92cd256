#include "tb_backend/review/note_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "tb_backend/review/note_query.h"
#include "tb_backend/review/note_rows.h"
#include "tb_backend/review/note_schema.h"

namespace traceglass {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kKiB = 1024;
constexpr std::size_t kNotesInList = 20;  // of a thread: the first and the newest
constexpr std::size_t kNoteBytesInList = 256 * kKiB;
constexpr std::size_t kNotesInThread = 5000;
constexpr std::size_t kNoteBytesInThread = 8192 * kKiB;
constexpr std::size_t kPageBytes = 8192 * kKiB;

std::int64_t clock_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

NoteStore::Options completed(NoteStore::Options options) {
  if (!options.now_ms) options.now_ms = &clock_ms;
  // A name alone has no folder that could be looked at.
  if (!options.path.empty()) options.path = fs::absolute(options.path);
  return options;
}

[[noreturn]] void fail(NoteError::Kind kind, std::string sentence) {
  throw DatabaseError{{kind, std::move(sentence)}};
}

NoteError not_there() { return {NoteError::Kind::kNotFound, "There is no such note (any more)."}; }

// A proxy's word stands above a typed name, never the other way round.
bool may_change(const NoteAuthor& of_note, const NoteAuthor& who) {
  return of_note.name == who.name && (who.verified || !of_note.verified);
}

// As the file system will: by the effective user.
bool writable(const fs::path& path, int mode) {
  return ::faccessat(AT_FDCWD, path.c_str(), mode, AT_EACCESS) == 0;
}

Note note_of(Database& database, std::int64_t thread, std::int64_t note) {
  Statement row(database, std::string("SELECT ") + kNoteColumns +
                              " FROM notes WHERE id=? AND thread=? AND removed_ms IS NULL");
  row.bind(note).bind(thread);
  if (!row.step()) throw DatabaseError{not_there()};
  return read_note(row);
}

Note own_note(Database& database, std::int64_t thread, std::int64_t note, const NoteAuthor& who) {
  Note found = note_of(database, thread, note);
  if (!may_change(found.author, who)) {
    fail(NoteError::Kind::kNotYours, "Only " + found.author.name + " can change this note.");
  }
  return found;
}

void insert_note(Database& database, std::int64_t thread, const NoteAuthor& author,
                 const std::string& text, std::int64_t at_ms) {
  Statement(database, "INSERT INTO notes(thread,author,verified,text,created_ms) VALUES(?,?,?,?,?)")
      .bind(thread)
      .bind(author.name)
      .bind(author.verified ? 1 : 0)
      .bind(text)
      .bind(at_ms)
      .run();
}

}  // namespace

NoteStore::NoteStore(Options options) : options_(completed(std::move(options))) {}

std::string NoteStore::obstacle() {
  if (options_.path.empty()) return "Notes have no place: start the server with --notes FILE.";
  const std::lock_guard lock(mutex_);
  try {
    if (open_to_read()) {
      return writes_ ? ""
                     : "The notes " + options_.path.string() +
                           " cannot be written here: start the server with --notes FILE.";
    }
  } catch (const DatabaseError& error) {
    return error.error.sentence;
  }
  // The nearest folder that is there decides.
  fs::path folder = fs::absolute(options_.path).parent_path();
  std::error_code ignored;
  while (folder.has_relative_path() && !fs::exists(folder, ignored)) folder = folder.parent_path();
  if (writable(folder, W_OK | X_OK)) return "";
  return folder.string() + " cannot be written: start the server with --notes FILE to keep notes " +
         "elsewhere.";
}

bool NoteStore::open_to_read() {
  struct stat s{};
  const bool there = ::stat(options_.path.c_str(), &s) == 0;
  // Moved away or replaced under us: what we would write to is no longer the file.
  if (database_ && (!there || s.st_ino != inode_ || s.st_dev != device_)) database_.reset();
  if (database_) return true;
  if (!there || s.st_size == 0) return false;
  const std::string path = options_.path.string();
  const bool may_write =
      writable(options_.path, W_OK) && writable(options_.path.parent_path(), W_OK | X_OK);
  const auto open = [&](Database::Mode mode) {
    auto made = std::make_unique<Database>(options_.path, mode);
    if (made->number("SELECT count(*) FROM sqlite_master") == 0) return false;
    check_note_tables(*made, path);
    if (mode == Database::Mode::kWrite) made->prepare_to_write(options_.largest_bytes);
    database_ = std::move(made);
    writes_ = mode == Database::Mode::kWrite;
    inode_ = s.st_ino;
    device_ = s.st_dev;
    return true;
  };
  if (may_write) return open(Database::Mode::kWrite);
  try {
    return open(Database::Mode::kRead);
  } catch (const DatabaseError& error) {
    // A log of writes needs files beside it, which cannot be made here. Without such a log nothing
    // is missed.
    std::error_code ignored;
    if (fs::exists(path + "-wal", ignored)) throw;
    return open(Database::Mode::kImmutable);
  }
}

void NoteStore::open_to_write() {
  if (options_.path.empty()) {
    fail(NoteError::Kind::kReadOnly, "Notes have no place: start the server with --notes FILE.");
  }
  if (open_to_read()) {
    if (writes_) return;
    fail(NoteError::Kind::kReadOnly, "The notes " + options_.path.string() +
                                         " cannot be written here: start the server with "
                                         "--notes FILE.");
  }
  std::error_code error;
  fs::create_directories(options_.path.parent_path(), error);
  if (error) {
    fail(NoteError::Kind::kReadOnly, options_.path.parent_path().string() + " cannot be made (" +
                                         error.message() +
                                         "): start the server with --notes FILE to keep notes "
                                         "elsewhere.");
  }
  Database made(options_.path, Database::Mode::kCreate);
  make_note_tables(made, options_.path.string());
  if (!open_to_read()) fail(NoteError::Kind::kBroken, "The notes file was removed meanwhile.");
}

template <typename T, typename Body>
NoteResult<T> NoteStore::reading(T nothing, Body&& body) {
  const std::lock_guard lock(mutex_);
  try {
    if (!open_to_read()) return nothing;
    return body();
  } catch (const DatabaseError& error) {
    return error.error;
  }
}

template <typename Body>
NoteResult<NoteThread> NoteStore::writing(Body&& body) {
  const std::lock_guard lock(mutex_);
  try {
    open_to_write();
    Transaction all(*database_);
    const std::int64_t thread = body(options_.now_ms());
    NoteThread out = head(thread);
    fill(out, {kNotesInList, kNoteBytesInList});
    all.commit();
    return out;
  } catch (const DatabaseError& error) {
    return error.error;
  }
}

void NoteStore::record(std::int64_t thread, std::int64_t note, const char* what,
                       const std::string& who) {
  Statement(*database_, "INSERT INTO changes(thread,note,what,who,at_ms) VALUES(?,?,?,?,?)")
      .bind(thread)
      .bind(note)
      .bind(what)
      .bind(who)
      .bind(options_.now_ms())
      .run();
  Statement(*database_, "UPDATE threads SET changed=? WHERE id=?")
      .bind(database_->last_id())
      .bind(thread)
      .run();
}

void NoteStore::index(std::int64_t note, const std::string& text, const std::string& author,
                      const std::string& label) {
  Statement(*database_, "INSERT INTO found(rowid,text,author,label) VALUES(?,?,?,?)")
      .bind(note)
      .bind(text)
      .bind(author)
      .bind(label)
      .run();
}

NoteResult<NoteThread> NoteStore::start(const NoteAnchor& anchor, const NoteAuthor& author,
                                        const std::string& text) {
  return writing([&](std::int64_t now) {
    std::string marks;
    for (int i = 0; i < kAnchorColumnCount; ++i) marks += ",?";
    Statement made(*database_, std::string("INSERT INTO threads(changed,") + kAnchorColumns +
                                   ") VALUES(0" + marks + ")");
    bind_anchor(made, anchor);
    made.run();
    const std::int64_t thread = database_->last_id();
    insert_note(*database_, thread, author, text, now);
    const std::int64_t note = database_->last_id();
    index(note, text, author.name, anchor.label);
    record(thread, note, "started", author.name);
    return thread;
  });
}

NoteResult<NoteThread> NoteStore::reply(std::int64_t thread, const NoteAuthor& author,
                                        const std::string& text) {
  return writing([&](std::int64_t now) {
    const NoteThread found = head(thread);
    insert_note(*database_, thread, author, text, now);
    const std::int64_t note = database_->last_id();
    index(note, text, author.name, found.anchor.label);
    record(thread, note, "replied", author.name);
    return thread;
  });
}

NoteResult<NoteThread> NoteStore::edit(std::int64_t thread, std::int64_t note,
                                       const NoteAuthor& author, const std::string& text) {
  return writing([&](std::int64_t now) {
    const Note before = own_note(*database_, thread, note, author);
    if (before.text == text) return thread;
    Statement(*database_, "INSERT INTO edits(note,written_ms,text) VALUES(?,?,?)")
        .bind(note)
        .bind(before.edited_ms.value_or(before.created_ms))
        .bind(before.text)
        .run();
    Statement(*database_, "UPDATE notes SET text=?, edited_ms=? WHERE id=?")
        .bind(text)
        .bind(now)
        .bind(note)
        .run();
    Statement(*database_, "UPDATE found SET text=? WHERE rowid=?").bind(text).bind(note).run();
    record(thread, note, "edited", author.name);
    return thread;
  });
}

NoteResult<NoteThread> NoteStore::remove(std::int64_t thread, std::int64_t note,
                                         const NoteAuthor& author) {
  return writing([&](std::int64_t now) {
    own_note(*database_, thread, note, author);
    Statement(*database_, "DELETE FROM edits WHERE note=?").bind(note).run();
    Statement(*database_, "DELETE FROM found WHERE rowid=?").bind(note).run();
    Statement(*database_, "UPDATE notes SET text='', removed_ms=? WHERE id=?")
        .bind(now)
        .bind(note)
        .run();
    record(thread, note, "removed", author.name);
    return thread;
  });
}

NoteResult<NoteThread> NoteStore::resolve(std::int64_t thread, const NoteAuthor& author,
                                          bool resolved) {
  return writing([&](std::int64_t now) {
    if (head(thread).resolved_ms.has_value() == resolved) return thread;
    Statement(*database_, "UPDATE threads SET resolved_ms=?, resolved_by=? WHERE id=?")
        .bind(resolved ? std::optional(now) : std::nullopt)
        .bind(resolved ? author.name : "")
        .bind(thread)
        .run();
    record(thread, 0, resolved ? "resolved" : "reopened", author.name);
    return thread;
  });
}

std::size_t NoteStore::fill(NoteThread& thread, Part most, std::int64_t before) {
  thread.notes.clear();
  Statement counted(*database_, "SELECT count(*), min(id) FROM notes WHERE thread=?");
  counted.bind(thread.id);
  counted.step();
  thread.note_count = counted.integer(0);
  const std::int64_t first = counted.integer(1);
  std::size_t bytes = 0;
  Statement opening(*database_, std::string("SELECT ") + kNoteColumns + " FROM notes WHERE id=?");
  opening.bind(first);
  std::optional<Note> opens;
  if (opening.step()) opens = read_note(opening);
  if (opens) bytes += opens->text.size();
  Statement newest(*database_,
                   std::string("SELECT ") + kNoteColumns +
                       " FROM notes WHERE thread=? AND id>? AND id<? ORDER BY id DESC LIMIT ?");
  newest.bind(thread.id).bind(first).bind(before).bind(static_cast<std::int64_t>(most.notes) - 1);
  while (newest.step()) {
    Note note = read_note(newest);
    if (!thread.notes.empty() && bytes + note.text.size() > most.bytes) break;
    bytes += note.text.size();
    thread.notes.push_back(std::move(note));
  }
  if (opens) thread.notes.push_back(std::move(*opens));
  std::reverse(thread.notes.begin(), thread.notes.end());
  return bytes;
}

NoteThread NoteStore::head(std::int64_t thread) {
  Statement row(*database_, std::string("SELECT ") + kThreadColumns + " FROM threads WHERE id=?");
  row.bind(thread);
  if (!row.step()) throw DatabaseError{not_there()};
  return read_thread(row);
}

NoteResult<NotePage> NoteStore::list(const NoteFilter& filter) {
  return reading(NotePage{}, [&] {
    // One state of the file for the count, the rows and their notes.
    database_->run("BEGIN");
    struct End {
      Database& database;
      ~End() {
        try {
          database.run("ROLLBACK");
        } catch (const DatabaseError&) {
          return;  // it ended by itself
        }
      }
    } const end{*database_};
    NotePage page = list_threads(*database_, filter);
    if (!filter.with_notes) return page;
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < page.threads.size(); ++i) {
      bytes += fill(page.threads[i], {kNotesInList, kNoteBytesInList});
      if (bytes < kPageBytes || i + 1 == page.threads.size()) continue;
      page.threads.resize(i + 1);
      page.next = page.threads.back().changed;
    }
    return page;
  });
}

NoteResult<NoteThread> NoteStore::read_one(std::int64_t thread, Part most, std::int64_t before) {
  auto found = reading(NoteThread{}, [&] {
    NoteThread out = head(thread);
    fill(out, most, before);
    return out;
  });
  const auto* ok = std::get_if<NoteThread>(&found);
  if (ok != nullptr && ok->id == 0) return not_there();
  return found;
}

NoteResult<NoteThread> NoteStore::find(std::int64_t thread, std::int64_t before) {
  return read_one(thread, {kNotesInThread, kNoteBytesInThread}, before);
}

NoteResult<NoteThread> NoteStore::glance(std::int64_t thread) {
  return read_one(thread, {kNotesInList, kNoteBytesInList}, INT64_MAX);
}

NoteResult<std::vector<Note>> NoteStore::notes_after(std::int64_t thread, std::int64_t note,
                                                     std::size_t bytes) {
  return reading(std::vector<Note>{}, [&] {
    Statement rows(*database_, std::string("SELECT ") + kNoteColumns +
                                   " FROM notes WHERE thread=? AND id>? ORDER BY id");
    rows.bind(thread).bind(note);
    std::vector<Note> out;
    std::size_t held = 0;
    while ((out.empty() || (held < bytes && out.size() < kNotesInThread)) && rows.step()) {
      out.push_back(read_note(rows));
      held += out.back().text.size();
    }
    return out;
  });
}

NoteResult<std::vector<NoteEdit>> NoteStore::history(std::int64_t thread, std::int64_t note) {
  bool there = false;
  auto found = reading(std::vector<NoteEdit>{}, [&] {
    there = true;
    note_of(*database_, thread, note);
    Statement rows(*database_, "SELECT written_ms,text FROM edits WHERE note=? ORDER BY id");
    rows.bind(note);
    std::vector<NoteEdit> out;
    while (rows.step()) out.push_back({rows.integer(0), rows.text(1)});
    return out;
  });
  if (!there && std::holds_alternative<std::vector<NoteEdit>>(found)) return not_there();
  return found;
}

NoteResult<std::vector<NoteChange>> NoteStore::changes_after(std::int64_t seq, std::size_t limit) {
  return reading(std::vector<NoteChange>{}, [&] {
    Statement rows(*database_,
                   "SELECT seq,thread,note,what,who,at_ms FROM changes WHERE seq>? "
                   "ORDER BY seq LIMIT ?");
    rows.bind(seq).bind(static_cast<std::int64_t>(limit));
    std::vector<NoteChange> out;
    while (rows.step()) {
      out.push_back({rows.integer(0), rows.integer(1), rows.integer(2), rows.text(3), rows.text(4),
                     rows.integer(5)});
    }
    return out;
  });
}

NoteResult<std::int64_t> NoteStore::last_change() {
  return reading(std::int64_t{0},
                 [&] { return database_->number("SELECT coalesce(max(seq),0) FROM changes"); });
}

std::int64_t NoteStore::version() {
  const auto found =
      reading(std::int64_t{0}, [&] { return database_->number("PRAGMA data_version"); });
  const auto* version = std::get_if<std::int64_t>(&found);
  return version == nullptr ? 0 : *version;
}

}  // namespace traceglass
