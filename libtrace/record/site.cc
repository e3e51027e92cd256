#include "libtrace/record/site.h"

#include <deque>
#include <mutex>

#include "libtrace/record/chunk.h"

namespace libtrace::detail {
namespace {

struct Sites {
  std::mutex mutex;
  std::deque<SiteInfo> infos;  // by id - kFirstSite; a deque keeps its elements in place
};
Sites& sites() {
  static Sites& all = *new Sites;  // scopes may begin during exit
  return all;
}

}  // namespace

std::uint32_t register_site(Site& site) noexcept {
  try {
    Sites& all = sites();
    const std::lock_guard lock(all.mutex);
    const std::uint32_t known = site.id.load(std::memory_order_relaxed);
    if (known != 0) return known;
    all.infos.push_back({site.name, site.file, site.function, site.line, site.scope});
    const auto id = static_cast<std::uint32_t>(kFirstSite + all.infos.size() - 1);
    site.id.store(id, std::memory_order_relaxed);
    return id;
  } catch (...) {
    return 0;
  }
}

const SiteInfo& site_info(std::uint32_t id) {
  Sites& all = sites();
  const std::lock_guard lock(all.mutex);
  return all.infos.at(id - kFirstSite);
}

void lock_sites() noexcept { sites().mutex.lock(); }
void unlock_sites() noexcept { sites().mutex.unlock(); }

}  // namespace libtrace::detail
