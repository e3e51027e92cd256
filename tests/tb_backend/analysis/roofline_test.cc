// Speed against roofs, worked out by hand, and the table of devices.
#include "tb_backend/analysis/roofline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "tests/libtrace/model/generate.h"
#include "tests/tb_backend/analysis/rows.h"

namespace traceglass {
namespace {

using testing::Rows;
using testing::Value;

Roofline roofline(const libtrace::Trace& t, RooflineGroup group = RooflineGroup::kOperator) {
  return find_roofline(t, Selection::everything(find_steps(t)), group);
}

void inputs(Rows& r, std::string_view dims, std::string_view types) {
  r.arg("Input Dims", Value::json(dims)).arg("Input type", Value::json(types));
}

void device(Rows& r, std::string_view name) {
  libtrace::DeviceProperties properties;
  properties.name = name;
  r.b.add_device(properties);
}

// 1000³ in half precision: 2 GFLOP, 6 MB. Against 125 TFLOP/s and 900 GB/s that is bound by
// operations, at best in 16 µs.
Rows product(std::int64_t kernel_ns, std::string_view kernel = "gemm") {
  Rows r;
  device(r, "Tesla V100-SXM2-32GB");
  inputs(r, "[[1000,1000],[1000,1000]]", R"(["c10::Half","c10::Half"])");
  r.op("aten::mm", 1, 0, 100).runtime(1, 10, 5, 1).kernel(kernel, 1000, kernel_ns, 1);
  return r;
}

TEST(Roofline, OfAProduct) {
  Rows r = product(32'000);
  const auto trace = r.trace();
  for (const auto group : {RooflineGroup::kOperator, RooflineGroup::kKernel}) {
    const Roofline roof = roofline(*trace, group);
    ASSERT_TRUE(roof.peaks);
    EXPECT_EQ(roof.peaks->model, "NVIDIA V100 SXM2");
    ASSERT_EQ(roof.rows.size(), 1U);
    const RooflineRow& row = roof.rows[0];
    EXPECT_EQ(row.name, group == RooflineGroup::kOperator ? "aten::mm" : "gemm");
    EXPECT_EQ(row.ns, 32'000);
    EXPECT_DOUBLE_EQ(*row.flops_per_s, 62.5e12);
    EXPECT_DOUBLE_EQ(*row.flops_per_byte, 2e9 / 6e6);
    EXPECT_NEAR(*row.roof_pct, 50, 1e-9);
    EXPECT_EQ(row.bound, Bound::kCompute);
    EXPECT_EQ(roof.total_ns, 32'000);
    EXPECT_EQ(roof.roofed_ns, 32'000);
    EXPECT_EQ(roof.far_below_ns, 0);
  }
}

TEST(Roofline, FarBelowIsBoundByNeither) {
  Rows r = product(160'000);
  const auto trace = r.trace();
  const Roofline roof = roofline(*trace);
  EXPECT_NEAR(*roof.rows[0].roof_pct, 10, 1e-9);
  EXPECT_EQ(roof.rows[0].bound, Bound::kNeither);
  EXPECT_EQ(roof.far_below_ns, 160'000);
}

TEST(Roofline, OfBytes) {
  Rows r;
  device(r, "NVIDIA A100-SXM4-40GB");
  inputs(r, "[[1000000]]", R"(["float"])");
  r.op("aten::relu", 1, 0, 100).runtime(1, 10, 5, 1).kernel("k", 1000, 8'000, 1);
  inputs(r, "[[1000000],[1000000],[]]", R"(["float","float","Scalar"])");
  r.op("aten::add", 1, 200, 100).runtime(1, 210, 5, 2).kernel("k2", 10'000, 12'000, 2);
  const auto trace = r.trace();
  const Roofline roof = roofline(*trace);
  ASSERT_EQ(roof.rows.size(), 2U);
  for (const RooflineRow& row : roof.rows) {  // 8 MB in 8 µs, 12 MB in 12 µs
    EXPECT_DOUBLE_EQ(*row.bytes_per_s, 1e12) << row.name;
    EXPECT_NEAR(*row.roof_pct, 100 * 1e12 / 1555e9, 1e-9) << row.name;
    EXPECT_EQ(row.bound, Bound::kMemory);
  }
  EXPECT_TRUE(roof.rows[0].flops);
  EXPECT_FALSE(roof.rows[1].flops);
}

TEST(Roofline, WorkOfNestedOperatorsIsCountedOnceAndAllItsKernelsWithIt) {
  Rows r;
  device(r, "Tesla T4");
  inputs(r, "[[8,16],[4,16],[4]]", R"(["float","float","float"])");
  r.op("aten::linear", 1, 0, 100);
  inputs(r, "[[4],[8,16],[16,4]]", R"(["float","float","float"])");
  r.op("aten::addmm", 1, 10, 60).runtime(1, 12, 2, 1).runtime(1, 20, 2, 2);
  r.op("aten::splitk", 1, 30, 20).runtime(1, 32, 2, 3);
  r.kernel("a", 1000, 10, 1).kernel("b", 1020, 20, 2).kernel("c", 1040, 30, 3);
  r.kernel("stray", 2000, 40);
  const auto trace = r.trace();
  const Roofline roof = roofline(*trace);
  ASSERT_EQ(roof.rows.size(), 1U);
  EXPECT_EQ(roof.rows[0].name, "aten::addmm");
  EXPECT_EQ(roof.rows[0].ns, 60);
  EXPECT_EQ(roof.known_ns, 60);
  EXPECT_EQ(roof.total_ns, 100);
  EXPECT_TRUE(roofline(*trace, RooflineGroup::kKernel).rows.empty());  // three shared the work
}

TEST(Roofline, CallsWithOneSetOfShapesAreOneRow) {
  Rows r;
  device(r, "Tesla T4");
  std::int64_t at = 0;
  for (const std::string_view dims : {"[[10]]", "[ [10] ]", "[[20]]"}) {
    inputs(r, dims, at == 0 ? R"(["float"])" : R"(["c10::Half"])");
    r.op("aten::relu", 1, at, 100).runtime(1, at + 10, 5, at + 1).kernel("k", at, 50, at + 1);
    at += 200;
  }
  const auto trace = r.trace();
  const Roofline roof = roofline(*trace);
  ASSERT_EQ(roof.rows.size(), 2U);
  EXPECT_EQ(roof.rows[0].input_shapes, "[[10]]");
  EXPECT_EQ(roof.rows[0].calls, 2);
  EXPECT_EQ(roof.rows[0].bytes, 80 + 40);
}

TEST(Roofline, CopiesOverTheBusHaveNoRoof) {
  Rows r;
  device(r, "Tesla T4");
  for (const std::string_view name : {"Memcpy HtoD (Pageable -> Device)", "Memcpy DtoD"}) {
    const std::int64_t at = name.find("DtoD") == std::string_view::npos ? 0 : 200;
    inputs(r, "[[100],[100],[]]", R"(["float","float","Scalar"])");
    r.op("aten::copy_", 1, at, 100).runtime(1, at + 10, 5, at + 1);
    r.device("gpu_memcpy", name, 1000 + at, 50 + at, at + 1);
  }
  const auto trace = r.trace();
  const Roofline roof = roofline(*trace);
  EXPECT_EQ(roof.total_ns, 300);
  EXPECT_EQ(roof.known_ns, 250);
}

TEST(Roofline, Tf32ShowsInTheKernelsName) {
  Rows r;
  device(r, "NVIDIA H100 80GB HBM3");
  inputs(r, "[[8,16],[16,4]]", R"(["float","float"])");
  r.op("aten::mm", 1, 0, 100).runtime(1, 10, 5, 1);
  r.kernel("ampere_tf32_s1688gemm_128x128", 1000, 100, 1);
  const auto trace = r.trace();
  EXPECT_EQ(roofline(*trace).rows[0].precision, Precision::kTf32);
}

TEST(Roofline, AnUnknownDeviceHasNoRoof) {
  Rows r = product(32'000);
  device(r, "Tesla V100-SXM2-32GB");
  Rows other;
  device(other, "Frobnicator 9000");
  inputs(other, "[[8,16],[16,4]]", R"(["float","float"])");
  other.op("aten::mm", 1, 0, 100).runtime(1, 10, 5, 1).kernel("k", 1000, 100, 1);
  const auto trace = other.trace();
  const Roofline roof = roofline(*trace);
  EXPECT_EQ(roof.device, "Frobnicator 9000");
  EXPECT_FALSE(roof.peaks);
  ASSERT_EQ(roof.rows.size(), 1U);
  EXPECT_TRUE(roof.rows[0].flops_per_s);
  EXPECT_FALSE(roof.rows[0].roof_pct);
  EXPECT_EQ(roof.rows[0].bound, Bound::kUnknown);
  EXPECT_EQ(roof.roofed_ns, 0);
}

TEST(Roofline, WithoutADeviceTimesAreTheHosts) {
  Rows r;
  inputs(r, "[[100,100],[100,100]]", R"(["float","float"])");
  r.op("aten::mm", 1, 0, 2000);
  const auto trace = r.trace();
  const Roofline roof = roofline(*trace);
  EXPECT_TRUE(roof.host_time);
  ASSERT_EQ(roof.rows.size(), 1U);
  EXPECT_DOUBLE_EQ(*roof.rows[0].flops_per_s, 1e12);
  EXPECT_FALSE(roof.rows[0].roof_pct);
}

TEST(Roofline, ImpossibleShapesAreUnknownAndNotInfinite) {
  const std::string huge = "9000000000000000000";
  std::string shape = "[" + huge;
  for (int i = 1; i < 16; ++i) shape += "," + huge;
  shape += "]";
  for (const char* name : {"aten::relu", "aten::mm", "aten::bmm", "aten::add"}) {
    Rows r;
    device(r, "Tesla T4");
    inputs(r, "[" + shape + "," + shape + "]", R"(["float","float"])");
    r.op(name, 1, 0, 100).runtime(1, 10, 5, 1).kernel("k", 1000, 1, 1);
    const auto trace = r.trace();
    for (const RooflineRow& row : roofline(*trace).rows) {
      for (const auto& value : {row.flops, row.bytes, row.flops_per_s, row.bytes_per_s,
                                row.flops_per_byte, row.roof_pct}) {
        EXPECT_TRUE(!value || std::isfinite(*value)) << name;
      }
    }
  }
}

TEST(Roofline, OfManyRowsTheShortestAreLeftOut) {
  Rows r;
  for (int i = 0; i < 5; ++i) {
    inputs(r, "[[" + std::to_string(10 + i) + "]]", R"(["float"])");
    r.op("aten::relu", 1, 200 * i, 100).runtime(1, 200 * i + 10, 5, i + 1);
    r.kernel("k", 200 * i + 20, 10 + i, i + 1);
  }
  const auto trace = r.trace();
  const auto all = Selection::everything(find_steps(*trace));
  const Roofline roof = find_roofline(*trace, all, RooflineGroup::kOperator, 2);
  ASSERT_EQ(roof.rows.size(), 2U);
  EXPECT_EQ(roof.rows[1].ns, 13);
  EXPECT_EQ(roof.left_out, 3);
  EXPECT_EQ(roof.known_ns, 10 + 11 + 12 + 13 + 14);
}

TEST(DevicePeaks, AreFoundByName) {
  const auto model = [](std::string_view name, std::optional<std::int64_t> gib = {}) {
    const auto peaks = find_device_peaks(name, gib ? std::optional(*gib << 30) : std::nullopt);
    return std::string(peaks ? peaks->model : "unknown");
  };
  EXPECT_EQ(model("NVIDIA A100-SXM4-80GB"), "NVIDIA A100 SXM 80GB");
  EXPECT_EQ(model("NVIDIA A100 80GB PCIe"), "NVIDIA A100 PCIe 80GB");
  EXPECT_EQ(model("NVIDIA A100-PG509-200", 40), "NVIDIA A100 40GB");
  EXPECT_EQ(model("NVIDIA A100-PG509-200", 79), "NVIDIA A100 SXM 80GB");
  EXPECT_EQ(model("NVIDIA A10"), "NVIDIA A10");
  EXPECT_EQ(model("NVIDIA A10G"), "NVIDIA A10G");
  EXPECT_EQ(model("NVIDIA H100 PCIe"), "NVIDIA H100 PCIe");
  EXPECT_EQ(model("NVIDIA H100 80GB HBM3"), "NVIDIA H100 SXM");
  EXPECT_EQ(model("NVIDIA GH200 480GB", 95), "NVIDIA GH200 96GB");
  EXPECT_EQ(model("Tesla V100-DGXS-32GB"), "NVIDIA V100 SXM2");
  EXPECT_EQ(model("NVIDIA GeForce RTX 2080 Ti"), "GeForce RTX 2080 Ti");
  EXPECT_EQ(model("NVIDIA GeForce RTX 4080 SUPER"), "GeForce RTX 4080 SUPER");
  // A card of another name is another card.
  EXPECT_EQ(model("NVIDIA GeForce RTX 4070 Ti"), "GeForce RTX 4070 Ti");
  EXPECT_EQ(model("NVIDIA GeForce RTX 4090"), "GeForce RTX 4090");
  for (const char* other :
       {"NVIDIA GeForce RTX 3060 Ti", "NVIDIA GeForce RTX 4070 SUPER", "NVIDIA GeForce RTX 4090 D",
        "NVIDIA GeForce RTX 4070 Ti SUPER", "NVIDIA GeForce RTX 5090 D",
        "NVIDIA GeForce RTX 2080 SUPER with Max-Q Design"}) {
    EXPECT_EQ(model(other), "unknown") << other;
  }
  EXPECT_EQ(model("AMD Instinct MI300X VF"), "AMD Instinct MI300X");
  EXPECT_EQ(model("NVIDIA GeForce RTX 4090 Laptop GPU"), "unknown");
  EXPECT_EQ(model("NVIDIA A100-SXM4-40GB MIG 1g.5gb"), "unknown");
  EXPECT_EQ(model("AMD Radeon Graphics"), "unknown");
  EXPECT_EQ(model(""), "unknown");
  EXPECT_EQ(model("A100x"), "unknown");
  // As the data sheets have them, without sparsity: tf32, half, fp8, GB/s.
  const auto figures = [](std::string_view name) {
    const DevicePeaks p = *find_device_peaks(name, {});
    return std::array{p.tf32, p.half, p.fp8, p.memory_gb_s};
  };
  EXPECT_EQ(figures("NVIDIA H100 PCIe"), (std::array{378.0, 756.0, 1513.0, 2000.0}));
  EXPECT_EQ(figures("NVIDIA H20"), (std::array{74.0, 148.0, 296.0, 4000.0}));
  EXPECT_EQ(figures("NVIDIA L40S"), (std::array{183.0, 362.0, 733.0, 864.0}));
  EXPECT_EQ(figures("AMD Instinct MI300X"), (std::array{653.7, 1307.4, 2614.9, 5300.0}));
  // Nobody says what an A10G computes at most.
  EXPECT_FALSE(peak_of(*find_device_peaks("NVIDIA A10G", {}), Precision::kHalf));
  const auto h100 = find_device_peaks("NVIDIA H100 80GB HBM3", {});
  EXPECT_FALSE(peak_of(*h100, Precision::kFp64));
  EXPECT_LT(*peak_of(*h100, Precision::kVector), *peak_of(*h100, Precision::kTf32));
  EXPECT_FALSE(peak_of(*find_device_peaks("Tesla T4", {}), Precision::kTf32));
}

class RooflineLaws : public ::testing::TestWithParam<unsigned> {};

TEST_P(RooflineLaws, FiguresAreFiniteAndPartsStayWithinTheWhole) {
  const auto trace = libtrace::testing::Generator(GetParam()).trace();
  const Roofline roof = roofline(*trace);
  EXPECT_LE(roof.far_below_ns, roof.roofed_ns);
  EXPECT_LE(roof.roofed_ns, roof.known_ns);
  EXPECT_LE(roof.known_ns, roof.total_ns);
  for (const RooflineRow& r : roof.rows) {
    EXPECT_TRUE(std::isfinite(r.flops_per_s.value_or(0) + r.roof_pct.value_or(0)));
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RooflineLaws, ::testing::Range(300U, 310U));

}  // namespace
}  // namespace traceglass
