#include "tb_backend/metrics/records.h"

#include <algorithm>
#include <cstring>

#include "proto/masked_crc.h"

namespace traceglass {
namespace {

constexpr std::size_t kHead = 12, kFoot = 4;

// Event files are little-endian, as is every machine that this is built for.
template <class T>
T load(std::string_view bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

bool checks(std::string_view data, std::string_view crc) {
  return proto::masked_crc32c(data) == load<std::uint32_t>(crc);
}

}  // namespace

void RecordSplitter::lose(std::size_t bytes, std::size_t& at) {
  if (!lost_) ++counts_.damaged;
  lost_ = true;
  counts_.skipped_bytes += bytes;
  passed_ += bytes;
  at += bytes;
}

bool RecordSplitter::pass_over(std::size_t available, std::size_t& at) {
  const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(to_skip_, available));
  at += n;
  to_skip_ -= n;
  needed_ = 1;
  return to_skip_ == 0;
}

bool RecordSplitter::step(std::string_view bytes, std::size_t& at, std::string_view& data) {
  data = {};
  if (to_skip_ > 0) return pass_over(bytes.size() - at, at);
  const std::string_view rest = bytes.substr(at);
  needed_ = kHead;
  if (rest.size() < kHead) return false;
  const auto length = load<std::uint64_t>(rest);
  // A file can be made of heads that each claim half of it: so much is not checked for damage.
  if (!checks(rest.substr(0, 8), rest.substr(8)) || length >= kAbsurd ||
      (length <= kMaxRecord && !affordable(length))) {
    lose(1, at);
    return true;
  }
  if (length > kMaxRecord) {
    ++counts_.oversized;
    lost_ = false;
    to_skip_ = kHead + length + kFoot;
    return true;
  }
  needed_ = kHead + length + kFoot;
  if (rest.size() < needed_) return false;
  const std::string_view found = rest.substr(kHead, length);
  if (!checks(found, rest.substr(kHead + length))) {
    vain_ += length;
    // Its length may be right and its data damaged, or the rest of it was never written and other
    // records follow within that length: the search starts right behind its head.
    lose(lost_ ? 1 : kHead, at);
    return true;
  }
  lost_ = false;
  ++counts_.records;
  at += needed_;
  passed_ += needed_;
  data = found;
  return true;
}

}  // namespace traceglass
