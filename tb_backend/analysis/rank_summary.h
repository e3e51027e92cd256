// What the view over all ranks needs of one rank: small, so that it is kept when the trace is not.
// About 80 bytes a collective.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libtrace/trace.h"
#include "tb_backend/analysis/bandwidth.h"
#include "tb_backend/analysis/collectives.h"
#include "tb_backend/analysis/contents.h"

namespace traceglass {

// Times are of the trace's own clock.
struct RankStep {
  std::int64_t index = 0;  // N of ProfilerStep#N
  bool synthetic = false, incomplete = false;
  std::int64_t host_start_ns = 0;
  std::int64_t start_ns = 0, length_ns = 0;  // extended
  // The four sum to the length. Computation: kernels that are no communication (without a device:
  // operators), where no collective runs; overlap: where both do.
  std::int64_t computation_ns = 0, overlap_ns = 0, exposed_ns = 0, other_ns = 0;
  std::int64_t dataloader_ns = 0;  // host; part of any of the four
  // Between its first and last send or receive: time without computation, other collectives aside.
  std::optional<std::int64_t> bubble_ns;
};

struct RankCollective {
  static constexpr std::int64_t kNoSeq = std::numeric_limits<std::int64_t>::min();

  std::uint32_t group = 0, name = 0;  // texts: what it is matched by
  std::uint32_t dtype = 0;            // text, "" unknown
  CollectiveOp op = CollectiveOp::kOther;
  std::int32_t group_size = 0;      // 0: unknown
  std::int32_t from = -1, to = -1;  // ranks of a send or receive; -1: unknown
  libtrace::EventId event = 0;
  std::int64_t seq = kNoSeq;
  std::int64_t start_ns = 0, dur_ns = 0;
  std::int64_t elements = -1, bytes = -1;  // -1: unknown
};

struct RankSummary {
  std::optional<int> rank, world_size;
  bool rank_guessed = false;
  std::optional<std::int64_t> base_unix_ns;
  std::int64_t range_start_ns = 0;  // of the trace: what places on the page count from
  std::vector<std::string> texts{""};
  std::vector<RankStep> steps;              // by start
  std::vector<RankCollective> collectives;  // by start
  bool on_host = false;                     // of the host: the trace has no device kernel of them
  bool has_device_work = false;
  std::size_t events = 0;
  Trust trust;

  [[nodiscard]] std::size_t resident_bytes() const;
};

// O(events · log).
RankSummary summarize_rank(const libtrace::Trace& trace);

// The collectives of the device, as the summary document matches them.
std::vector<CollectiveKernel> collective_kernels(const RankSummary& rank);

}  // namespace traceglass
