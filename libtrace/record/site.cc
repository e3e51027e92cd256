// Sites live in pages that are mapped as needed and never given back; what two threads, or a thread
// and its signal handler, do at the same time costs the loser a few bytes.
#include "libtrace/record/site.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <new>
#include <stdexcept>

#include "libtrace/record/chunk.h"

namespace libtrace::detail {
namespace {

constexpr std::size_t kRegion = 64 << 10;

struct alignas(16) Region {
  std::atomic<std::size_t> used;
  std::size_t size;
};
constinit std::atomic<Region*> newest_region{nullptr};

// By id - kFirstSite, a page of them at a time.
constexpr std::size_t kPage = 1024, kPages = 1024;
using Page = std::array<std::atomic<const SiteInfo*>, kPage>;
constinit std::array<std::atomic<Page*>, kPages> pages{};
constinit std::atomic<std::uint32_t> sites{0};

void* map(std::size_t bytes) noexcept {
  const int kept = errno;
  void* const p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  errno = kept;
  return p == MAP_FAILED ? nullptr : p;
}

// Zeroed, and never given back.
char* allocate(std::size_t bytes) noexcept {
  bytes = (bytes + 15) / 16 * 16;
  if (bytes > kRegion / 4) return static_cast<char*>(map(bytes));
  for (;;) {
    Region* const region = newest_region.load(std::memory_order_acquire);
    if (region != nullptr) {
      const std::size_t at = region->used.fetch_add(bytes, std::memory_order_relaxed);
      if (at + bytes <= region->size) return reinterpret_cast<char*>(region) + at;
    }
    void* const memory = map(kRegion);
    if (memory == nullptr) return nullptr;
    auto* const fresh = new (memory) Region{sizeof(Region), kRegion};
    Region* expected = region;
    if (!newest_region.compare_exchange_strong(expected, fresh, std::memory_order_acq_rel)) {
      munmap(memory, kRegion);
    }
  }
}

std::atomic<const SiteInfo*>* slot_of(std::uint32_t index) noexcept {
  if (index / kPage >= kPages) return nullptr;
  std::atomic<Page*>& page = pages[index / kPage];
  Page* known = page.load(std::memory_order_acquire);
  if (known == nullptr) {
    char* const memory = allocate(sizeof(Page));
    if (memory == nullptr) return nullptr;
    auto* const fresh = new (memory) Page{};
    if (page.compare_exchange_strong(known, fresh, std::memory_order_acq_rel)) known = fresh;
  }
  return &(*known)[index % kPage];
}

std::string_view text(const char* s) noexcept { return s != nullptr ? s : std::string_view(); }

std::string_view copy(std::string_view from, char*& to) noexcept {
  if (from.empty()) return {};
  const std::string_view copied(static_cast<const char*>(std::memcpy(to, from.data(), from.size())),
                                from.size());
  to += from.size();
  return copied;
}

}  // namespace

std::uint32_t register_site(Site& site) noexcept {
  const std::string_view name = text(site.name), file = text(site.file);
  const std::string_view function = text(site.function);
  char* const memory = allocate(sizeof(SiteInfo) + name.size() + file.size() + function.size());
  if (memory == nullptr) return 0;
  char* texts = memory + sizeof(SiteInfo);
  auto* const info = new (memory) SiteInfo;
  info->name = copy(name, texts);
  info->file = copy(file, texts);
  info->function = copy(function, texts);
  info->line = site.line;
  info->scope = site.scope;

  // Beyond the table the count stays where it is: those sites are dropped, and the ids never wrap.
  std::uint32_t index = sites.load(std::memory_order_relaxed);
  do {
    if (index >= kPage * kPages) return 0;
  } while (!sites.compare_exchange_weak(index, index + 1, std::memory_order_relaxed));
  std::atomic<const SiteInfo*>* const slot = slot_of(index);
  if (slot == nullptr) return 0;
  slot->store(info, std::memory_order_release);
  const std::uint32_t id = kFirstSite + index;
  std::uint32_t known = 0;  // another was first?
  return site.id.compare_exchange_strong(known, id, std::memory_order_acq_rel) ? id : known;
}

const SiteInfo& site_info(std::uint32_t id) {
  const std::atomic<const SiteInfo*>* const slot =
      id >= kFirstSite ? slot_of(id - kFirstSite) : nullptr;
  const SiteInfo* const info = slot != nullptr ? slot->load(std::memory_order_acquire) : nullptr;
  if (info == nullptr) throw std::out_of_range("No such site");
  return *info;
}

}  // namespace libtrace::detail
