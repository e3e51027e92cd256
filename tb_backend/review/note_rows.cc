#include "tb_backend/review/note_rows.h"

namespace traceglass {

NoteThread read_thread(const Statement& row) {
  NoteThread out;
  int c = 0;
  out.id = row.integer(c++);
  out.changed = row.integer(c++);
  out.resolved_ms = row.maybe_integer(c++);
  out.resolved_by = row.text(c++);
  NoteAnchor& a = out.anchor;
  for (std::string* field : {&a.kind, &a.run, &a.worker}) *field = row.text(c++);
  a.span = row.integer(c++);
  for (std::string* field : {&a.trace, &a.content, &a.view, &a.link, &a.label, &a.name, &a.path,
                             &a.shape, &a.category}) {
    *field = row.text(c++);
  }
  a.occurrence = row.integer(c++);
  a.among = row.integer(c++);
  a.step = row.integer(c++);
  a.step_name = row.text(c++);
  a.start_ns = row.maybe_integer(c++);
  a.end_ns = row.maybe_integer(c++);
  a.base_ns = row.maybe_integer(c++);
  return out;
}

Note read_note(const Statement& row) {
  Note out;
  out.id = row.integer(0);
  out.author = {row.text(1), row.integer(2) != 0};
  out.text = row.text(3);
  out.created_ms = row.integer(4);
  out.edited_ms = row.maybe_integer(5);
  out.removed_ms = row.maybe_integer(6);
  return out;
}

void bind_anchor(Statement& statement, const NoteAnchor& a) {
  statement.bind(a.kind).bind(a.run).bind(a.worker).bind(a.span);
  for (const std::string* field : {&a.trace, &a.content, &a.view, &a.link, &a.label, &a.name,
                                   &a.path, &a.shape, &a.category}) {
    statement.bind(*field);
  }
  statement.bind(a.occurrence).bind(a.among).bind(a.step).bind(a.step_name);
  statement.bind(a.start_ns).bind(a.end_ns).bind(a.base_ns);
}

}  // namespace traceglass
