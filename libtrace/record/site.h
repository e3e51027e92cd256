// Ids of the places in the source that record, and what is known of each.
#pragma once

#include <cstdint>
#include <string>

#include "libtrace/record_function.h"

namespace libtrace::detail {

struct SiteInfo {
  std::string name, file, function;
  std::uint32_t line = 0;
  RecordScope scope = RecordScope::kUserScope;
};

// The site's id, given now if this is its first use. Copies its texts. 0: no memory.
std::uint32_t register_site(Site& site) noexcept;
// An id that register_site gave. The reference stays valid.
const SiteInfo& site_info(std::uint32_t id);

void lock_sites() noexcept;  // around fork()
void unlock_sites() noexcept;

}  // namespace libtrace::detail
