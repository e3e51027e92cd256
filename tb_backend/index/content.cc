// What a trace file is, without reading it whole.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <vector>

#include "tb_backend/index/cache.h"
#include "tb_backend/index/hash.h"

namespace traceglass::index {
namespace {

constexpr std::size_t kEdge = std::size_t{1} << 20;  // hashed at either end

bool hash_at(int fd, std::size_t at, std::size_t size, std::uint64_t& hash) {
  std::vector<char> bytes(size);
  if (::pread(fd, bytes.data(), size, static_cast<off_t>(at)) != static_cast<ssize_t>(size)) {
    return false;
  }
  hash = hash_bytes(bytes.data(), size);
  return true;
}

}  // namespace

std::optional<Content> content_of(const std::filesystem::path& file) {
  std::error_code failed;
  const std::filesystem::path path = std::filesystem::canonical(file, failed);
  if (failed) return std::nullopt;
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a FIFO must not hang
  if (fd < 0) return std::nullopt;
  Content content;
  content.source = path.string();
  struct stat s{};
  bool good = ::fstat(fd, &s) == 0 && S_ISREG(s.st_mode);
  if (good) {
    content.key.bytes = static_cast<std::uint64_t>(s.st_size);
    content.key.modified_ns = std::int64_t{s.st_mtim.tv_sec} * 1'000'000'000 + s.st_mtim.tv_nsec;
    const std::size_t edge = std::min<std::size_t>(content.key.bytes, kEdge);
    good = hash_at(fd, 0, edge, content.key.head_hash) &&
           hash_at(fd, content.key.bytes - edge, edge, content.key.tail_hash);
  }
  ::close(fd);
  if (!good) return std::nullopt;
  return content;
}

}  // namespace traceglass::index
