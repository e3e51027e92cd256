// A tile out of a row of ten million slices: what one zoom step costs the server. Prints
// `name  value  limit  ok|over` and fails when one is over. The floor is a plain scan of the same
// row in the same run, so that the machine's own speed cancels out.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <random>

#include "tb_backend/timeline/tiles.h"

namespace {

using Clock = std::chrono::steady_clock;
using libtrace::EventId;
constexpr EventId kSlices = 10'000'000;

libtrace::TraceData dense_row() {
  libtrace::TraceData data;
  std::mt19937 random(1);
  std::int64_t at = 0;
  data.string_offset = {0, 0};
  data.start.reserve(kSlices);
  data.dur.reserve(kSlices);
  for (EventId e = 0; e < kSlices; ++e) {
    data.start.push_back(at);
    data.dur.push_back(500 + static_cast<std::int64_t>(random() % 3000));
    at += data.dur.back() + static_cast<std::int64_t>(random() % 400);
  }
  data.name.resize(kSlices);
  data.flags.resize(kSlices);
  data.kind.resize(kSlices, libtrace::Kind::kKernel);
  data.range = {0, at};
  return data;
}

template <class Work>
double best_ms(int times, Work work) {
  double best = 1e9;
  for (int i = 0; i < times; ++i) {
    const auto begin = Clock::now();
    work();
    best = std::min(best, std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
  }
  return best;
}

bool report(const char* name, double value, double limit) {
  std::printf("%s  %.2f  %.2f  %s\n", name, value, limit, value <= limit ? "ok" : "over");
  return value <= limit;
}

}  // namespace

int main() {
  const libtrace::Trace trace(dense_row());
  std::vector<EventId> ids(kSlices);
  for (EventId e = 0; e < kSlices; ++e) ids[e] = e;
  std::unique_ptr<traceglass::Row> row;
  const double build =
      best_ms(1, [&] { row = std::make_unique<traceglass::Row>(trace, ids, false); });
  const std::vector<bool> linked(kSlices);

  int k = 0;
  while ((traceglass::kBuckets << k) * 2 < trace.range().length()) ++k;  // two tiles hold all
  std::vector<traceglass::TileSlice> out;
  const double query = best_ms(20, [&] {
    out.clear();
    for (const int i : {0, 1}) {
      fold_row(trace, *row, 0, *traceglass::TileWindow::of(0, k, i), linked, out);
    }
  });
  std::int64_t covered = 0;
  for (const auto& slice : out) covered += slice.covered_ns;

  std::int64_t scanned = 0;
  const double scan = best_ms(5, [&] {
    scanned = 0;
    std::int64_t longest = 0;
    for (EventId e = 0; e < kSlices; ++e) {
      scanned += trace.dur(e);
      longest = std::max(longest, trace.dur(e));
    }
    scanned += longest < 0 ? 1 : 0;
  });
  if (covered != scanned) {
    std::printf("tile_time_conserved  0  1  over\n");
    return 1;
  }
  bool ok = report("tile_2048_buckets_of_10M_ms", query, 1.8);
  ok = report("tile_to_scan_ratio", query / scan, 0.25) && ok;
  ok = report("row_index_build_ms", build, 200) && ok;
  return ok ? 0 : 1;
}
