#include "tb_backend/index/read.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "tb_backend/index/blocks.h"
#include "tb_backend/index/check.h"
#include "tb_backend/index/hash.h"
#include "tb_backend/index/meta.h"

namespace traceglass::index {
namespace {

using libtrace::Column;
using libtrace::MemoryEvent;
using libtrace::TraceData;

constexpr std::size_t kMostSections = 256;
constexpr const char* kOfAnotherProgram = "made by another version of this program";
constexpr const char* kOfAnotherContent = "of what the file was before";

class File {
 public:
  explicit File(const std::filesystem::path& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int fd() const { return fd_; }

 private:
  int fd_;
};

class Mapping {
 public:
  Mapping(int fd, std::size_t size) : size_(size) {
    void* const at = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) return;
    data_ = static_cast<const char*>(at);
    ::madvise(at, size, MADV_WILLNEED);  // all is read once, to be checked
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    if (data_ != nullptr) ::munmap(const_cast<char*>(data_), size_);
  }
  [[nodiscard]] const char* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  const char* data_ = nullptr;
  std::size_t size_;
};

// What stands in a mapped file, once its header and table are known to be good.
class Sections {
 public:
  Sections(std::shared_ptr<const Mapping> file, const std::vector<SectionEntry>& table)
      : file_(std::move(file)) {
    for (const SectionEntry& entry : table) by_id_.emplace(entry.id, entry);
  }

  [[nodiscard]] std::string_view bytes(Section id) const {
    const auto it = by_id_.find(static_cast<std::uint32_t>(id));
    if (it == by_id_.end() || it->second.element_bytes != 1) return {};
    return {file_->data() + it->second.offset, it->second.count};
  }
  // False: there is no such section, or of other elements.
  template <typename T>
  bool column(Section id, Column<T>& out) const {
    const auto it = by_id_.find(static_cast<std::uint32_t>(id));
    if (it == by_id_.end() || it->second.element_bytes != sizeof(T)) return false;
    const auto* const data = reinterpret_cast<const T*>(file_->data() + it->second.offset);
    out = Column<T>::view(data, it->second.count, file_);
    return true;
  }

