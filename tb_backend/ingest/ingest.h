// Reads one trace file of any dialect into a Trace. Streaming: the text is never held whole.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "libtrace/trace.h"

namespace traceglass {

struct IngestProgress {
  std::atomic<std::uint64_t> bytes_done{0};  // of the file as stored
  std::atomic<std::uint64_t> bytes_total{0};
  std::atomic<std::uint64_t> events{0};
  std::atomic<bool> building{false};  // all read; sorting, nesting, linking
  std::atomic<bool> cancel{false};    // set by the caller to give up
};

// Why a file is no trace: codes `empty`, `not_a_trace`, `broken`, `unreadable`.
struct FileError {
  std::string code;
  std::string message;                  // a sentence for a user
  std::optional<std::uint64_t> offset;  // byte of the (inflated) text, where one is to blame
};

struct IngestResult {
  libtrace::TracePtr trace;  // null exactly when `error` is set
  std::optional<FileError> error;
};

// Never throws; any input ends in a trace with its report, or in an error.
IngestResult ingest_file(const std::filesystem::path& file, IngestProgress* progress = nullptr);

// The same of text from anywhere; `file_name` may tell the rank.
class TextSource;
IngestResult ingest_text(TextSource& text, std::string_view file_name, IngestProgress& progress);

}  // namespace traceglass
