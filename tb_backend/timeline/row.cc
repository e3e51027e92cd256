#include "tb_backend/timeline/row.h"

#include <limits>
#include <utility>

namespace traceglass {

Row::Row(const libtrace::Trace& trace, std::vector<libtrace::EventId> ids, bool shared)
    : trace_(&trace), ids_(std::move(ids)) {
  ids_.shrink_to_fit();
  if (shared) {
    std::int64_t covered_to = std::numeric_limits<std::int64_t>::min();
    shown_.reserve(ids_.size());
    for (const libtrace::EventId e : ids_) {
      shown_.push_back(std::max(trace.start(e), covered_to));
      covered_to = std::max(shown_.back(), trace.end(e));
    }
  }
  index_ = RowIndex<RowSlices>(slices());
}

std::size_t Row::resident_bytes() const {
  return ids_.capacity() * sizeof(libtrace::EventId) + shown_.capacity() * sizeof(std::int64_t) +
         index_.resident_bytes();
}

}  // namespace traceglass
