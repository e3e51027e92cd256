#include "tb_backend/review/note_schema.h"

namespace traceglass {
namespace {

constexpr std::int64_t kOurs = 0x54474E54;  // "TGNT" as SQLite's application_id
constexpr std::int64_t kVersion = 1;        // as its user_version

// Trigrams: names of kernels are found by any part of them.
constexpr const char* kTables = R"sql(
CREATE TABLE threads(
  id INTEGER PRIMARY KEY AUTOINCREMENT, changed INTEGER NOT NULL,
  resolved_ms INTEGER, resolved_by TEXT NOT NULL DEFAULT '',
  kind TEXT NOT NULL, run TEXT NOT NULL, worker TEXT NOT NULL, span INTEGER NOT NULL,
  trace TEXT NOT NULL, content TEXT NOT NULL, view TEXT NOT NULL, link TEXT NOT NULL,
  label TEXT NOT NULL, name TEXT NOT NULL, path TEXT NOT NULL, shape TEXT NOT NULL,
  category TEXT NOT NULL, occurrence INTEGER NOT NULL, among INTEGER NOT NULL,
  step INTEGER NOT NULL,
  step_name TEXT NOT NULL, start_ns INTEGER, end_ns INTEGER, base_ns INTEGER);
CREATE INDEX threads_changed ON threads(changed);
CREATE INDEX threads_open ON threads(changed) WHERE resolved_ms IS NULL;
CREATE INDEX threads_run ON threads(run, changed);
CREATE INDEX threads_trace ON threads(trace, changed);
CREATE TABLE notes(
  id INTEGER PRIMARY KEY AUTOINCREMENT, thread INTEGER NOT NULL REFERENCES threads(id),
  author TEXT NOT NULL, verified INTEGER NOT NULL, text TEXT NOT NULL,
  created_ms INTEGER NOT NULL, edited_ms INTEGER, removed_ms INTEGER);
CREATE INDEX notes_thread ON notes(thread, id);
CREATE INDEX notes_author ON notes(author, thread);
CREATE TABLE edits(
  id INTEGER PRIMARY KEY AUTOINCREMENT, note INTEGER NOT NULL REFERENCES notes(id),
  written_ms INTEGER NOT NULL, text TEXT NOT NULL);
CREATE INDEX edits_note ON edits(note, id);
CREATE TABLE changes(
  seq INTEGER PRIMARY KEY AUTOINCREMENT, thread INTEGER NOT NULL, note INTEGER NOT NULL,
  what TEXT NOT NULL, who TEXT NOT NULL, at_ms INTEGER NOT NULL);
CREATE VIRTUAL TABLE found USING fts5(text, author, label, tokenize='trigram');
)sql";

[[noreturn]] void refuse(const std::string& sentence) {
  throw DatabaseError{{NoteError::Kind::kBroken, sentence}};
}

}  // namespace

void check_note_tables(Database& database, const std::string& path) {
  if (database.number("PRAGMA application_id") != kOurs) {
    refuse(path + " is a database of another program: start the server with --notes FILE.");
  }
  if (database.number("PRAGMA user_version") > kVersion) {
    refuse("The notes " + path + " were written by a newer Traceglass: update this one.");
  }
}

void make_note_tables(Database& database, const std::string& path) {
  Transaction all(database);
  // Two servers may begin at once: the second finds the tables of the first.
  const bool empty = database.number("SELECT count(*) FROM sqlite_master") == 0;
  if (!empty) {
    check_note_tables(database, path);
    return;
  }
  database.run(kTables);
  database.run(("PRAGMA application_id=" + std::to_string(kOurs)).c_str());
  database.run(("PRAGMA user_version=" + std::to_string(kVersion)).c_str());
  all.commit();
}

}  // namespace traceglass
