// A filter as SQL: which threads, how many, and which page of them.
#pragma once

#include "tb_backend/review/database.h"

namespace traceglass {

// Without the notes. Cost: the page by an index, the count by another; a search looks at the
// newest few thousand notes that hold its words.
NotePage list_threads(Database& database, const NoteFilter& filter);

}  // namespace traceglass
