// One row of a group: its slices in time order, never overlapping, with their index.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "libtrace/trace.h"
#include "tb_backend/timeline/row_index.h"

namespace traceglass {

class RowSlices {
 public:
  RowSlices() = default;
  RowSlices(const libtrace::Trace& trace, const libtrace::EventId* ids, std::size_t size,
            const std::int64_t* shown)
      : trace_(&trace), ids_(ids), shown_(shown), size_(size) {}

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] libtrace::EventId id(std::size_t i) const { return ids_[i]; }
  [[nodiscard]] std::int64_t start(std::size_t i) const {
    return shown_ != nullptr ? shown_[i] : trace_->start(ids_[i]);
  }
  // A negative duration is drawn as an instant at its start.
  [[nodiscard]] std::int64_t end(std::size_t i) const {
    return std::max(start(i), trace_->end(ids_[i]));
  }

 private:
  const libtrace::Trace* trace_ = nullptr;
  const libtrace::EventId* ids_ = nullptr;
  const std::int64_t* shown_ = nullptr;
  std::size_t size_ = 0;
};

class Row {
 public:
  // `shared`: slices may overlap (the last row of a group that has more depth than rows). Each is
  // then shown from where the ones before it have ended, so that covered time stays exact.
  Row(const libtrace::Trace& trace, std::vector<libtrace::EventId> ids, bool shared);

  [[nodiscard]] RowSlices slices() const {
    return {*trace_, ids_.data(), ids_.size(), shown_.empty() ? nullptr : shown_.data()};
  }
  [[nodiscard]] const RowIndex<RowSlices>& index() const { return index_; }
  [[nodiscard]] const std::vector<libtrace::EventId>& ids() const { return ids_; }
  [[nodiscard]] bool shared() const { return !shown_.empty(); }
  [[nodiscard]] std::size_t resident_bytes() const;

 private:
  const libtrace::Trace* trace_;
  std::vector<libtrace::EventId> ids_;
  std::vector<std::int64_t> shown_;  // starts; empty unless shared
  RowIndex<RowSlices> index_;
};

}  // namespace traceglass
