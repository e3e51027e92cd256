// Step lines of the trace view: launched-but-not-finished work and memory per device, and the
// counters a file brings. Each is a list of (time, value from then on); a query folds it into
// buckets with minimum, maximum and last.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "libtrace/trace.h"

namespace traceglass {

struct CounterTrack {
  std::string id;  // "queue:<device>", "allocated:<type>:<id>", or the counter's name
  std::string section, label, unit;
  std::vector<std::int64_t> at;  // ascends strictly
  std::vector<double> value;
};

struct CounterBuckets {
  std::vector<std::int64_t> at;  // start of each bucket in which the line exists
  std::vector<double> min, max, last;
};

std::vector<CounterTrack> counter_tracks(const libtrace::Trace& trace);

// At most n equal buckets of [t0, t1). A bucket's first value is the one it starts with, so the
// extremes are those of the line, not only of its corners. Buckets in which nothing changes are
// left out, but for the first.
CounterBuckets fold_counter(const CounterTrack& track, std::int64_t t0, std::int64_t t1, int n);

}  // namespace traceglass
