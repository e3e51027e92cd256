// What NVTX's texts become: UTF-8, whatever came; and the texts that live as long as the process:
// registered strings, domains, names of categories.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "libtrace/record/nvtx_recorder.h"

namespace libtrace::nvtx {

// UTF-8 of a wide string (UTF-32 on Linux); what is no character becomes U+FFFD.
class Narrow {
 public:
  Narrow() noexcept = default;
  explicit Narrow(const wchar_t* wide) noexcept { assign(wide); }
  Narrow(const Narrow&) = delete;
  Narrow& operator=(const Narrow&) = delete;
  void assign(const wchar_t* wide) noexcept;  // once
  [[nodiscard]] std::string_view view() const noexcept { return {data_, size_}; }

 private:
  char small_[512];
  std::unique_ptr<char[]> large_;
  const char* data_ = small_;
  std::size_t size_ = 0;
};

// A registered string or a domain, as the program holds it. Equal texts are one, so that a program
// that registers without end holds no more than it has texts.
struct Name {
  std::string_view text;
};

// Null when memory is out.
const Name* registered_string(std::string_view text) noexcept;
const Name* domain_of_name(std::string_view text) noexcept;

// `domain` null: the default one.
void name_category(const Name* domain, std::uint32_t category, std::string_view name) noexcept;
// Its name, or "" when it has none. Valid for ever.
std::string_view category_name(const Name* domain, std::uint32_t category) noexcept;

inline Text text_of(std::string_view s) noexcept { return {s.data(), s.size()}; }

}  // namespace libtrace::nvtx
