// Small fields as bytes: numbers of 8 bytes, texts behind their length. A reader never goes beyond
// its end; what it was asked for there reads as 0 or "", and ok() says so.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace traceglass::index {

class FieldWriter {
 public:
  void number(std::int64_t n) { bytes_.append(reinterpret_cast<const char*>(&n), sizeof n); }
  void text(std::string_view text) {
    number(static_cast<std::int64_t>(text.size()));
    bytes_ += text;
  }
  template <typename T>
  void optional(const std::optional<T>& value) {
    number(value.has_value() ? 1 : 0);
    if (value) number(static_cast<std::int64_t>(*value));
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

class FieldReader {
 public:
  explicit FieldReader(std::string_view bytes) : rest_(bytes) {}

  std::int64_t number() {
    std::int64_t n = 0;
    if (rest_.size() < sizeof n) return fail(), 0;
    std::memcpy(&n, rest_.data(), sizeof n);
    rest_.remove_prefix(sizeof n);
    return n;
  }
  // A number in [least, most], else a failure.
  std::int64_t number(std::int64_t least, std::int64_t most) {
    const std::int64_t n = number();
    if (n < least || n > most) return fail(), least;
    return n;
  }
  // How many things follow, of at least `bytes` each.
  std::size_t count(std::size_t bytes) {
    const std::int64_t n = number();
    if (n < 0 || static_cast<std::uint64_t>(n) > rest_.size() / bytes) return fail(), 0;
    return static_cast<std::size_t>(n);
  }
  std::string text() {
    const std::size_t size = count(1);
    const std::string text(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return text;
  }
  template <typename T>
  std::optional<T> optional(std::int64_t least = INT64_MIN, std::int64_t most = INT64_MAX) {
    if (number(0, 1) == 0) return std::nullopt;
    return static_cast<T>(number(least, most));
  }
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool at_end() const { return rest_.empty(); }

 private:
  void fail() {
    ok_ = false;
    rest_ = {};
  }
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace traceglass::index
