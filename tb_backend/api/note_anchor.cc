#include "tb_backend/api/note_anchor.h"

#include <algorithm>
#include <fstream>

#include "tb_backend/analysis/event_mark.h"
#include "tb_backend/api/query.h"
#include "tb_backend/logdir/stable_hash.h"

namespace traceglass {
namespace {

using libtrace::EventId;
using libtrace::kNone;

constexpr std::size_t kLongestText = 4096;

[[noreturn]] void refuse(const char* field, const std::string& what) {
  throw BadRequest{field, std::string("anchor.") + field + ' ' + what};
}

// Control characters are no part of any place; a line end would break a line of the log.
std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return text;
}

std::string text(const Json& place, const char* field) {
  const auto it = place.find(field);
  if (it == place.end() || it->is_null()) return {};
  if (!it->is_string()) refuse(field, "has to be text.");
  const auto& value = it->get_ref<const std::string&>();
  if (value.size() > kLongestText) refuse(field, "is too long.");
  return one_line(value);
}

std::int64_t integer(const Json& place, const char* field) {
  const auto it = place.find(field);
  if (it == place.end() || !it->is_number_integer()) refuse(field, "has to be a whole number.");
  return it->get<std::int64_t>();
}

void pin_event(NoteAnchor& anchor, const Json& place, const LoadedTrace& loaded) {
  const std::int64_t id = integer(place, "event");
  const libtrace::Trace& trace = *loaded.trace;
  if (id < 0 || static_cast<std::uint64_t>(id) >= trace.size()) {
    refuse("event", "names no event of this trace.");
  }
  const auto e = static_cast<EventId>(id);
  EventMark mark = mark_of(trace, loaded.steps, e);
  anchor.label = one_line(mark.name);
  anchor.name = std::move(mark.name);
  anchor.path = std::move(mark.path);
  anchor.shape = std::move(mark.shape);
  anchor.category = std::move(mark.category);
  anchor.occurrence = mark.occurrence;
  anchor.among = mark.among;
  anchor.step = mark.step;
  anchor.step_name = step_name_at(loaded.steps, mark.step);
  anchor.start_ns = trace.start(e);
  anchor.end_ns = trace.end(e);
}

void pin_range(NoteAnchor& anchor, const Json& place) {
  anchor.start_ns = integer(place, "start_ns");
  anchor.end_ns = integer(place, "end_ns");
  if (*anchor.end_ns < *anchor.start_ns) refuse("end_ns", "lies before start_ns.");
}

EventMark mark_of(const NoteAnchor& anchor) {
  EventMark mark;
  mark.name = anchor.name;
  mark.category = anchor.category;
  mark.path = anchor.path;
  mark.shape = anchor.shape;
  mark.step = anchor.step;
  mark.occurrence = anchor.occurrence;
  mark.among = anchor.among;
  return mark;
}

Json lost(std::string reason) { return {{"state", "lost"}, {"reason", std::move(reason)}}; }

// A range is a matter of the clock alone: it lies in another profile only where that covers the
// same time of day, as a file does that was written anew.
Json range_found(const NoteAnchor& anchor, const LoadedTrace& loaded, bool same) {
  const auto base = loaded.trace->base_unix_ns();
  std::int64_t shift = 0;
  if (!same) {
    if (!base || !anchor.base_ns) {
      return lost(
          "A range of time belongs to its own profile, and one of the two does not say "
          "when it was recorded.");
    }
    if (__builtin_sub_overflow(*anchor.base_ns, *base, &shift)) return lost("Its time is odd.");
  }
  std::int64_t start = 0, end = 0;
  if (__builtin_add_overflow(anchor.start_ns.value_or(0), shift, &start) ||
      __builtin_add_overflow(anchor.end_ns.value_or(0), shift, &end)) {
    return lost("Its time is odd.");
  }
  const libtrace::TimeRange range = loaded.trace->range();
  if (!same && (start < range.start || end > range.end)) {
    return lost("A range of time belongs to its own profile; this one covers another time.");
  }
  return {{"state", same ? "here" : "found"}, {"start_ns", start}, {"end_ns", end}};
}

Json event_found(const MarkFound& found, const LoadedTrace& loaded, bool same) {
  if (found.event == kNone) return lost(found.reason);
  return {{"state", same ? "here" : "found"},
          {"event", found.event},
          {"start_ns", loaded.trace->start(found.event)},
          {"end_ns", loaded.trace->end(found.event)}};
}

}  // namespace

