// The tables of a notes file, and whether a file is one.
#pragma once

#include "tb_backend/review/database.h"

namespace traceglass {

// Makes the tables in an empty file. Throws DatabaseError for a file of another program, of a
// newer version, or without them.
void make_note_tables(Database& database, const std::string& path);
void check_note_tables(Database& database, const std::string& path);

}  // namespace traceglass