 private:
  std::shared_ptr<const Mapping> file_;
  std::map<std::uint32_t, SectionEntry> by_id_;
};

bool read_exactly(int fd, void* to, std::size_t size, off_t at) {
  return ::pread(fd, to, size, at) == static_cast<ssize_t>(size);
}

std::string owner_fault(const struct stat& s) {
  if (!S_ISREG(s.st_mode)) return "no regular file";
  // Whoever may write it may let us see anything.
  if (s.st_uid != ::geteuid() && s.st_uid != 0) return "somebody else's file";
  if ((s.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "others may write it";
  return {};
}

// Header and table, each number held to the size of the file.
std::string read_table(int fd, std::size_t size, const Key& key, std::vector<SectionEntry>& table) {
  Header header{};
  if (size < sizeof header || !read_exactly(fd, &header, sizeof header, 0)) return "too short";
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0) return "no index";
  if (header.version != kVersion || header.meaning != kMeaning) return kOfAnotherProgram;
  if (header.key != key) return kOfAnotherContent;
  if (header.file_bytes != size) return "cut or grown";
  if (header.sections > kMostSections) return "too many sections";
  table.resize(header.sections);
  const std::size_t table_bytes = table.size() * sizeof(SectionEntry);
  if (size - sizeof header < table_bytes ||
      !read_exactly(fd, table.data(), table_bytes, sizeof header)) {
    return "too short";
  }
  std::string head(sizeof header + table_bytes, '\0');
  const std::uint64_t hash = std::exchange(header.hash, 0);
  std::memcpy(head.data(), &header, sizeof header);
  if (table_bytes > 0) std::memcpy(head.data() + sizeof header, table.data(), table_bytes);
  if (hash_bytes(head.data(), head.size()) != hash) return "a wrong hash";

  std::size_t end = head.size();
  for (const SectionEntry& entry : table) {
    if (entry.offset % kAlignment != 0 || entry.offset < end || entry.offset > size ||
        entry.element_bytes == 0 || entry.count > (size - entry.offset) / entry.element_bytes) {
      return "a section that lies nowhere";
    }
    end = entry.offset + entry.count * entry.element_bytes;
  }
  return {};
}

bool hashes_hold(const Mapping& file, const std::vector<SectionEntry>& table) {
  struct Block {
    std::size_t offset, size;
  };
  std::vector<Block> blocks;
  for (const SectionEntry& entry : table) {
    const std::size_t bytes = entry.count * entry.element_bytes;
    for (std::size_t at = 0; at < bytes; at += kBlock) {
      blocks.push_back({entry.offset + at, std::min(kBlock, bytes - at)});
    }
  }
  std::vector<std::uint64_t> hashes(blocks.size());
  for_each_block(blocks.size(), [&](std::size_t i) {
    hashes[i] = hash_bytes(file.data() + blocks[i].offset, blocks[i].size);
  });
  std::size_t next = 0;
  return std::all_of(table.begin(), table.end(), [&](const SectionEntry& entry) {
    const std::size_t count = (entry.count * entry.element_bytes + kBlock - 1) / kBlock;
    const std::span<const std::uint64_t> own(hashes.data() + next, count);
    next += count;
    return hash_of_blocks(own) == entry.hash;
  });
}

bool read_memory(const Sections& sections, Column<MemoryEvent>& out) {
  MemoryColumns m;
  bool good = true;
  each_memory_column(m, [&](Section id, auto& column) {
    good = good && sections.column(id, column) && column.size() == m.at.size();
  });
  if (!good) return false;
  out.reserve(m.at.size());
  for (std::size_t i = 0; i < m.at.size(); ++i) {
    MemoryEvent e;
    e.at = m.at[i];
    e.bytes = m.bytes[i];
    if ((m.bits[i] & MemoryColumns::kAddr) != 0) e.addr = m.addr[i];
    if ((m.bits[i] & MemoryColumns::kAllocated) != 0) e.total_allocated = m.allocated[i];
    if ((m.bits[i] & MemoryColumns::kReserved) != 0) e.total_reserved = m.reserved[i];
    e.device_type = m.device_type[i];
    e.device_id = m.device_id[i];
    e.lane = m.lane[i];
    e.op = m.op[i];
    e.out_of_memory = (m.bits[i] & MemoryColumns::kOutOfMemory) != 0;
    out.push_back(e);
  }
  return true;
}

// A bool that is neither may not even be looked at.
bool begins_are_bools(const Column<Flow>& flows) {
  const auto* const bytes = reinterpret_cast<const unsigned char*>(flows.data());
  for (std::size_t i = 0; i < flows.size(); ++i) {
    if (bytes[i * sizeof(Flow) + offsetof(Flow, begin)] > 1) return false;
  }
  return true;
}

std::string read_data(const Sections& sections, TraceData& d) {
  bool good = true;
  const auto take = [&](Section id, auto& column) { good = good && sections.column(id, column); };
  each_slice_column(d, take);
  each_other_column(d, take);
  if (!good) return "a section is missing";
  each_slice_column(
      d, [&](Section, const auto& column) { good = good && column.size() == d.start.size(); });
  if (!good) return "columns of different lengths";
  if (!begins_are_bools(d.flows)) return "flows";
  if (!read_memory(sections, d.memory)) return "memory events";
  if (!read_meta(sections.bytes(Section::kMeta), d)) return "meta";
  return fault_of(d);
}

}  // namespace

Opened open_index(const std::filesystem::path& path, const std::string& source, const Key& key) {
  const File file(path);
  if (file.fd() < 0) return {};  // not there, or not to be had: saving one will say why
  struct stat s{};
  if (::fstat(file.fd(), &s) != 0) return {nullptr, std::strerror(errno), false};
  if (std::string fault = owner_fault(s); !fault.empty()) return {nullptr, fault, false};
  std::vector<SectionEntry> table;
  const auto size = static_cast<std::size_t>(s.st_size);
  if (std::string fault = read_table(file.fd(), size, key, table); !fault.empty()) {
    return {nullptr, fault, fault == kOfAnotherProgram || fault == kOfAnotherContent};
  }
  const auto mapping = std::make_shared<const Mapping>(file.fd(), size);
  if (mapping->data() == nullptr) return {nullptr, "cannot be mapped", false};
  if (!hashes_hold(*mapping, table)) return {nullptr, "a wrong hash", false};
  const Sections sections(mapping, table);
  if (sections.bytes(Section::kPath) != source) return {nullptr, "of another file", false};
  TraceData data;
  if (std::string fault = read_data(sections, data); !fault.empty()) {
    return {nullptr, "impossible content: " + fault, false};
  }
  ::futimens(file.fd(), nullptr);  // used now; where that cannot be kept it goes a little earlier
  return {std::make_shared<const libtrace::Trace>(std::move(data)), {}, false};
}

}  // namespace traceglass::index
