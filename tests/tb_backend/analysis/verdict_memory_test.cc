// How full the device is and what of it lies in pieces, on a device of 10 GiB, by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tb_backend/analysis/verdicts.h"
#include "tests/tb_backend/analysis/rows.h"

namespace traceglass {
namespace {

using testing::Rows;

constexpr std::int64_t kMiB = std::int64_t{1} << 20, kGiB = 1024 * kMiB;

class Training : public Rows {
 public:
  Training() {
    libtrace::DeviceProperties properties;
    properties.total_memory_bytes = 10 * kGiB;
    b.add_device(properties);
    for (int i = 0; i < 2; ++i) {
      const std::int64_t at = i * 100'000;
      step(i + 1, 1, at, 100'000).op("aten::mm", 1, at, 99'000);
      runtime(1, at + 2'000, 6'000, 11 + i).kernel("gemm", at + 10'000, 90'000, 11 + i);
    }
  }
  Training& total(std::int64_t at, std::int64_t bytes, std::int64_t allocated,
                  std::int64_t reserved) {
    libtrace::MemoryEvent m;
    m.at = at;
    m.bytes = bytes;
    m.device_type = 1;
    m.device_id = 0;
    m.total_allocated = allocated;
    m.total_reserved = reserved;
    b.add_memory(m, b.intern("13721"), b.intern("1"));
    return *this;
  }
};

Verdict memory_verdict(Training& rows) {
  const auto trace = rows.trace();
  const std::vector<Verdict> all = find_verdicts(*trace, Selection::everything(find_steps(*trace)));
  return *std::find_if(all.begin(), all.end(), [](const Verdict& v) { return v.id == "memory"; });
}

// Three allocations of 3 GiB in two steps, one of them freed: 1.5 and 4.5 GiB a step.
TEST(MemoryVerdict, ANearlyFullDeviceFiresThoughNothingIsSlower) {
  Training rows;
  rows.total(10'000, 3 * kGiB, 3 * kGiB + 512 * kMiB, 9 * kGiB);
  rows.total(20'000, 3 * kGiB, 6 * kGiB + 512 * kMiB, 9 * kGiB);
  rows.total(30'000, -3 * kGiB, 3 * kGiB + 512 * kMiB, 9 * kGiB);
  rows.total(120'000, 3 * kGiB, 9 * kGiB + 512 * kMiB, 9 * kGiB + 768 * kMiB);
  const Verdict v = memory_verdict(rows);
  EXPECT_EQ(v.severity, VerdictSeverity::kLow);
  EXPECT_EQ(v.gain_ceiling_ns, 0);
  EXPECT_EQ(v.sentence,
            "The peak is 9.50 GiB, 95.0 % of the 10.0 GiB there are. The device is nearly full.");
  EXPECT_THAT(v.evidence,
              ::testing::ElementsAre(
                  "9.75 GiB are reserved at the most, of which 256 MiB were in no tensor.",
                  "1.5 allocations, 4.50 GiB a step."));
}

TEST(MemoryVerdict, FragmentationAloneFires) {
  Training rows;
  rows.total(10'000, 5 * kGiB, 5 * kGiB, 7 * kGiB);
  const Verdict v = memory_verdict(rows);
  EXPECT_EQ(v.severity, VerdictSeverity::kLow);
  EXPECT_EQ(v.sentence,
            "The peak is 5.00 GiB, 50.0 % of the 10.0 GiB there are. 2.00 GiB are reserved and in "
            "no tensor, 20.0 % of the device.");
  ASSERT_FALSE(v.suggestions.empty());
  EXPECT_EQ(v.suggestions[0].code, "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True");
}

TEST(MemoryVerdict, RoomAndFewPiecesAreFine) {
  Training rows;
  rows.total(10'000, 5 * kGiB, 5 * kGiB, 5 * kGiB + 512 * kMiB);
  const Verdict v = memory_verdict(rows);
  EXPECT_EQ(v.severity, VerdictSeverity::kOk);
  EXPECT_EQ(v.sentence, "The peak is 5.00 GiB, 50.0 % of the 10.0 GiB there are.");
  EXPECT_THAT(v.evidence, ::testing::Contains("0.5 allocations, 2.50 GiB a step."));
}

}  // namespace
}  // namespace traceglass
