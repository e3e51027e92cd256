#include "tb_backend/api/notes_json.h"

#include <fmt/format.h>

#include <ctime>

namespace traceglass {
namespace {

void put_text(Json& json, const char* key, const std::string& text) {
  if (!text.empty()) json[key] = text;
}

void put_number(Json& json, const char* key, std::int64_t number) {
  if (number > 0) json[key] = number;
}

// A name within a line of Markdown: nothing in it is markup.
std::string plain_line(const std::string& text) {
  constexpr std::string_view kMarks = "\\`*_{}[]()#+-.!|<>~&";
  std::string out;
  for (const char c : text) {
    if (c == '\n' || c == '\r') {
      out += ' ';
      continue;
    }
    if (kMarks.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string quoted_lines(const std::string& text) {
  std::string out = "> ";
  for (const char c : text) {
    if (c == '\r') continue;
    out += c;
    if (c == '\n') out += "> ";
  }
  return out + '\n';
}

std::string by_line(const Note& note) {
  std::string out =
      fmt::format("**{}**, {}", plain_line(note.author.name), utc_text(note.created_ms));
  if (note.edited_ms) out += ", edited " + utc_text(*note.edited_ms);
  return out;
}

}  // namespace

std::string utc_text(std::int64_t unix_ms) {
  const std::time_t seconds = unix_ms / 1000;
  std::tm parts{};
  if (::gmtime_r(&seconds, &parts) == nullptr) return "?";
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02} UTC", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

Json note_anchor_json(const NoteAnchor& anchor) {
  Json out = {{"kind", anchor.kind}, {"run", anchor.run}, {"label", anchor.label}};
  put_text(out, "worker", anchor.worker);
  put_number(out, "span", anchor.span);
  put_text(out, "trace", anchor.trace);
  put_text(out, "view", anchor.view);
  put_text(out, "link", anchor.link);
  put_text(out, "name", anchor.name);
  put_text(out, "path", anchor.path);
  put_text(out, "shape", anchor.shape);
  put_text(out, anchor.kind == "row" ? "table" : "category", anchor.category);
  put_number(out, "occurrence", anchor.occurrence);
  put_number(out, "among", anchor.among);
  put_number(out, "step", anchor.step);
  put_text(out, "step_name", anchor.step_name);
  put(out, "start_ns", anchor.start_ns);
  put(out, "end_ns", anchor.end_ns);
  return out;
}

Json note_json(const Note& note) {
  Json out = {{"id", note.id},
              {"author", note.author.name},
              {"verified", note.author.verified},
              {"text", note.text},
              {"created_ms", note.created_ms}};
  put(out, "edited_ms", note.edited_ms);
  put(out, "removed_ms", note.removed_ms);
  return out;
}

Json note_thread_json(const NoteThread& thread) {
  Json out = {{"id", thread.id},
              {"changed", thread.changed},
              {"anchor", note_anchor_json(thread.anchor)},
              {"note_count", thread.note_count},
              {"notes", Json::array()}};
  put(out, "resolved_ms", thread.resolved_ms);
  put_text(out, "resolved_by", thread.resolved_by);
  for (const Note& note : thread.notes) out["notes"].push_back(note_json(note));
  return out;
}

Json note_change_json(const NoteChange& change, const NoteThread& thread) {
  Json out = {{"seq", change.seq},
              {"what", change.what},
              {"who", change.who},
              {"at_ms", change.at_ms},
              {"thread", note_thread_json(thread)}};
  put_number(out, "note", change.note);
  return out;
}

Json note_page_json(const NotePage& page) {
  Json out = {{"threads", Json::array()},
              {"total", page.total},
              {"total_is_least", page.total_is_least},
              {"seq", page.seq}};
  put_number(out, "next", page.next);
  for (const NoteThread& thread : page.threads) out["threads"].push_back(note_thread_json(thread));
  return out;
}

Json note_edits_json(const std::vector<NoteEdit>& edits) {
  Json out = {{"edits", Json::array()}};
  for (const NoteEdit& edit : edits) {
    out["edits"].push_back({{"written_ms", edit.written_ms}, {"text", edit.text}});
  }
  return out;
}

std::string thread_markdown_head(const NoteThread& thread) {
  const NoteAnchor& a = thread.anchor;
  std::string out = "\n## " + plain_line(a.label.empty() ? a.run : a.label) + "\n\n";
  out += plain_line(a.run);
  if (!a.worker.empty()) out += " · " + plain_line(a.worker);
  if (a.span > 0) out += fmt::format(" · profile {}", a.span);
  if (!a.view.empty()) out += " · " + plain_line(a.view);
  if (!a.step_name.empty()) out += " · " + plain_line(a.step_name);
  if (a.start_ns && a.end_ns) {
    out += fmt::format(" · {:.3f}–{:.3f} ms", static_cast<double>(*a.start_ns) / 1e6,
                       static_cast<double>(*a.end_ns) / 1e6);
  }
  return out + '\n';
}

std::string note_markdown(const Note& note) {
  return '\n' + by_line(note) + "\n\n" +
         (note.removed_ms ? "*removed by its author*\n" : quoted_lines(note.text));
}

std::string thread_markdown_end(const NoteThread& thread) {
  if (!thread.resolved_ms) return {};
  return fmt::format("\n*Resolved by {}, {}.*\n", plain_line(thread.resolved_by),
                     utc_text(*thread.resolved_ms));
}

}  // namespace traceglass
