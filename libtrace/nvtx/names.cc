#include "libtrace/nvtx/names.h"

#include <cwchar>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <shared_mutex>
#include <string>
#include <utility>

namespace libtrace::nvtx {
namespace {

constexpr std::size_t kLongestCharacter = 4;  // bytes of UTF-8
constexpr char32_t kReplacement = 0xFFFD;

char* append(char* at, char32_t c) noexcept {
  const auto put = [&at](char32_t byte) { *at++ = static_cast<char>(byte); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | (c >> 6));
    put(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    put(0xE0 | (c >> 12));
    put(0x80 | ((c >> 6) & 0x3F));
    put(0x80 | (c & 0x3F));
  } else {
    put(0xF0 | (c >> 18));
    put(0x80 | ((c >> 12) & 0x3F));
    put(0x80 | ((c >> 6) & 0x3F));
    put(0x80 | (c & 0x3F));
  }
  return at;
}

struct Names {
  std::shared_mutex mutex;
  std::set<std::string, std::less<>> texts;  // nodes: they stay where they are
  std::map<std::string_view, Name> strings, domains;
  std::map<std::pair<const Name*, std::uint32_t>, std::string_view> categories;

  std::string_view keep(std::string_view text) {
    const auto it = texts.find(text);
    return it != texts.end() ? *it : *texts.emplace(text).first;
  }
};

// Never destroyed: threads may name things while the process exits.
Names& names() {
  static Names* const all = new Names;
  return *all;
}

const Name* name_in(std::map<std::string_view, Name> Names::* kind, std::string_view text) noexcept
    try {
  Names& all = names();
  const std::unique_lock lock(all.mutex);
  auto& of_kind = all.*kind;
  if (const auto it = of_kind.find(text); it != of_kind.end()) return &it->second;
  const std::string_view kept = all.keep(text);
  return &of_kind.emplace(kept, Name{kept}).first->second;
} catch (const std::bad_alloc&) {
  return nullptr;
}

}  // namespace

void Narrow::assign(const wchar_t* wide) noexcept {
  if (wide == nullptr) return;
  const std::size_t length = std::wcslen(wide);
  char* at = small_;
  if (length > sizeof small_ / kLongestCharacter) {
    large_.reset(new (std::nothrow) char[length * kLongestCharacter]);
    if (large_ == nullptr) return;
    at = large_.get();
  }
  data_ = at;
  for (std::size_t i = 0; i < length; ++i) {
    const auto c = static_cast<char32_t>(wide[i]);
    const bool is_character = c <= 0x10FFFF && (c < 0xD800 || c > 0xDFFF);
    at = append(at, is_character ? c : kReplacement);
  }
  size_ = static_cast<std::size_t>(at - data_);
}

const Name* registered_string(std::string_view text) noexcept {
  return name_in(&Names::strings, text);
}

const Name* domain_of_name(std::string_view text) noexcept {
  return name_in(&Names::domains, text);
}

void name_category(const Name* domain, std::uint32_t category, std::string_view name) noexcept try {
  Names& all = names();
  const std::unique_lock lock(all.mutex);
  all.categories[{domain, category}] = all.keep(name);
} catch (const std::bad_alloc&) {
  return;  // its number stands for it
}

std::string_view category_name(const Name* domain, std::uint32_t category) noexcept {
  Names& all = names();
  const std::shared_lock lock(all.mutex);
  const auto it = all.categories.find({domain, category});
  return it != all.categories.end() ? it->second : std::string_view{};
}

}  // namespace libtrace::nvtx
