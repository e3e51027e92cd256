// Slows down who guesses tokens: so many wrong ones at once from an address, then one every other
// second. Memory is bounded whatever the number of addresses. Thread-safe.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <string>

namespace traceglass {

class TryLimit {
 public:
  using Clock = std::function<std::chrono::steady_clock::time_point()>;
  static constexpr double kAtOnce = 10, kPerSecond = 0.5;
  static constexpr std::size_t kMostAddresses = 4096;

  explicit TryLimit(Clock clock = &std::chrono::steady_clock::now) : clock_(std::move(clock)) {}

  // Whether a token from there is looked at now.
  bool allows(const std::string& address);
  void failed(const std::string& address);

  [[nodiscard]] std::size_t addresses();

 private:
  struct Left {
    double tries = kAtOnce;
    std::chrono::steady_clock::time_point at;
  };
  static std::string network(const std::string& address);
  double left(const Left& known, std::chrono::steady_clock::time_point now) const;

  const Clock clock_;
  std::mutex mutex_;
  std::map<std::string, Left> known_;  // of those that failed lately
};

}  // namespace traceglass
