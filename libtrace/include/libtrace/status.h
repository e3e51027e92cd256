// Outcome of an operation that talks to the outside (files, devices) on the record side, where no
// exception may cross into the host program. Programmer errors throw instead.
#pragma once

#include <string>
#include <utility>

namespace libtrace {

enum class StatusCode : unsigned char { kOk, kInvalidArgument, kIoError, kTimeout };

class [[nodiscard]] Status {
 public:
  Status() = default;  // ok
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}
  static Status io_error(std::string message) { return {StatusCode::kIoError, std::move(message)}; }
  static Status invalid_argument(std::string message) {
    return {StatusCode::kInvalidArgument, std::move(message)};
  }

  [[nodiscard]] bool ok() const noexcept { return code_ == StatusCode::kOk; }
  explicit operator bool() const noexcept { return ok(); }
  [[nodiscard]] StatusCode code() const noexcept { return code_; }
  [[nodiscard]] const std::string& message() const noexcept { return message_; }

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

}  // namespace libtrace
