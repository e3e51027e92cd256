#include "tb_backend/api/try_limit.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

namespace traceglass {

// An IPv6 customer has 2^64 addresses of their own: these count as one.
std::string TryLimit::network(const std::string& address) {
  std::array<unsigned char, 16> bytes{};
  if (inet_pton(AF_INET6, address.c_str(), bytes.data()) != 1) return address;
  return {reinterpret_cast<const char*>(bytes.data()), 8};
}

double TryLimit::left(const Left& known, std::chrono::steady_clock::time_point now) const {
  const double seconds = std::chrono::duration<double>(now - known.at).count();
  return std::min(kAtOnce, known.tries + seconds * kPerSecond);
}

bool TryLimit::allows(const std::string& address) {
  const std::lock_guard lock(mutex_);
  const auto it = known_.find(network(address));
  return it == known_.end() || left(it->second, clock_()) >= 1;
}

void TryLimit::failed(const std::string& address) {
  const std::lock_guard lock(mutex_);
  const auto now = clock_();
  const std::string key = network(address);
  if (known_.size() >= kMostAddresses && !known_.contains(key)) {
    std::erase_if(known_, [&](const auto& one) { return left(one.second, now) >= kAtOnce; });
    if (known_.size() >= kMostAddresses) {  // the one that has been quiet for longest
      known_.erase(std::min_element(known_.begin(), known_.end(), [](const auto& a, const auto& b) {
        return a.second.at < b.second.at;
      }));
    }
  }
  const auto it = known_.find(key);
  const double before = it == known_.end() ? kAtOnce : left(it->second, now);
  known_[key] = {std::max(0.0, before - 1), now};
}

std::size_t TryLimit::addresses() {
  const std::lock_guard lock(mutex_);
  return known_.size();
}

}  // namespace traceglass
