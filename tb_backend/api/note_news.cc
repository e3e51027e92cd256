#include "tb_backend/api/note_news.h"

#include <algorithm>
#include <set>
#include <utility>

namespace traceglass {
namespace {

constexpr std::size_t kMostBytes = std::size_t{4} << 20U;

std::size_t text_bytes(const NoteThread& thread) {
  std::size_t bytes = 0;
  for (const Note& note : thread.notes) bytes += note.text.size();
  return bytes;
}

std::vector<NoteChange> newest_of_each(const std::vector<NoteChange>& changes) {
  std::vector<NoteChange> out;
  std::set<std::int64_t> seen;
  for (auto it = changes.rbegin(); it != changes.rend(); ++it) {
    if (seen.insert(it->thread).second) out.push_back(*it);
  }
  std::reverse(out.begin(), out.end());
  return out;
}

}  // namespace

NoteResult<NoteNews> note_news(NoteStore& store, std::int64_t after, std::size_t limit) {
  auto changed = store.changes_after(after, limit);
  if (auto* error = std::get_if<NoteError>(&changed)) return std::move(*error);
  const auto& changes = std::get<std::vector<NoteChange>>(changed);
  NoteNews out;
  out.upto = changes.empty() ? after : changes.back().seq;
  std::size_t bytes = 0;
  for (NoteChange& change : newest_of_each(changes)) {
    auto found = store.glance(change.thread);
    if (auto* error = std::get_if<NoteError>(&found)) {
      if (error->kind == NoteError::Kind::kNotFound) continue;  // the file was replaced meanwhile
      return std::move(*error);
    }
    auto& thread = std::get<NoteThread>(found);
    bytes += text_bytes(thread);
    const std::int64_t seq = change.seq;
    out.news.push_back({std::move(change), std::move(thread)});
    if (bytes < kMostBytes) continue;
    // Changes left out so far have a newer one of their thread behind this.
    out.upto = seq;
    break;
  }
  return out;
}

}  // namespace traceglass
