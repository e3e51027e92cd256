// Notes: list, write, follow, export, and where their places are in a trace.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <utility>

#include "libtrace/model/whole_number.h"
#include "tb_backend/api/json.h"
#include "tb_backend/api/note_anchor.h"
#include "tb_backend/api/note_export.h"
#include "tb_backend/api/note_feed.h"
#include "tb_backend/api/note_news.h"
#include "tb_backend/api/notes_json.h"
#include "tb_backend/api/problem.h"
#include "tb_backend/api/router.h"
#include "tb_backend/api/terminal_text.h"

namespace traceglass {
namespace {

constexpr std::size_t kMostAnchors = 500;

Reply refused(int status, const char* code, const std::string& sentence) {
  return problem_reply({status, code, sentence, "", {}});
}

Reply failed(const NoteError& error) {
  switch (error.kind) {
    case NoteError::Kind::kNotFound:
      return refused(404, "not_found", error.sentence);
    case NoteError::Kind::kNotYours:
      return refused(403, "not_yours", error.sentence);
    case NoteError::Kind::kReadOnly:
      return refused(403, "read_only", error.sentence);
    case NoteError::Kind::kLocked:
      return refused(503, "locked", error.sentence);
    case NoteError::Kind::kFull:
      return refused(507, "full", error.sentence);
    case NoteError::Kind::kBroken:
      break;
  }
  return refused(500, "broken", error.sentence);
}

std::int64_t number_of(const std::string& text) {
  const auto id = libtrace::whole_number(text);
  return id ? *id : -1;  // names nothing
}

// ---- what a request says -----------------------------------------------------------------------

Json body_of(const Call& call) {
  Json body = Json::parse(call.body, nullptr, false);
  if (!body.is_object()) throw BadRequest{"body", "The body has to be a JSON object."};
  return body;
}

std::string text_of(const Json& body) {
  const auto it = body.find("text");
  if (it == body.end() || !it->is_string()) {
    throw BadRequest{"text", "The body has to hold text, a string."};
  }
  auto text = it->get<std::string>();
  if (text.size() > kLongestNote) {
    throw BadRequest{"text", fmt::format("A note holds at most {} KiB; this one has {}.",
                                         kLongestNote >> 10U, (text.size() + 1023) >> 10U)};
  }
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    throw BadRequest{"text", "A note has to say something."};
  }
  if (text.find('\0') != std::string::npos) {
    throw BadRequest{"text", "A note is text: a character of it is none."};
  }
  return text;
}

// One line, one space between words, nothing that cannot be seen.
std::string clean_name(const std::string& name) {
  std::string out;
  for (const char c : name) {
    const bool space = static_cast<unsigned char>(c) <= 0x20 || c == 0x7F;
    if (!space) {
      out += c;
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
  }
  while (out.ends_with(' ')) out.pop_back();
  return out;
}

NoteAuthor author_of(const Call& call, const Json& body) {
  if (!call.caller.user.empty()) return {clean_name(call.caller.user), call.caller.verified};
  const auto it = body.find("author");
  if (it == body.end() || !it->is_string()) {
    throw BadRequest{"author", "The body has to hold author, your name."};
  }
  std::string name = clean_name(it->get<std::string>());
  if (name.empty() || name.size() > kLongestAuthor) {
    throw BadRequest{"author", "Your name has to have 1 to 120 bytes."};
  }
  return {std::move(name), false};
}

// Of a DELETE, which has no body everywhere: the name is a parameter then.
NoteAuthor author_of_query(const Call& call) {
  const std::string* name = call.query.find("author");
  return author_of(call, name == nullptr ? Json::object() : Json{{"author", *name}});
}

// ---- writing ------------------------------------------------------------------------------------

std::int64_t unix_now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

void log_write(const Call& call, const char* what, const NoteThread& thread,
               const NoteAuthor& author) {
  fmt::print(stderr, "{}  notes: {} thread {} by \"{}\"{} from {}\n", utc_text(unix_now_ms()), what,
             thread.id, printable(author.name), author.verified ? "" : " (typed)",
             call.remote.empty() ? "?" : printable(call.remote));
  std::fflush(stderr);
}

Reply written(Services& services, const Call& call, const char* what, const NoteAuthor& author,
              const NoteResult<NoteThread>& result, int status = 200) {
  if (const auto* error = std::get_if<NoteError>(&result)) return failed(*error);
  const auto& thread = std::get<NoteThread>(result);
  log_write(call, what, thread, author);
  services.notes.feed.changed();
  Reply reply = json_reply(note_thread_json(thread));
  reply.status = status;
  return reply;
}

Reply start(Services& services, const Call& call, const PathArgs&) {
  const Json body = body_of(call);
  const NoteAuthor author = author_of(call, body);
  const std::string text = text_of(body);
  const auto place = body.find("anchor");
  if (place == body.end() || !place->is_object()) {
    throw BadRequest{"anchor", "The body has to hold anchor, an object."};
  }
  const auto id = place->find("trace");
  if (id == place->end()) {
    return written(services, call, "started", author,
                   services.notes.store.start(anchor_of(*place, nullptr, nullptr), author, text),
                   201);
  }
  if (!id->is_string()) throw BadRequest{"trace", "anchor.trace has to be text."};
  const auto snapshot = services.watcher.snapshot();
  const TraceFile* file = snapshot->find(id->get_ref<const std::string&>());
  if (file == nullptr) {
    return refused(404, "not_found", "There is no such trace in the log directory (any more).");
  }
  const LoadStatus status = services.registry.ask(*file);
  if (status.error) return file_error_reply(*file, *status.error);
  if (!status.loaded) {
    Reply reply = refused(503, "loading", "The trace is being read: try again in a moment.");
    reply.headers.emplace_back("Retry-After", "1");
    return reply;
  }
  const auto generation = place->find("generation");
  if (generation != place->end() && *generation != Json(status.loaded->generation)) {
    return refused(409, "generation", "The trace has changed meanwhile: reload it.");
  }
  return written(
      services, call, "started", author,
      services.notes.store.start(anchor_of(*place, file, status.loaded.get()), author, text), 201);
}

Reply reply_to(Services& services, const Call& call, const PathArgs& args) {
  const Json body = body_of(call);
  const NoteAuthor author = author_of(call, body);
  return written(services, call, "replied", author,
                 services.notes.store.reply(number_of(args[0]), author, text_of(body)), 201);
}

Reply resolve(Services& services, const Call& call, const PathArgs& args) {
  const Json body = body_of(call);
  const NoteAuthor author = author_of(call, body);
  const auto it = body.find("resolved");
  if (it == body.end() || !it->is_boolean()) {
    throw BadRequest{"resolved", "The body has to hold resolved, true or false."};
  }
  const bool resolved = it->get<bool>();
  return written(services, call, resolved ? "resolved" : "reopened", author,
                 services.notes.store.resolve(number_of(args[0]), author, resolved));
}

Reply edit(Services& services, const Call& call, const PathArgs& args) {
  const Json body = body_of(call);
  const NoteAuthor author = author_of(call, body);
  return written(
      services, call, "edited", author,
      services.notes.store.edit(number_of(args[0]), number_of(args[1]), author, text_of(body)));
}

Reply remove(Services& services, const Call& call, const PathArgs& args) {
  const NoteAuthor author = author_of_query(call);
  return written(services, call, "removed", author,
                 services.notes.store.remove(number_of(args[0]), number_of(args[1]), author));
}

// ---- reading ------------------------------------------------------------------------------------

NoteFilter filter_of(const Call& call) {
  NoteFilter filter;
  const auto set = [&](std::optional<std::string>& field, const char* name) {
    if (const std::string* value = call.query.find(name)) field = *value;
  };
  set(filter.run, "run");
  set(filter.worker, "worker");
  set(filter.trace, "trace");
  set(filter.view, "view");
  set(filter.kind, "kind");
  set(filter.author, "author");
  const std::string state = call.query.choice("state", {"all", "open", "resolved"});
  if (state != "all") filter.resolved = state == "resolved";
  if (const std::string* text = call.query.find("q")) filter.text = text->substr(0, 400);
  return filter;
}

Reply list(Services& services, const Call& call, const PathArgs&) {
  NoteFilter filter = filter_of(call);
  filter.before = call.query.integer("before", 1, INT64_MAX, INT64_MAX);
  filter.limit = static_cast<std::size_t>(call.query.integer("limit", 0, 500, 50));
  const auto found = services.notes.store.list(filter);
  if (const auto* error = std::get_if<NoteError>(&found)) return failed(*error);
  return json_reply(note_page_json(std::get<NotePage>(found)));
}

Reply thread(Services& services, const Call& call, const PathArgs& args) {
  const std::int64_t before = call.query.integer("before", 1, INT64_MAX, INT64_MAX);
  const auto found = services.notes.store.find(number_of(args[0]), before);
  if (const auto* error = std::get_if<NoteError>(&found)) return failed(*error);
  return json_reply(note_thread_json(std::get<NoteThread>(found)));
}

Reply history(Services& services, const Call&, const PathArgs& args) {
  const auto found = services.notes.store.history(number_of(args[0]), number_of(args[1]));
  if (const auto* error = std::get_if<NoteError>(&found)) return failed(*error);
  return json_reply(note_edits_json(std::get<std::vector<NoteEdit>>(found)));
}

// For who cannot hold a connection open.
Reply changes(Services& services, const Call& call, const PathArgs&) {
  NoteStore& store = services.notes.store;
  const auto last = store.last_change();
  if (const auto* error = std::get_if<NoteError>(&last)) return failed(*error);
  const std::int64_t seq = std::get<std::int64_t>(last);
  const std::int64_t after = call.query.integer("after", 0, INT64_MAX, 0);
  const auto limit = static_cast<std::size_t>(call.query.integer("limit", 1, 1000, 200));
  const auto found = note_news(store, after > seq ? INT64_MAX : after, limit);
  if (const auto* error = std::get_if<NoteError>(&found)) return failed(*error);
  Json out = {{"seq", seq}, {"reset", after > seq}, {"changes", Json::array()}};
  for (const auto& [change, thread] : std::get<NoteNews>(found).news) {
    out["changes"].push_back(note_change_json(change, thread));
  }
  return json_reply(out);
}

Reply events(Services& services, const Call& call, const PathArgs&) {
  std::int64_t after = call.query.integer("after", 0, INT64_MAX, 0);
  // A browser that lost its connection says where it was; that is newer than the address.
  if (const auto last = libtrace::whole_number(call.header("Last-Event-ID"))) after = *last;
  Reply reply;
  reply.type = "text/event-stream";
  reply.headers.emplace_back("X-Accel-Buffering", "no");  // nginx passes it on at once
  if (call.method == "HEAD") return reply;
  reply.stream = services.notes.feed.follow(after);
  if (reply.stream) return reply;
  Reply many = refused(503, "too_many", "Too many follow the notes: ask for their changes.");
  many.headers.emplace_back("Retry-After", "10");
  return many;
}

Reply export_all(Services& services, const Call& call, const PathArgs&) {
  const bool markdown = call.query.choice("format", {"markdown", "json"}) == "markdown";
  auto found = export_notes(services.notes.store, filter_of(call),
                            markdown ? NoteFormat::kMarkdown : NoteFormat::kJson);
  if (const auto* error = std::get_if<NoteError>(&found)) return failed(*error);
  Reply reply;
  reply.type = markdown ? "text/markdown; charset=utf-8" : "application/json";
  if (call.method != "HEAD") reply.stream = std::get<std::shared_ptr<ReplyStream>>(found);
  reply.headers.emplace_back("Content-Disposition", std::string("attachment; filename=\"notes.") +
                                                        (markdown ? "md\"" : "json\""));
  return reply;
}

// Where the notes of this trace's run are in it.
Reply anchors(Services& services, const Call& call, const PathArgs&) {
  const std::string& id = call.query.required("id");
  const auto snapshot = services.watcher.snapshot();
  const TraceFile* file = snapshot->find(id);
  if (file == nullptr) {
    return refused(404, "not_found", "There is no such trace in the log directory (any more).");
  }
  const LoadStatus status = services.registry.ask(*file);
  if (status.error) return file_error_reply(*file, *status.error);
  if (!status.loaded) return status_reply(*file, status, 202);
  NoteFilter filter;
  filter.run = file->run;
  filter.worker = file->worker;
  filter.limit = kMostAnchors;
  filter.with_notes = false;
  const auto found = services.notes.store.list(filter);
  if (const auto* error = std::get_if<NoteError>(&found)) return failed(*error);
  const auto& page = std::get<NotePage>(found);
  return json_reply({{"seq", page.seq},
                     {"total", page.total},
                     {"anchors", find_anchors(*status.loaded, page.threads)}});
}

// Who asks, what they may, and where notes go.
Reply session(Services& services, const Call& call, const PathArgs&) {
  const std::string obstacle = services.notes.store.obstacle();
  Json out = {{"may_write", call.caller.may_write && obstacle.empty()},
              {"verified", call.caller.verified}};
  if (!call.caller.user.empty()) out["user"] = call.caller.user;
  if (!call.caller.may_write) {
    out["reason"] = "Your token lets you read; a note needs one that may write.";
  } else if (!obstacle.empty()) {
    out["reason"] = obstacle;
  }
  return json_reply(out);
}

}  // namespace

std::vector<LogdirRoute> notes_routes() {
  return {{"session", session},
          {"notes", list},
          {"notes", start, "POST"},
          {"notes/changes", changes},
          {"notes/events", events},
          {"notes/export", export_all},
          {"notes/anchors", anchors},
          {"notes/{thread}", thread},
          {"notes/{thread}", reply_to, "POST"},
          {"notes/{thread}", resolve, "PATCH"},
          {"notes/{thread}/{note}", edit, "PATCH"},
          {"notes/{thread}/{note}", remove, "DELETE"},
          {"notes/{thread}/{note}/history", history}};
}

}  // namespace traceglass