std::string content_hash(const std::filesystem::path& path) {
  constexpr std::streamoff kPart = std::streamoff{64} << 10U;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = file.tellg();
  if (!file || size < 0) return {};
  std::string content = std::to_string(size) + '\n';
  const auto append = [&](std::streamoff from) {
    std::string part(static_cast<std::size_t>(std::min(kPart, size - from)), '\0');
    file.seekg(from);
    file.read(part.data(), static_cast<std::streamsize>(part.size()));
    content += part;
  };
  append(0);
  append(std::max<std::streamoff>(0, size - kPart));
  return file ? stable_hash(content) : std::string();
}

NoteAnchor anchor_of(const Json& place, const TraceFile* file, const LoadedTrace* loaded) {
  NoteAnchor anchor;
  anchor.kind = text(place, "kind");
  anchor.view = text(place, "view");
  anchor.link = text(place, "link");
  anchor.label = text(place, "label");
  if (file != nullptr) {
    anchor.run = file->run;
    anchor.worker = file->worker;
    anchor.span = file->index;
    anchor.trace = file->id;
    anchor.content = content_hash(file->path);
  } else {
    anchor.run = text(place, "run");
    if (anchor.run.empty()) refuse("run", "or anchor.trace has to be given.");
  }
  if (loaded != nullptr) anchor.base_ns = loaded->trace->base_unix_ns();
  if (anchor.kind == "run") {  // all workers and profiles of it
    anchor.worker.clear();
    anchor.trace.clear();
    anchor.content.clear();
    anchor.span = 0;
    if (anchor.label.empty()) anchor.label = anchor.run;
    return anchor;
  }
  if (loaded == nullptr) refuse("trace", "has to be given for this kind of place.");
  if (anchor.kind == "event") {
    pin_event(anchor, place, *loaded);
  } else if (anchor.kind == "range") {
    pin_range(anchor, place);
  } else if (anchor.kind == "row") {
    anchor.name = text(place, "name");
    anchor.shape = text(place, "shape");
    anchor.category = text(place, "table");
    if (anchor.name.empty()) refuse("name", "has to be given for a row.");
    if (anchor.label.empty()) anchor.label = anchor.name;
  } else if (anchor.kind == "view") {
    if (anchor.view.empty()) refuse("view", "has to be given.");
    if (anchor.label.empty()) anchor.label = anchor.view;
  } else {
    refuse("kind", "has to be run, view, row, event or range.");
  }
  return anchor;
}

Json find_anchors(const LoadedTrace& loaded, const std::vector<NoteThread>& threads) {
  std::vector<EventMark> marks;
  std::vector<std::string> names;
  for (const NoteThread& thread : threads) {
    if (thread.anchor.kind == "event") marks.push_back(mark_of(thread.anchor));
    if (thread.anchor.kind == "row") names.push_back(thread.anchor.name);
  }
  std::vector<MarkFound> found;
  std::vector<NameHeld> held;
  if (!marks.empty()) found = find_marks(*loaded.trace, loaded.steps, marks);
  if (!names.empty()) held = find_names(*loaded.trace, names);
  const std::string content = threads.empty() ? "" : content_hash(loaded.file.path);
  std::size_t mark = 0, name = 0;
  Json out = Json::array();
  for (const NoteThread& thread : threads) {
    const NoteAnchor& anchor = thread.anchor;
    const bool same = !content.empty() && anchor.content == content;
    Json one;
    if (anchor.kind == "event") {
      one = event_found(found[mark++], loaded, same);
    } else if (anchor.kind == "range") {
      one = range_found(anchor, loaded, same);
    } else if (anchor.kind == "row") {
      const NameHeld& there = held[name++];
      const bool host = anchor.category == "operators", device = anchor.category == "kernels";
      if (same || (host && there.host) || (device && there.device)) {
        one = {{"state", same ? "here" : "found"}};
      } else if (host || device) {
        one = lost("No row of that name is in this profile.");
      } else {
        one = lost("Rows of this table are not looked for in another profile.");
      }
    } else {
      one = {{"state", same || anchor.trace.empty() ? "here" : "found"}};
    }
    one["thread"] = thread.id;
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace traceglass
