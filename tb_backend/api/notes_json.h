// Notes as the JSON of openapi.yaml, and as Markdown to be read elsewhere.
#pragma once

#include "tb_backend/api/view_json.h"
#include "tb_backend/review/note.h"

namespace traceglass {

Json note_anchor_json(const NoteAnchor& anchor);
Json note_json(const Note& note);
Json note_thread_json(const NoteThread& thread);
Json note_change_json(const NoteChange& change, const NoteThread& thread);
Json note_page_json(const NotePage& page);
Json note_edits_json(const std::vector<NoteEdit>& edits);

// One section a thread; what people wrote is quoted, so that it stays theirs.
inline constexpr const char* kNotesTitle = "# Notes\n";
std::string thread_markdown_head(const NoteThread& thread);
std::string note_markdown(const Note& note);
std::string thread_markdown_end(const NoteThread& thread);

// 2026-11-30 17:05:12 UTC
std::string utc_text(std::int64_t unix_ms);

}  // namespace traceglass
