#include "tb_backend/index/write.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "tb_backend/index/blocks.h"
#include "tb_backend/index/hash.h"
#include "tb_backend/index/meta.h"

namespace traceglass::index {
namespace {

using libtrace::Column;
using libtrace::TraceData;

struct Piece {
  Section id;
  std::size_t element_bytes;
  std::size_t count;
  const void* data;
  [[nodiscard]] std::size_t bytes() const { return element_bytes * count; }
};

MemoryColumns by_column(const Column<libtrace::MemoryEvent>& events) {
  MemoryColumns m;
  each_memory_column(m, [&](Section, auto& column) { column.reserve(events.size()); });
  for (const libtrace::MemoryEvent& e : events) {
    m.at.push_back(e.at);
    m.bytes.push_back(e.bytes);
    m.addr.push_back(e.addr.value_or(0));
    m.allocated.push_back(e.total_allocated.value_or(0));
    m.reserved.push_back(e.total_reserved.value_or(0));
    m.device_type.push_back(e.device_type);
    m.device_id.push_back(e.device_id);
    m.lane.push_back(e.lane);
    m.op.push_back(e.op);
    m.bits.push_back(static_cast<std::uint8_t>(
        (e.addr ? MemoryColumns::kAddr : 0) | (e.total_allocated ? MemoryColumns::kAllocated : 0) |
        (e.total_reserved ? MemoryColumns::kReserved : 0) |
        (e.out_of_memory ? MemoryColumns::kOutOfMemory : 0)));
  }
  return m;
}

// The same with zeros in the bytes between fields: equal traces make equal files.
Column<Instant> padded(const Column<Instant>& values) {
  Column<Instant> out;
  if (values.empty()) return out;
  out.resize(values.size());
  std::memset(static_cast<void*>(out.data()), 0, out.size() * sizeof(Instant));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Instant& v = values[i];
    out[i].at = v.at;
    out[i].name = v.name;
    out[i].category = v.category;
    out[i].lane = v.lane;
    out[i].phase = v.phase;
    out[i].args = v.args;
  }
  return out;
}
Column<Flow> padded(const Column<Flow>& values) {
  Column<Flow> out;
  if (values.empty()) return out;
  out.resize(values.size());
  std::memset(static_cast<void*>(out.data()), 0, out.size() * sizeof(Flow));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Flow& v = values[i];
    out[i].id = v.id;
    out[i].at = v.at;
    out[i].category = v.category;
    out[i].name = v.name;
    out[i].lane = v.lane;
    out[i].begin = v.begin;
  }
  return out;
}

std::uint64_t hash_of(const Piece& piece) {
  const auto* const data = static_cast<const char*>(piece.data);
  const std::size_t size = piece.bytes();
  std::vector<std::uint64_t> blocks((size + kBlock - 1) / kBlock);
  for_each_block(blocks.size(), [&](std::size_t i) {
    blocks[i] = hash_bytes(data + i * kBlock, std::min(kBlock, size - i * kBlock));
  });
  return hash_of_blocks(blocks);
}

// A file that goes again unless it was finished.
class NewFile {
 public:
  explicit NewFile(const std::filesystem::path& path) : path_(path) {
    fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0400);
    if (fd_ < 0) fail();
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile() {
    if (fd_ < 0) return;
    ::close(fd_);
    ::unlink(path_.c_str());
  }
  [[nodiscard]] bool good() const { return fault_.empty(); }
  [[nodiscard]] const std::string& fault() const { return fault_; }

  // Asks for all the room at once, where the file system can be asked: a full disk says so now.
  void make_room(std::size_t bytes) {
    if (!good() || ::fallocate(fd_, 0, 0, static_cast<off_t>(bytes)) == 0) return;
    if (errno == ENOSPC || errno == EFBIG || errno == EDQUOT) fail();
  }
  void write(const void* data, std::size_t size, std::size_t offset,
             const std::function<bool()>& keep_on) {
    const auto* bytes = static_cast<const char*>(data);
    while (good() && size > 0) {
      if (!keep_on()) {
        fault_ = "given up";
        return;
      }
      constexpr std::size_t kAtATime = std::size_t{8} << 20;
      const ssize_t n = ::pwrite(fd_, bytes, std::min(size, kAtATime), static_cast<off_t>(offset));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return fail();
      bytes += n;
      size -= static_cast<std::size_t>(n);
      offset += static_cast<std::size_t>(n);
    }
  }
  void finish() {
    if (good() && ::close(std::exchange(fd_, -1)) != 0) {
      fail();
      ::unlink(path_.c_str());
    }
  }

 private:
  void fail() { fault_ = std::strerror(errno); }
  const std::filesystem::path& path_;
  int fd_ = -1;
  std::string fault_;
};

}  // namespace

std::string write_index(const std::filesystem::path& file, const std::string& source,
                        const Key& key, const libtrace::Trace& trace,
                        const std::function<bool()>& keep_on) {
  const TraceData& d = trace.data();
  const std::string meta = write_meta(d);
  const MemoryColumns memory = by_column(d.memory);
  const Column<Instant> instants = padded(d.instants);
  const Column<Flow> flows = padded(d.flows);

  std::vector<Piece> pieces{{Section::kPath, 1, source.size(), source.data()},
                            {Section::kMeta, 1, meta.size(), meta.data()}};
  const auto add = [&](Section id, const auto& column) {
    pieces.push_back({id, sizeof(column[0]), column.size(), column.data()});
  };
  each_slice_column(d, add);
  each_other_column(d, add);
  for (Piece& piece : pieces) {
    if (piece.id == Section::kInstants) piece.data = instants.data();
    if (piece.id == Section::kFlows) piece.data = flows.data();
  }
  each_memory_column(memory, add);

  Header header{};
  std::vector<SectionEntry> table;
  const auto aligned = [](std::size_t n) { return (n + kAlignment - 1) / kAlignment * kAlignment; };
  std::size_t end = sizeof header + pieces.size() * sizeof(SectionEntry);
  for (const Piece& piece : pieces) {
    end = aligned(end);
    table.push_back({static_cast<std::uint32_t>(piece.id),
                     static_cast<std::uint32_t>(piece.element_bytes), end, piece.count,
                     hash_of(piece)});
    end += piece.bytes();
  }
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.version = kVersion;
  header.sections = static_cast<std::uint32_t>(pieces.size());
  header.file_bytes = end;
  header.meaning = kMeaning;
  header.key = key;
  std::string head(reinterpret_cast<const char*>(&header), sizeof header);
  head.append(reinterpret_cast<const char*>(table.data()), table.size() * sizeof table[0]);
  header.hash = hash_bytes(head.data(), head.size());
  std::memcpy(head.data(), &header, sizeof header);

  NewFile out(file);
  out.make_room(end);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    out.write(pieces[i].data, pieces[i].bytes(), table[i].offset, keep_on);
  }
  out.write(head.data(), head.size(), 0, keep_on);
  out.finish();
  return out.fault();
}

}  // namespace traceglass::index
