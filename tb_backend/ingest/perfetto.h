// Perfetto's protobuf, as PyTorch writes it since 2.15 (`.pftrace`): packets to the same raw rows
// that JSON gives, so that what they mean has one definition. Read packet by packet.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "libtrace/report.h"
#include "tb_backend/ingest/document.h"

namespace traceglass {

// Whether bytes that begin so are Perfetto packets. A JSON text never is: it may start with the
// same line feed, but no packet's length and first field follow.
bool is_perfetto(std::string_view begin);

// nullopt: a trace, complete or not (see the report). `keep_on` is asked now and then; false gives
// up.
std::optional<FileError> read_perfetto(TextSource& bytes, DocumentSink& sink,
                                       libtrace::Report& report,
                                       const std::function<bool()>& keep_on);

}  // namespace traceglass
