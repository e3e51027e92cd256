#include "libtrace/cupti/event_log.h"

#include <utility>

namespace libtrace::cupti {

std::uint32_t EventLog::intern(std::string_view name) {
  if (const auto known = ids_.find(name); known != ids_.end()) return known->second;
  const std::size_t more = 2 * name.size() + 64;
  if (bytes_ >= max_bytes_ || !charge_.cover(bytes_ + more)) return 0;
  const auto id = static_cast<std::uint32_t>(names_.size());
  names_.emplace_back(name);
  ids_.emplace(names_.back(), id);
  bytes_ += more;
  return id;
}

std::size_t EventLog::size() const noexcept {
  return kernels.size() + copies.size() + sets.size() + calls.size() + syncs.size() +
         event_records.size() + overheads.size() + allocations.size() + graphs.size();
}

EventLog EventLog::take() {
  EventLog fresh;
  fresh.device_of_context = device_of_context;
  fresh.call_names = call_names;
  fresh.max_bytes_ = max_bytes_;
  return std::exchange(*this, std::move(fresh));
}

}  // namespace libtrace::cupti
