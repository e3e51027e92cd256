// Everything the trace view asks of one trace: groups with their rows, arrows and counters.
// Immutable once made, shared by all requests; holds its Trace.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libtrace/trace.h"
#include "tb_backend/timeline/counters.h"
#include "tb_backend/timeline/layout.h"
#include "tb_backend/timeline/links.h"
#include "tb_backend/timeline/row.h"
#include "tb_backend/timeline/tiles.h"

namespace traceglass {

struct Group {
  std::uint32_t id = 0;
  libtrace::LaneId lane = 0;
  GroupType type = GroupType::kOther;
  std::string section, section_label, label, sublabel;
  std::vector<Row> rows;
  std::size_t step_rows = 0;  // at the top, with nothing but steps, which the page shows elsewhere
  std::size_t events = 0;
};

struct Place {
  std::uint32_t group = 0;
  std::uint16_t row = 0;
};

class Timeline {
 public:
  explicit Timeline(libtrace::TracePtr trace);

  [[nodiscard]] const libtrace::Trace& trace() const { return *trace_; }
  [[nodiscard]] std::span<const Group> groups() const { return groups_; }
  [[nodiscard]] Place place(libtrace::EventId e) const;
  [[nodiscard]] const Links& links() const { return links_; }
  // Made when they are first asked for: a timeline is drawn without them.
  [[nodiscard]] const std::vector<CounterTrack>& counters() const;

  // Slices of tile i at zoom k of a group, by (row, start); `group` must exist.
  [[nodiscard]] std::vector<TileSlice> tile(std::uint32_t group, int k, std::int64_t i) const;

  // The slice before or after `e` in its row; kNone at the ends.
  [[nodiscard]] libtrace::EventId beside(libtrace::EventId e, bool next) const;

  [[nodiscard]] std::size_t resident_bytes() const;

 private:
  libtrace::TracePtr trace_;
  std::vector<Group> groups_;
  std::vector<std::uint16_t> row_of_;
  std::vector<std::uint32_t> group_of_;  // by lane · kPartCount + part
  Links links_;
  mutable std::once_flag counters_made_;
  mutable std::vector<CounterTrack> counters_;
};

}  // namespace traceglass
