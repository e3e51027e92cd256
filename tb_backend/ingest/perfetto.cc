#include "tb_backend/ingest/perfetto.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "tb_backend/ingest/perfetto_rows.h"

namespace traceglass {
namespace {

constexpr std::size_t kMostPacket = 64U << 20;  // the interned texts of a trace are one packet
constexpr char kPacket = 0x0A;                  // field 1, with a length

// A length in front of `bytes`: its value and size; size 0: more bytes are needed, 11: no length.
std::pair<std::uint64_t, std::size_t> varint(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 10; ++i) {
    if (i == bytes.size()) return {0, 0};
    const auto b = static_cast<unsigned char>(bytes[i]);
    value |= static_cast<std::uint64_t>(b & 0x7F) << (7 * i);
    if (b < 0x80) return {value, i + 1};
  }
  return {0, 11};
}

}  // namespace

bool is_perfetto(std::string_view begin) {
  if (begin.empty() || begin[0] != kPacket) return false;
  const auto [length, size] = varint(begin.substr(1));
  if (size == 0 || size > 10 || length == 0 || begin.size() <= 1 + size) return false;
  // A packet that PyTorch's begins with: clocks, an event, interned texts, a track, a time. Behind
  // a line feed and a brace JSON has white space or a quote, which would be fields 1 and 4.
  const auto [tag, tag_size] = varint(begin.substr(1 + size));
  if (tag_size == 0 || tag_size > 10) return false;
  constexpr std::uint64_t kMessages[] = {6, 11, 12, 36, 53, 60}, kNumbers[] = {8, 10, 13, 58};
  const auto known = [field = tag >> 3](const auto& fields) {
    return std::find(std::begin(fields), std::end(fields), field) != std::end(fields);
  };
  return ((tag & 7) == 2 && known(kMessages)) || ((tag & 7) == 0 && known(kNumbers));
}

std::optional<FileError> read_perfetto(TextSource& source, DocumentSink& sink,
                                       libtrace::Report& report,
                                       const std::function<bool()>& keep_on) {
  PerfettoRows rows(sink);
  perfetto::TracePacket packet;
  std::vector<char> buffer;
  std::size_t pos = 0;
  std::uint64_t consumed = 0;
  const auto place = [&] { return "byte " + std::to_string(consumed + pos); };
  bool at_end = false, damaged = false;
  while (!damaged) {
    const std::string_view rest(buffer.data() + pos, buffer.size() - pos);
    std::uint64_t length = 0;
    std::size_t head = 0;
    if (!rest.empty()) {
      const auto [value, size] = varint(rest.substr(1));
      damaged = rest[0] != kPacket || size > 10 || value > kMostPacket;
      length = value;
      head = size == 0 ? 0 : 1 + size;
    }
    if (damaged) break;
    if (head == 0 || rest.size() - head < length) {
      if (at_end) break;
      if (!keep_on()) return FileError{"unreadable", "Reading was cancelled.", consumed + pos};
      buffer.erase(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(pos));
      consumed += pos;
      pos = 0;
      at_end = !source.read(buffer);
      continue;
    }
    if (!packet.ParseFromArray(rest.data() + head, static_cast<int>(length)) ||
        !rows.take(packet)) {
      report.add("skipped", 1, place());
    }
    pos += head + length;
  }
  report.add("skipped", rows.finish());
  if (source.end() == TextSource::End::kUnreadable) {
    return FileError{"unreadable", "The file cannot be read: " + source.error() + ".", {}};
  }
  if (rows.rows() == 0 && (damaged || pos < buffer.size())) {
    return FileError{"broken", "The file is broken at " + place() + ": no packet follows.",
                     consumed + pos};
  }
  if (damaged || pos < buffer.size() || source.end() == TextSource::End::kCut ||
      source.end() == TextSource::End::kDamaged) {
    report.add("incomplete", 1, place());
  } else if (source.end() == TextSource::End::kBehind) {
    report.add("repaired", 1, "behind the end", "Bytes that are no gzip follow its data.");
  } else if (source.end() == TextSource::End::kChecksum) {
    report.add("checksum");
  }
  return std::nullopt;
}

}  // namespace traceglass
