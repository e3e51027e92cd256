#include "tb_backend/ingest/inflate.h"

#include <fcntl.h>
#include <isa-l/igzip_lib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>

namespace traceglass {
namespace {

constexpr std::size_t kBlock = 1U << 20;
constexpr std::size_t kFileBlock = 256U << 10;
constexpr std::size_t kAhead = 3;  // blocks waiting for the reader

}  // namespace

struct TextStream::Impl {
  std::mutex mutex;  // guards everything down to `failure`
  std::condition_variable changed;
  std::vector<std::vector<char>> ready;
  std::vector<std::vector<char>> spare;
  bool finished = false;
  bool abandoned = false;
  End end = End::kOk;
  std::string failure;

  std::atomic<std::uint64_t>* bytes_read = nullptr;
  int file = -1;
  struct stat opened{};  // as the file was then
  std::vector<unsigned char> in = std::vector<unsigned char>(kFileBlock);
  std::size_t in_size = 0;
  std::thread worker;

  // Reads the next piece of the file into `in`; false at its end or on an error.
  bool fill() {
    for (;;) {
      const ssize_t n = ::read(file, in.data(), in.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) {
        fail(End::kUnreadable, std::strerror(errno));
        n_failed = true;
      }
      in_size = n > 0 ? static_cast<std::size_t>(n) : 0;
      if (bytes_read != nullptr) *bytes_read += in_size;
      return in_size > 0;
    }
  }
  bool n_failed = false;

  void fail(End kind, std::string why) {
    const std::lock_guard lock(mutex);
    end = kind;
    failure = std::move(why);
  }

  // An empty block to fill; waits while the reader is behind. Empty when it has gone.
  bool take_block(std::vector<char>& block) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return abandoned || ready.size() < kAhead; });
    if (abandoned) return false;
    if (!spare.empty()) {
      block = std::move(spare.back());
      spare.pop_back();
    }
    block.resize(kBlock);
    return true;
  }
  void give_block(std::vector<char> block, std::size_t size) {
    if (size == 0) return;
    block.resize(size);
    const std::lock_guard lock(mutex);
    ready.push_back(std::move(block));
    changed.notify_all();
  }

  void run() {
    if (fill()) {
      if (in_size >= 2 && in[0] == 0x1F && in[1] == 0x8B) {
        inflate_members();
      } else {
        copy();
      }
    }
    const std::lock_guard lock(mutex);
    finished = true;
    changed.notify_all();
  }

  void copy() {
    do {
      std::vector<char> block;
      if (!take_block(block)) return;
      std::copy_n(in.begin(), in_size, block.begin());
      give_block(std::move(block), in_size);
    } while (fill());
  }

  void inflate_members() {
    auto state = std::make_unique<inflate_state>();
    start_member(*state);
    state->next_in = in.data();
    state->avail_in = static_cast<std::uint32_t>(in_size);
    for (;;) {
      std::vector<char> block;
      if (!take_block(block)) return;
      state->next_out = reinterpret_cast<unsigned char*>(block.data());
      state->avail_out = static_cast<std::uint32_t>(block.size());
      const bool more = fill_block(*state);
      const std::size_t size = block.size() - state->avail_out;
      give_block(std::move(block), size);
      if (!more) return;
    }
  }

  static void start_member(inflate_state& state) {
    isal_inflate_init(&state);
    state.crc_flag = ISAL_GZIP;
  }

  // Inflates until the block is full; false at the end of the last member or of what is good.
  bool fill_block(inflate_state& s) {
    while (s.avail_out > 0) {
      if (s.block_state == ISAL_BLOCK_FINISH) {
        if (!next_member(s)) return false;
        continue;
      }
      if (s.avail_in == 0 && !refill(s)) {
        // The inflater may still hold text from bits it has read.
        const std::uint32_t before = s.avail_out;
        const bool ok = isal_inflate(&s) == ISAL_DECOMP_OK;
        if (ok && s.block_state == ISAL_BLOCK_FINISH) return true;
        if (ok && s.avail_out < before) continue;
        if (!n_failed) fail(End::kCut, "the compressed data ends in the middle");
        return false;
      }
      const int result = isal_inflate(&s);
      if (result == ISAL_INCORRECT_CHECKSUM) {
        fail(End::kChecksum, "the checksum of the compressed data is wrong");
        s.block_state = ISAL_BLOCK_FINISH;  // all of the member has been given
        continue;
      }
      if (result != ISAL_DECOMP_OK && result != ISAL_END_INPUT) {
        fail(End::kDamaged, "the compressed data is damaged");
        return false;
      }
    }
    return true;
  }

  bool refill(inflate_state& s) {
    if (!fill()) return false;
    s.next_in = in.data();
    s.avail_in = static_cast<std::uint32_t>(in_size);
    return true;
  }

  // Behind a member: zero padding, another member, the end, or bytes that are neither.
  bool next_member(inflate_state& s) {
    while (s.avail_in > 0 || refill(s)) {
      if (*s.next_in != 0) break;
      ++s.next_in;
      --s.avail_in;
    }
    if (s.avail_in == 0) return false;
    if (*s.next_in != 0x1F) {
      fail(End::kBehind, "bytes that are no gzip follow the compressed data");
      return false;
    }
    unsigned char* next_in = s.next_in;
    unsigned char* next_out = s.next_out;
    const std::uint32_t avail_in = s.avail_in, avail_out = s.avail_out;
    start_member(s);
    s.next_in = next_in;
    s.avail_in = avail_in;
    s.next_out = next_out;
    s.avail_out = avail_out;
    return true;
  }
};

TextStream::TextStream(const std::filesystem::path& file, std::atomic<std::uint64_t>* bytes_read)
    : impl_(std::make_unique<Impl>()) {
  impl_->bytes_read = bytes_read;
  impl_->file = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a FIFO must not hang
  if (impl_->file < 0 || ::fstat(impl_->file, &impl_->opened) != 0) {
    impl_->fail(End::kUnreadable, std::strerror(errno));
    impl_->finished = true;
    return;
  }
  if (!S_ISREG(impl_->opened.st_mode)) {
    impl_->fail(End::kUnreadable, "not a regular file");
    impl_->finished = true;
    return;
  }
  impl_->worker = std::thread([this] { impl_->run(); });
}

TextStream::~TextStream() {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->abandoned = true;
    impl_->changed.notify_all();
  }
  if (impl_->worker.joinable()) impl_->worker.join();
  if (impl_->file >= 0) ::close(impl_->file);
}

bool TextStream::read(std::vector<char>& out) {
  std::vector<char> block;
  {
    std::unique_lock lock(impl_->mutex);
    impl_->changed.wait(lock, [&] { return impl_->finished || !impl_->ready.empty(); });
    if (impl_->ready.empty()) return false;
    block = std::move(impl_->ready.front());
    impl_->ready.erase(impl_->ready.begin());
    impl_->changed.notify_all();
  }
  out.insert(out.end(), block.begin(), block.end());
  const std::lock_guard lock(impl_->mutex);
  impl_->spare.push_back(std::move(block));
  return true;
}

TextStream::End TextStream::end() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->end;
}

const std::string& TextStream::error() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->failure;
}

bool TextStream::changed() const {
  const struct stat& then = impl_->opened;
  struct stat now{};
  return impl_->file >= 0 && ::fstat(impl_->file, &now) == 0 &&
         (now.st_size != then.st_size || now.st_mtim.tv_sec != then.st_mtim.tv_sec ||
          now.st_mtim.tv_nsec != then.st_mtim.tv_nsec);
}

}  // namespace traceglass
