// The strict path: valid JSON to events, by the shapes of rows seen before, else by simdjson on
// demand. Knows what an event row looks like (a flat object with one object of arguments), nothing
// of what it means.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "libtrace/event.h"

namespace traceglass {

// One row of `traceEvents`. Texts point into the buffer being read (or into scratch) and die with
// the call. Numbers are text; absent fields have data() == nullptr.
struct RawEvent {
  std::string_view ph, name, cat, pid, tid, ts, dur, id;
  std::vector<std::pair<std::string_view, libtrace::Value>> args;
  bool repaired = false;  // a string was not what JSON's rules give
  int shape = -1;  // rows of one shape have one `cat` and the same argument keys; -1: unknown

  void clear() {
    ph = name = cat = pid = tid = ts = dur = id = {};
    args.clear();
    repaired = false;
    shape = -1;
  }
};

class EventSink {
 public:
  virtual ~EventSink() = default;
  // Returns false when the row cannot be used (no time, no phase, …).
  virtual bool event(RawEvent& event) = 0;
};

class Tokenizer {
 public:
  Tokenizer();
  ~Tokenizer();
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  // Bytes that must be readable behind any text given.
  static constexpr std::size_t kPadding = 64;

  struct Result {
    enum class Stop {
      kAll,       // every row of the text was taken
      kArrayEnd,  // the array ended at `at` (the byte behind its bracket)
      kBadEvent,  // the row at `at` is no valid row; nothing of it was delivered
    };
    Stop stop;
    const char* at;
  };
  // Rows separated by commas in text[0, size). The bytes text[-1] and text[size] are overwritten
  // by brackets during the call and put back.
  Result rows(char* text, std::size_t size, EventSink& sink);
  // Exactly one row.
  bool row(const char* text, std::size_t size, EventSink& sink);
  // Calls `visit(key, value)` for each member of a JSON object (false: it is none). Nested values
  // come as kJson.
  template <typename Visit>
  bool members(std::string_view json, Visit&& visit) {
    std::vector<std::pair<std::string_view, libtrace::Value>> found;
    if (!object_members(json, found)) return false;
    for (auto& [key, value] : found) visit(key, value);
    return true;
  }
  // The elements of a JSON array as JSON texts (false: it is none).
  bool elements(std::string_view json, std::vector<std::string_view>& out);

 private:
  Result by_simdjson(char* text, std::size_t size, EventSink& sink);
  Result by_shape(const char* text, std::size_t size, EventSink& sink);
  bool object_members(std::string_view json,
                      std::vector<std::pair<std::string_view, libtrace::Value>>& out);
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// End of the object that begins at text[0] ('{') by strict rules, 0 when it is not in `text`.
std::size_t object_end(std::string_view text) noexcept;

}  // namespace traceglass
