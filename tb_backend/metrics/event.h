// One record of an event file as far as curves need it: when, which step, which values.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace traceglass {

enum class MetricKind : std::uint8_t { kScalar, kHistogram, kImage, kAudio, kOther };

// Of one event; a record of 64 MiB could hold millions, each far larger here than there.
inline constexpr std::size_t kMostValues = 100'000;

// Texts lie in the record.
struct MetricValue {
  std::string_view tag;
  std::string_view plugin;  // of its metadata, which most writers give once per tag and file
  MetricKind kind = MetricKind::kOther;
  bool tensor = false;  // a single number in a tensor: a scalar unless the tag's plugin is another
  double value = 0;     // of a scalar
};

struct MetricEvent {
  double wall_time = 0;  // seconds since 1970
  std::int64_t step = 0;
  bool restart = false;  // a session begins at `step`: what came before it from there on is void
  std::vector<MetricValue> values;
  std::uint64_t refused = 0;  // values beyond kMostValues
};

// Reuses `event`'s memory. False: not an Event.
bool read_event(std::string_view record, MetricEvent& event);

}  // namespace traceglass
