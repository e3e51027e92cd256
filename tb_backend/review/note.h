// Notes as values: a thread is pinned by its anchor, holds notes, and every change has a number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace traceglass {

// Where a thread is pinned: a fingerprint, so that the place can be looked for again in a newer
// profile of the same run. What does not apply to its kind is empty.
struct NoteAnchor {
  std::string kind;  // "run", "view", "row", "event" or "range"
  std::string run, worker;
  std::int64_t span = 0;        // 1, 2, … as in the log directory; 0: none
  std::string trace;            // id of its file
  std::string content;          // hash of that file's content
  std::string view, link;       // view, and the state of the page to return to
  std::string label;            // what a reader is shown: a name, a range
  std::string name;             // of the event or row
  std::string path;             // names of the callers, outermost first, one a line
  std::string shape;            // input shapes, as the trace has them
  std::string category;         // of the event; of a row its table
  std::int64_t occurrence = 0;  // 1, 2, … among equals of its step
  std::int64_t among = 0;       // how many those are
  std::int64_t step = 0;        // position of that step, from 1; 0: outside
  std::string step_name;
  std::optional<std::int64_t> start_ns, end_ns;  // from the trace's base
  std::optional<std::int64_t> base_ns;           // of the trace, since 1970

  bool operator==(const NoteAnchor&) const = default;
};

struct NoteAuthor {
  std::string name;
  bool verified = false;  // by a proxy that knows its users; else typed

  bool operator==(const NoteAuthor&) const = default;
};

struct Note {
  std::int64_t id = 0;
  NoteAuthor author;
  std::string text;
  std::int64_t created_ms = 0;  // since 1970, all times
  std::optional<std::int64_t> edited_ms, removed_ms;
};

struct NoteThread {
  std::int64_t id = 0;
  std::int64_t changed = 0;  // number of its last change
  NoteAnchor anchor;
  std::optional<std::int64_t> resolved_ms;
  std::string resolved_by;
  std::int64_t note_count = 0;
  std::vector<Note> notes;  // by time; in a list the first and the newest only
};

// A text that a note had before.
struct NoteEdit {
  std::int64_t written_ms = 0;
  std::string text;
};

struct NoteChange {
  std::int64_t seq = 0;  // 1, 2, …, never used twice
  std::int64_t thread = 0, note = 0;
  std::string what;  // "started", "replied", "edited", "removed", "resolved", "reopened"
  std::string who;
  std::int64_t at_ms = 0;
};

struct NoteFilter {
  std::optional<std::string> run, worker, trace, view, kind, author;
  std::optional<bool> resolved;
  std::string text;                 // every word of it, anywhere in a note or its label
  std::int64_t before = INT64_MAX;  // threads changed before this number
  std::size_t limit = 100;
  bool with_notes = true;  // else the threads alone
};

struct NotePage {
  std::vector<NoteThread> threads;  // last changed first
  std::int64_t total = 0;           // that fit the filter, `before` aside
  bool total_is_least = false;      // a search found more than it counts
  std::int64_t next = 0;            // `before` of the next page; 0: there is none
  std::int64_t seq = 0;             // of the last change of all
};

struct NoteError {
  enum class Kind : std::uint8_t {
    kNotFound,
    kNotYours,
    kReadOnly,  // the place cannot be written
    kLocked,    // by another program, for longer than we wait
    kFull,      // disk or quota
    kBroken     // not a database, not ours, or damaged
  };
  Kind kind = Kind::kBroken;
  std::string sentence;
};

template <typename T>
using NoteResult = std::variant<T, NoteError>;

}  // namespace traceglass
