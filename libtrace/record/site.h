// Ids of the places in the source that record, and what is known of each.
#pragma once

#include <cstdint>
#include <string_view>

#include "libtrace/record_function.h"

namespace libtrace::detail {

struct SiteInfo {
  std::string_view name, file, function;
  std::uint32_t line = 0;
  RecordScope scope = RecordScope::kUserScope;
};

// The site's id, given now if this is its first use. Copies its texts. Without a lock and without
// malloc: a signal handler may come upon its first scope at any instruction. 0: no memory.
std::uint32_t register_site(Site& site) noexcept;
// An id that register_site gave. Stays valid.
const SiteInfo& site_info(std::uint32_t id);

}  // namespace libtrace::detail
