// Where a note is pinned, between the request that says so, the trace that is on show, and the
// newer profile in which the place is looked for again.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "tb_backend/api/problem.h"
#include "tb_backend/api/registry.h"
#include "tb_backend/api/view_json.h"
#include "tb_backend/logdir/scan.h"
#include "tb_backend/review/note.h"

namespace traceglass {

// Tells one content of a file from another: a hash of its size, its first and its last 64 KiB.
// "" when it cannot be read.
std::string content_hash(const std::filesystem::path& path);

// The anchor that a request describes (openapi's NotePlace), its fingerprint taken from the trace
// where it has one. `file` and `loaded`: those that the place names, null where it names none.
// Throws BadRequest.
NoteAnchor anchor_of(const Json& place, const TraceFile* file, const LoadedTrace* loaded);

// For each thread where its place is in this trace of the same run and worker: openapi's
// NoteAnchorFound. One pass over the trace for all.
Json find_anchors(const LoadedTrace& loaded, const std::vector<NoteThread>& threads);

}  // namespace traceglass
