#include "tb_backend/ingest/foreign.h"

#include <utility>

namespace traceglass {

std::string describe_foreign_bytes(std::string_view begin) {
  constexpr std::pair<std::string_view, std::string_view> kMagic[] = {
      {"\x89PNG", "a PNG picture"},
      {"PK\x03\x04", "a zip archive (a PyTorch checkpoint is one)"},
      {"\x80\x02", "a Python pickle (a CUDA memory snapshot is one)"},
      {"\x80\x03", "a Python pickle (a CUDA memory snapshot is one)"},
      {"\x80\x04", "a Python pickle (a CUDA memory snapshot is one)"},
      {"\x80\x05", "a Python pickle (a CUDA memory snapshot is one)"},
      {"\xFF\xFE", "UTF-16 text; convert it to UTF-8"},
      {"\xFE\xFF", "UTF-16 text; convert it to UTF-8"},
      {"\x1F\x8B", "compressed twice; unpack it once"},
      {"version https://git-lfs", "a Git LFS pointer, not the file it stands for"},
      {"\x28\xB5\x2F\xFD", "zstd-compressed; unpack it first"},
      {"BZh", "bzip2-compressed; unpack it first"},
      {"\xFD"
       "7zXZ",
       "xz-compressed; unpack it first"},
      {"SQLite format 3", "an SQLite database (an Nsight Systems export is one)"},
      {"\x7F"
       "ELF",
       "a program"},
      {"<", "a web page or XML"},
  };
  for (const auto& [magic, what] : kMagic) {
    if (begin.starts_with(magic)) return "It is " + std::string(what) + ".";
  }
  // JSON begins with two characters of ASCII: the zeros are the other halves of UTF-16's.
  if (begin.size() >= 4) {
    const bool little = begin[0] != 0 && begin[1] == 0 && begin[2] != 0 && begin[3] == 0;
    const bool big = begin[0] == 0 && begin[1] != 0 && begin[2] == 0 && begin[3] != 0;
    if (little || big) return "It is UTF-16 text; convert it to UTF-8.";
  }
  return "It does not begin as JSON does.";
}

std::optional<std::string> describe_foreign_key(std::string_view key) {
  constexpr std::pair<std::string_view, std::string_view> kKeys[] = {
      {"nodes", "a PyTorch execution trace (nodes, not events)"},
      {"schema", "a PyTorch execution trace (nodes, not events)"},
      {"rocprofiler-sdk-tool", "a rocprofv3 result"},
      {"segments", "a CUDA memory snapshot"},
      {"device_traces", "a CUDA memory snapshot"},
      {"cells", "a Jupyter notebook"},
      {"resourceSpans", "an OpenTelemetry trace"},
      {"$schema", "a JSON file of another schema"},
  };
  for (const auto& [known, what] : kKeys) {
    if (key == known) return "It is " + std::string(what) + ".";
  }
  return std::nullopt;
}

std::string describe_foreign_array(std::string_view element) {
  if (element.starts_with('[')) {
    return "It is an array of arrays (a memory timeline of export_memory_timeline is one).";
  }
  return "It is a JSON array of other things than events.";
}

}  // namespace traceglass
