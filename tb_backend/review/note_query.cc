#include "tb_backend/review/note_query.h"

#include <algorithm>
#include <utility>

#include "tb_backend/review/note_rows.h"

namespace traceglass {
namespace {

constexpr std::int64_t kMostFound = 2000;
constexpr std::size_t kTrigram = 3;  // a shorter word is in no index

using Value = std::variant<std::int64_t, std::string>;

struct Where {
  std::string sql = "1";
  std::vector<Value> values;

  void add(const std::string& condition, Value value) {
    sql += " AND " + condition;
    values.push_back(std::move(value));
  }
};

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) >> 6U) != 2; }));
}

std::vector<std::string> words(std::string_view text) {
  // A control character ends a word too: the index's language ends at a NUL, within quotes or not.
  const auto is_space = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte <= 0x20 || byte == 0x7F;
  };
  std::vector<std::string> out;
  while (true) {
    const auto* first = std::find_if_not(text.begin(), text.end(), is_space);
    if (first == text.end()) return out;
    const auto* last = std::find_if(first, text.end(), is_space);
    out.emplace_back(first, last);
    text = std::string_view(last, static_cast<std::size_t>(text.end() - last));
  }
}

std::string quoted(const std::string& word) {
  std::string out = "\"";
  for (const char c : word) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

std::string like(const std::string& word) {
  std::string out = "%";
  for (const char c : word) {
    if (c == '%' || c == '_' || c == '\\') out += '\\';
    out += c;
  }
  return out + '%';
}

void add_search(Where& where, const std::string& text) {
  std::string match;
  std::vector<std::string> shorter;
  for (const std::string& word : words(text)) {
    if (characters(word) >= kTrigram) {
      match += quoted(word) + ' ';
    } else {
      shorter.push_back(like(word));
    }
  }
  if (match.empty() && shorter.empty()) return;
  std::string sql = "id IN (SELECT n.thread FROM found f JOIN notes n ON n.id=f.rowid WHERE 1";
  if (!match.empty()) {
    sql += " AND found MATCH ?";
    where.values.emplace_back(match);
  }
  for (const std::string& word : shorter) {
    sql += R"( AND f.text||' '||f.author||' '||f.label LIKE ? ESCAPE '\')";
    where.values.emplace_back(word);
  }
  where.sql += " AND " + sql + " ORDER BY f.rowid DESC LIMIT " + std::to_string(kMostFound) + ')';
}

Where where_of(const NoteFilter& filter) {
  Where where;
  if (filter.run) where.add("run=?", *filter.run);
  if (filter.worker) where.add("(worker=? OR worker='')", *filter.worker);
  if (filter.trace) where.add("trace=?", *filter.trace);
  if (filter.view) where.add("view=?", *filter.view);
  if (filter.kind) where.add("kind=?", *filter.kind);
  if (filter.author) {
    where.add("EXISTS(SELECT 1 FROM notes n WHERE n.author=? AND n.thread=threads.id)",
              *filter.author);
  }
  if (filter.resolved)
    where.sql += *filter.resolved ? " AND resolved_ms IS NOT NULL" : " AND resolved_ms IS NULL";
  add_search(where, filter.text);
  return where;
}

void bind(Statement& statement, const Where& where) {
  for (const Value& value : where.values) {
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
      statement.bind(*number);
    } else {
      statement.bind(std::get<std::string>(value));
    }
  }
}

}  // namespace

NotePage list_threads(Database& database, const NoteFilter& filter) {
  NotePage page;
  const Where where = where_of(filter);
  Statement counted(database, "SELECT count(*) FROM threads WHERE " + where.sql);
  bind(counted, where);
  counted.step();
  page.total = counted.integer(0);
  page.total_is_least = !filter.text.empty() && page.total >= kMostFound;
  page.seq = database.number("SELECT coalesce(max(seq),0) FROM changes");
  Statement rows(database, std::string("SELECT ") + kThreadColumns + " FROM threads WHERE " +
                               where.sql + " AND changed<? ORDER BY changed DESC LIMIT ?");
  bind(rows, where);
  rows.bind(filter.before).bind(static_cast<std::int64_t>(filter.limit) + 1);
  while (rows.step()) page.threads.push_back(read_thread(rows));
  if (page.threads.size() > filter.limit) {
    page.threads.resize(filter.limit);
    if (filter.limit > 0) page.next = page.threads.back().changed;
  }
  return page;
}

}  // namespace traceglass
