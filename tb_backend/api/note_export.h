// All threads that fit a filter with all their notes, as a file to be kept: written piece by piece,
// so that it costs little memory however much has been said.
#pragma once

#include <memory>

#include "tb_backend/api/call.h"
#include "tb_backend/review/note_store.h"

namespace traceglass {

enum class NoteFormat : std::uint8_t { kMarkdown, kJson };

// Which threads are in it is settled here. The stream throws when the notes cannot be read on.
NoteResult<std::shared_ptr<ReplyStream>> export_notes(NoteStore& store, NoteFilter filter,
                                                      NoteFormat format);

}  // namespace traceglass
