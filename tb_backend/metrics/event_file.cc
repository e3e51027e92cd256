#include "tb_backend/metrics/event_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <exception>

namespace traceglass {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 20U;
constexpr std::size_t kThinnable = 1024;  // points of a tag: fewer are not worth touching
// Seconds, 30 000 years: beyond, a time is an accident, and differences of such times overflow.
constexpr double kFarTime = 1e12;

class Descriptor {
 public:
  explicit Descriptor(const std::filesystem::path& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] bool ok() const { return fd_ >= 0; }
  [[nodiscard]] std::uint64_t size() const {
    struct stat s{};
    return ::fstat(fd_, &s) == 0 && s.st_size > 0 ? static_cast<std::uint64_t>(s.st_size) : 0;
  }

  // Bytes read, at most `size`; less only at the end of the file.
  ssize_t read(char* to, std::size_t size, std::uint64_t offset) const {
    std::size_t done = 0;
    while (done < size) {
      const ssize_t n = ::pread(fd_, to + done, size - done, static_cast<off_t>(offset + done));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return -1;
      if (n == 0) break;
      done += static_cast<std::size_t>(n);
    }
    return static_cast<ssize_t>(done);
  }

 private:
  int fd_;
};

// Valid UTF-8 as it is; each byte that is none as \xNN, so that different texts stay different.
std::string readable(std::string_view text) {
  const auto at = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const auto follows = [&](std::size_t i) { return (at(i) & 0xC0U) == 0x80; };
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const unsigned b = at(i);
    std::size_t length = 0;
    if (b < 0x80) {
      length = 1;
    } else if (b >= 0xC2 && b < 0xE0 && follows(i + 1)) {
      length = 2;
    } else if (b >= 0xE0 && b < 0xF0 && follows(i + 1) && follows(i + 2)) {
      const unsigned code = (b & 0x0FU) << 12 | (at(i + 1) & 0x3FU) << 6;
      if (code >= 0x800 && (code < 0xD800 || code >= 0xE000)) length = 3;
    } else if (b >= 0xF0 && b < 0xF5 && follows(i + 1) && follows(i + 2) && follows(i + 3)) {
      const unsigned code = (b & 0x07U) << 18 | (at(i + 1) & 0x3FU) << 12;
      if (code >= 0x10000 && code < 0x110000) length = 4;
    }
    if (length == 0) {
      constexpr const char* kHex = "0123456789abcdef";
      out.append("\\x").append(1, kHex[b >> 4U]).append(1, kHex[b & 15U]);
      length = 1;
    } else {
      out += text.substr(i, length);
    }
    i += length;
  }
  return out;
}

bool is_scalar(const MetricValue& value) {
  if (value.kind != MetricKind::kScalar) return false;
  return !value.tensor || value.plugin.empty() || value.plugin == "scalars";
}

}  // namespace

EventFile::EventFile(std::filesystem::path path, MetricLimits limits)
    : path_(std::move(path)), limits_(limits) {}

bool EventFile::read_on() noexcept {
  try {
    return read_to_end();
  } catch (const std::exception&) {
    // Part of a chunk is taken and its offset is not: only from the start is it read once.
    forget();
    trouble_.starved = true;
  }
  return true;
}

void EventFile::forget() noexcept {
  by_tag_.clear();
  tags_.clear();
  raw_tags_.clear();
  std::vector<std::uint32_t>().swap(next_tag_);
  std::vector<std::int64_t>().swap(restarts_);
  last_tag_ = 0;
  points_ = 0;
  offset_ = 0;
  splitter_ = RecordSplitter();
  trouble_ = Trouble();
  event_ = MetricEvent();
}

bool EventFile::read_to_end() {
  trouble_.error.clear();
  trouble_.starved = false;
  if (trouble_.foreign) return false;
  const Descriptor file(path_);
  if (!file.ok()) {
    trouble_.error = std::strerror(errno);
    return false;
  }
  if (file.size() < offset_) forget();
  const std::uint64_t before = offset_;
  std::vector<char> buffer(kChunk);
  while (true) {
    const ssize_t n = file.read(buffer.data(), buffer.size(), offset_);
    if (n < 0) {
      trouble_.error = std::strerror(errno);
      break;
    }
    const auto size = static_cast<std::size_t>(n);
    const std::size_t used =
        splitter_.split({buffer.data(), size}, [this](std::string_view record) { take(record); });
    offset_ += used;
    trouble_.waiting = size - used;
    if (points_ > limits_.points) thin();
    const RecordCounts& counts = splitter_.counts();
    if (counts.records == 0 && counts.skipped_bytes > limits_.foreign_after) {
      trouble_.foreign = true;
      break;
    }
    if (size < buffer.size()) break;  // the end of the file
    if (splitter_.needed() > buffer.size()) {
      buffer.resize(static_cast<std::size_t>(splitter_.needed()));
    }
  }
  event_ = MetricEvent();  // the widest event's memory
  return offset_ != before;
}

EventFile::Trouble EventFile::trouble() const {
  Trouble out = trouble_;
  out.records = splitter_.counts();
  return out;
}

void EventFile::take(std::string_view record) {
  if (!read_event(record, event_)) {
    ++trouble_.unreadable;
    return;
  }
  if (event_.restart) restarts_.push_back(event_.step);
  trouble_.refused_values += event_.refused;
  for (const MetricValue& value : event_.values) take(value);
}

void EventFile::take(const MetricValue& value) {
  TagPoints* tag = find(value.tag);
  if (tag == nullptr) {
    ++trouble_.refused_tags;
    return;
  }
  const bool first = tag->count == 0 && tag->of_other_kind == 0 && tag->plugin.empty();
  if (first) {
    tag->plugin = readable(value.plugin.substr(0, limits_.tag_bytes));
    tag->kind = is_scalar(value)                    ? MetricKind::kScalar
                : value.kind == MetricKind::kScalar ? MetricKind::kOther
                                                    : value.kind;
  }
  if (tag->kind != MetricKind::kScalar) {
    ++tag->count;
    return;
  }
  if (value.kind != MetricKind::kScalar) {
    ++tag->of_other_kind;
    return;
  }
  if (!(std::abs(event_.wall_time) <= kFarTime)) {
    ++trouble_.timeless;
    return;
  }
  tag->append({event_.step, event_.wall_time, value.value}, restarts_.size());
  ++points_;
}

TagPoints* EventFile::find(std::string_view tag) {
  if (!tags_.empty()) {
    const std::uint32_t guess = next_tag_[last_tag_];
    if (raw_tags_[guess] == tag) {
      last_tag_ = guess;
      return &tags_[guess];
    }
  }
  const auto it = by_tag_.find(tag);
  std::uint32_t found = 0;
  if (it != by_tag_.end()) {
    found = it->second;
  } else {
    if (tags_.size() >= limits_.tags || tag.size() > limits_.tag_bytes) return nullptr;
    found = static_cast<std::uint32_t>(tags_.size());
    by_tag_.emplace(raw_tags_.emplace_back(tag), found);
    tags_.emplace_back().tag = readable(tag);
    next_tag_.push_back(0);
  }
  next_tag_[last_tag_] = found;
  last_tag_ = found;
  return &tags_[found];
}

bool EventFile::thin() {
  std::size_t gone = 0;
  for (TagPoints& tag : tags_) {
    if (tag.points.size() >= kThinnable) gone += tag.thin();
  }
  points_ -= gone;
  trouble_.thinned += gone;
  return gone > 0;
}

}  // namespace traceglass
