// Rows of the tables as structs. Columns in the order of their lists here.
#pragma once

#include "tb_backend/review/database.h"

namespace traceglass {

inline constexpr const char* kThreadColumns =
    "id,changed,resolved_ms,resolved_by,kind,run,worker,span,trace,content,view,link,label,name,"
    "path,shape,category,occurrence,among,step,step_name,start_ns,end_ns,base_ns";
inline constexpr const char* kAnchorColumns =
    "kind,run,worker,span,trace,content,view,link,label,name,path,shape,category,occurrence,among,"
    "step,"
    "step_name,start_ns,end_ns,base_ns";
inline constexpr int kAnchorColumnCount = 20;
inline constexpr const char* kNoteColumns =
    "id,author,verified,text,created_ms,edited_ms,removed_ms";

NoteThread read_thread(const Statement& row);
Note read_note(const Statement& row);
void bind_anchor(Statement& statement, const NoteAnchor& anchor);

}  // namespace traceglass
