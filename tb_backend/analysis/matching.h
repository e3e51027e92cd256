// Which kernels of several ranks are one collective: (group, sequence number), else (group, name,
// order); a send and its receive by (group, both ranks, order).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace traceglass {

struct MatchKey {
  std::uint32_t group = 0, name = 0;  // of CollectiveMatcher::text
  std::optional<std::int64_t> seq;
  int from = -1, to = -1;  // ranks of a send and its receive; -1: not one, or not known
};

// Gives equal collectives one number, 0, 1, … in the order in which they are first seen. Rank after
// rank, each rank's kernels by start. O(1) a kernel.
class CollectiveMatcher {
 public:
  // A number for a text, the same on every rank; 0 is "".
  std::uint32_t text(std::string_view text);
  void next_rank() { ++rank_; }
  std::uint32_t add(const MatchKey& key);
  [[nodiscard]] std::uint32_t count() const { return count_; }

 private:
  struct Base {
    std::uint32_t group, name;
    bool has_seq;
    std::int64_t seq;
    int from, to;
    bool operator==(const Base&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Base& b) const;
  };
  struct Series {  // collectives of one key, in order
    std::vector<std::uint32_t> ids;
    std::size_t seen = 0;  // of them on the rank `rank`
    int rank = 0;
  };

  std::map<std::string, std::uint32_t, std::less<>> texts_{{"", 0}};
  std::unordered_map<Base, Series, Hash> series_;
  std::uint32_t count_ = 0;
  int rank_ = 0;
};

}  // namespace traceglass
