#include "handler/file_sink.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <utility>

namespace libtrace {
namespace {

constexpr std::string_view kInfix = ".tmp.";

// A rename is safe only once the folder that holds the name is on the disk.
int sync_folder(const std::filesystem::path& folder) {
  const int fd = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return -1;
  const int result = fsync(fd);
  const int error = errno;
  close(fd);
  errno = error;
  // Some file systems do not let a folder be synced: the rename stands all the same.
  return result != 0 && errno == EINVAL ? 0 : result;
}

std::uint32_t random_number() noexcept {
  std::uint32_t random = 0;
  if (getrandom(&random, sizeof random, GRND_NONBLOCK) < 0) return 0;
  return random;
}

// A file that outgrows the process's limit raises a signal that ends the process, unless it is
// held: then the write fails like any other.
class HeldSignal {
 public:
  explicit HeldSignal(int signal) noexcept {
    sigset_t pending;
    sigemptyset(&set_);
    sigaddset(&set_, signal);
    sigpending(&pending);
    was_pending_ = sigismember(&pending, signal) == 1;
    pthread_sigmask(SIG_BLOCK, &set_, &before_);
  }
  ~HeldSignal() {
    const int error = errno;
    constexpr timespec kNow{};
    if (!was_pending_) sigtimedwait(&set_, nullptr, &kNow);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }
  HeldSignal(const HeldSignal&) = delete;
  HeldSignal& operator=(const HeldSignal&) = delete;

 private:
  sigset_t set_, before_;
  bool was_pending_;
};

}  // namespace

std::string FileSink::temporary_name(const Temporary& t) {
  return "." + t.name + std::string(kInfix) + std::to_string(t.pid) + "." +
         std::to_string(t.random);
}

std::optional<FileSink::Temporary> FileSink::parse_temporary(const std::string& file_name) {
  const std::size_t at = file_name.rfind(kInfix);
  if (at == std::string::npos || at < 2 || file_name.front() != '.') return std::nullopt;
  pid_t pid = 0;
  const char* const end = file_name.data() + file_name.size();
  const auto [dot, error] = std::from_chars(file_name.data() + at + kInfix.size(), end, pid);
  if (error != std::errc() || dot == end || *dot != '.' || pid <= 0) return std::nullopt;
  std::uint32_t random = 0;
  const auto [p, odd] = std::from_chars(dot + 1, end, random);
  if (odd != std::errc() || p != end) return std::nullopt;
  return Temporary{file_name.substr(1, at - 1), pid, random};
}

bool FileSink::is_being_written(const std::filesystem::path& temporary) {
  const int fd = ::open(temporary.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return false;
  const bool locked = flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  close(fd);
  return locked;
}

FileSink::FileSink(std::filesystem::path target)
    : target_(std::move(target)),
      temporary_(target_.parent_path() /
                 temporary_name({target_.filename().string(), getpid(), random_number()})) {}

FileSink::~FileSink() { discard(); }

void FileSink::discard() noexcept {
  if (fd_ < 0) return;
  close(std::exchange(fd_, -1));
  unlink(temporary_.c_str());
}

Status FileSink::fail(const char* what) {
  const int error = errno;
  failed_ = true;
  discard();
  return Status::io_error("Cannot " + std::string(what) + " " + target_.string() + ": " +
                          std::strerror(error));
}

Status FileSink::open() {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
  fd_ = ::open(temporary_.c_str(), kFlags, 0644);
  if (fd_ < 0) return fail("create");
  (void)flock(fd_, LOCK_EX | LOCK_NB);  // see is_being_written(); not every file system has locks
  return {};
}

Status FileSink::write(std::string_view bytes) {
  if (failed_) return Status::io_error("Writing " + target_.string() + " has failed before");
  if (fd_ < 0) {
    if (Status s = open(); !s.ok()) return s;
  }
  const HeldSignal held(SIGXFSZ);
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail("write");
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

Status FileSink::finish() {
  if (Status s = write({}); !s.ok()) return s;  // an empty file is a file
  if (fsync(fd_) != 0) return fail("flush");
  if (rename(temporary_.c_str(), target_.c_str()) != 0) return fail("rename to");
  const int fd = std::exchange(fd_, -1);
  if (close(fd) != 0 || sync_folder(target_.parent_path()) != 0) return fail("flush");
  return {};
}

}  // namespace libtrace
