// Dense figures: those that a document gives "with sparsity" are halved. Each row names its source.
// GeForce: matrix products that accumulate in fp32, as PyTorch's do, which these cards run at half
// rate. AMD MI200: per die, since each is a device of its own to PyTorch.
#include "tb_backend/analysis/device_peaks.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace traceglass {
namespace {

struct Entry {
  std::array<std::string_view, 3> words;  // all must stand in the name, as words of their own
  double least_gib = 0;                   // of memory; 0: any
  DevicePeaks peaks;                      // vector fp32, matrix fp32, tf32, half, fp8; GB/s
};

// The first that fits; so the closer name stands before the wider one.
constexpr Entry kEntries[] = {
    // GB200 NVL72 data sheet, a 72nd; DGX B200 data sheet, an 8th. The Blackwell architecture brief
    // agrees but for vector fp32, where it is a little higher.
    {{"GB200"}, 0, {"NVIDIA GB200", 80, 80, 1250, 2500, 5000, 8000}},
    {{"B200"}, 0, {"NVIDIA B200", 75, 75, 1125, 2250, 4500, 8000}},
    // GH200 Grace Hopper Superchip data sheet.
    {{"GH200"}, 120, {"NVIDIA GH200 144GB", 67, 67, 494.7, 989.4, 1978.9, 4900}},
    {{"GH200"}, 0, {"NVIDIA GH200 96GB", 67, 67, 494.7, 989.4, 1978.9, 4000}},
    // H200 Tensor Core GPU data sheet.
    {{"H200", "NVL"}, 0, {"NVIDIA H200 NVL", 60, 60, 417.5, 835.5, 1670.5, 4800}},
    {{"H200"}, 0, {"NVIDIA H200 SXM", 67, 67, 494.7, 989.4, 1978.9, 4800}},
    // H100 Tensor Core GPU data sheet and architecture paper.
    {{"H100", "NVL"}, 0, {"NVIDIA H100 NVL", 60, 60, 417.5, 835.5, 1670.5, 3900}},
    {{"H100", "PCIe"}, 0, {"NVIDIA H100 PCIe", 51, 51, 378, 756, 1513, 2000}},
    {{"H100"}, 0, {"NVIDIA H100 SXM", 67, 67, 494.7, 989.4, 1978.9, 3350}},
    // As H100 SXM, with slower links.
    {{"H800"}, 0, {"NVIDIA H800 SXM", 67, 67, 494.7, 989.4, 1978.9, 3350}},
    // HGX H20 data sheet.
    {{"H20"}, 0, {"NVIDIA H20", 44, 44, 74, 148, 296, 4000}},
    // A100 Tensor Core GPU data sheet; A800: the same with slower links.
    {{"A100", "PCIe", "80GB"}, 0, {"NVIDIA A100 PCIe 80GB", 19.5, 19.5, 156, 312, 0, 1935}},
    {{"A100", "80GB"}, 0, {"NVIDIA A100 SXM 80GB", 19.5, 19.5, 156, 312, 0, 2039}},
    {{"A100"}, 60, {"NVIDIA A100 SXM 80GB", 19.5, 19.5, 156, 312, 0, 2039}},
    {{"A100"}, 0, {"NVIDIA A100 40GB", 19.5, 19.5, 156, 312, 0, 1555}},
    {{"A800"}, 60, {"NVIDIA A800 80GB", 19.5, 19.5, 156, 312, 0, 2039}},
    // A30, A40 and A10 data sheets.
    {{"A30"}, 0, {"NVIDIA A30", 10.3, 10.3, 82, 165, 0, 933}},
    {{"A40"}, 0, {"NVIDIA A40", 37.4, 37.4, 74.8, 149.7, 0, 696}},
    // Of the A10G, sold in one cloud only, no document of the maker's is public but its bandwidth.
    {{"A10G"}, 0, {"NVIDIA A10G", 0, 0, 0, 0, 0, 600}},
    {{"A10"}, 0, {"NVIDIA A10", 31.2, 31.2, 62.5, 125, 0, 600}},
    // L40S, L40 and L4 data sheets.
    {{"L40S"}, 0, {"NVIDIA L40S", 91.6, 91.6, 183, 362, 733, 864}},
    {{"L40"}, 0, {"NVIDIA L40", 90.5, 90.5, 90.5, 181, 362, 864}},
    {{"L4"}, 0, {"NVIDIA L4", 30.3, 30.3, 60, 121, 242, 300}},
    // T4 data sheet.
    {{"T4"}, 0, {"NVIDIA T4", 8.1, 8.1, 0, 65, 0, 320}},
    // V100 data sheet; V100S data sheet.
    {{"V100S"}, 0, {"NVIDIA V100S PCIe", 16.4, 16.4, 0, 130, 0, 1134}},
    {{"V100", "PCIE"}, 0, {"NVIDIA V100 PCIe", 14, 14, 0, 112, 0, 900}},
    {{"V100"}, 0, {"NVIDIA V100 SXM2", 15.7, 15.7, 0, 125, 0, 900}},
    // RTX 6000 Ada and RTX A6000 data sheets.
    {{"RTX", "6000", "Ada"}, 0, {"NVIDIA RTX 6000 Ada", 91.1, 91.1, 182.1, 364.2, 728.5, 960}},
    {{"RTX", "A6000"}, 0, {"NVIDIA RTX A6000", 38.7, 38.7, 77.4, 154.8, 0, 768}},
    // RTX Blackwell architecture paper: rates of an SM, times SMs and boost clock of each card.
    {{"RTX", "5090"}, 0, {"GeForce RTX 5090", 104.8, 104.8, 104.8, 209.5, 419, 1792}},
    {{"RTX", "5080"}, 0, {"GeForce RTX 5080", 56.3, 56.3, 56.3, 112.6, 225.1, 960}},
    {{"5070", "Ti"}, 0, {"GeForce RTX 5070 Ti", 43.9, 43.9, 43.9, 87.9, 175.8, 896}},
    {{"RTX", "5070"}, 0, {"GeForce RTX 5070", 30.9, 30.9, 30.9, 61.7, 123.5, 672}},
    // Ada GPU architecture paper, likewise.
    {{"RTX", "4090"}, 0, {"GeForce RTX 4090", 82.6, 82.6, 82.6, 165.2, 330.3, 1008}},
    {{"4080", "SUPER"}, 0, {"GeForce RTX 4080 SUPER", 52.2, 52.2, 52.2, 104.4, 208.8, 736}},
    {{"RTX", "4080"}, 0, {"GeForce RTX 4080", 48.7, 48.7, 48.7, 97.5, 194.9, 717}},
    {{"4070", "Ti"}, 0, {"GeForce RTX 4070 Ti", 40.1, 40.1, 40.1, 80.2, 160.4, 504}},
    {{"RTX", "4070"}, 0, {"GeForce RTX 4070", 29.1, 29.1, 29.1, 58.3, 116.6, 504}},
    {{"4060", "Ti"}, 0, {"GeForce RTX 4060 Ti", 22.1, 22.1, 22.1, 44.1, 88.3, 288}},
    {{"RTX", "4060"}, 0, {"GeForce RTX 4060", 15.1, 15.1, 15.1, 30.2, 60.4, 272}},
    // Ampere GA102 architecture paper, likewise.
    {{"3090", "Ti"}, 0, {"GeForce RTX 3090 Ti", 40, 40, 40, 80, 0, 1008}},
    {{"RTX", "3090"}, 0, {"GeForce RTX 3090", 35.6, 35.6, 35.6, 71.2, 0, 936}},
    {{"3080", "Ti"}, 0, {"GeForce RTX 3080 Ti", 34.1, 34.1, 34.1, 68.2, 0, 912}},
    {{"RTX", "3080"}, 0, {"GeForce RTX 3080", 29.8, 29.8, 29.8, 59.5, 0, 760}},
    {{"RTX", "3070"}, 0, {"GeForce RTX 3070", 20.3, 20.3, 20.3, 40.6, 0, 448}},
    {{"RTX", "3060"}, 0, {"GeForce RTX 3060", 12.7, 12.7, 12.7, 25.5, 0, 360}},
    // Turing architecture paper.
    {{"RTX", "2080", "Ti"}, 0, {"GeForce RTX 2080 Ti", 13.4, 13.4, 0, 53.8, 0, 616}},
    {{"TITAN", "RTX"}, 0, {"TITAN RTX", 16.3, 16.3, 0, 130.5, 0, 672}},
    // MI355X and MI350X data sheets; CDNA 4 has no TF32.
    {{"MI355X"}, 0, {"AMD Instinct MI355X", 157.3, 157.3, 0, 2516.6, 5033.2, 8000}},
    {{"MI350X"}, 0, {"AMD Instinct MI350X", 144.2, 144.2, 0, 2306.9, 4613.8, 8000}},
    // MI325X, MI300X and MI300A data sheets.
    {{"MI325X"}, 0, {"AMD Instinct MI325X", 163.4, 163.4, 653.7, 1307.4, 2614.9, 6000}},
    {{"MI300X"}, 0, {"AMD Instinct MI300X", 163.4, 163.4, 653.7, 1307.4, 2614.9, 5300}},
    {{"MI300A"}, 0, {"AMD Instinct MI300A", 122.6, 122.6, 490.3, 980.6, 1961.2, 5300}},
    // MI250X, MI250, MI210 and MI100 data sheets.
    {{"MI250X"}, 0, {"AMD Instinct MI250X, one die", 23.9, 47.9, 0, 191.5, 0, 1638}},
    {{"MI250"}, 0, {"AMD Instinct MI250, one die", 22.6, 45.3, 0, 181, 0, 1638}},
    {{"MI210"}, 0, {"AMD Instinct MI210", 22.6, 45.3, 0, 181, 0, 1638}},
    {{"MI100"}, 0, {"AMD Instinct MI100", 23.1, 46.1, 0, 184.6, 0, 1228}},
};

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

// "NVIDIA A100-SXM4-80GB" → nvidia, a100, sxm4, 80gb.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    const char l = lower(c);
    if ((l >= 'a' && l <= 'z') || (l >= '0' && l <= '9')) {
      words.back() += l;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  return words;
}

}  // namespace

std::optional<DevicePeaks> find_device_peaks(std::string_view name,
                                             std::optional<std::int64_t> memory_bytes) {
  const std::vector<std::string> words = words_of(name);
  const double gib = memory_bytes ? static_cast<double>(*memory_bytes) / (1 << 30) : 0;
  // A laptop's chip has the name of a larger card, and a slice of a card only a part of it.
  for (const std::string_view other : {"laptop", "mig", "max"}) {
    if (std::find(words.begin(), words.end(), other) != words.end()) return std::nullopt;
  }
  for (const Entry& entry : kEntries) {
    const bool named =
        std::all_of(entry.words.begin(), entry.words.end(), [&](std::string_view word) {
          std::string low(word);
          std::transform(low.begin(), low.end(), low.begin(), lower);
          return word.empty() || std::find(words.begin(), words.end(), low) != words.end();
        });
    // Such a word makes it another card than the one without it.
    const bool other = std::any_of(words.begin(), words.end(), [&](const std::string& word) {
      constexpr std::string_view kOthers[] = {"ti", "super", "d"};
      if (std::find(std::begin(kOthers), std::end(kOthers), word) == std::end(kOthers))
        return false;
      return std::none_of(entry.words.begin(), entry.words.end(), [&](std::string_view own) {
        return own.size() == word.size() &&
               std::equal(own.begin(), own.end(), word.begin(),
                          [](char a, char b) { return lower(a) == b; });
      });
    });
    if (named && !other && gib >= entry.least_gib) return entry.peaks;
  }
  return std::nullopt;
}

std::optional<double> peak_of(const DevicePeaks& peaks, Precision precision) {
  double tera = 0;
  switch (precision) {
    case Precision::kVector:
      tera = peaks.vector_fp32;
      break;
    case Precision::kFp32:
      tera = peaks.matrix_fp32;
      break;
    case Precision::kTf32:
      tera = peaks.tf32;
      break;
    case Precision::kHalf:
      tera = peaks.half;
      break;
    case Precision::kFp8:
      tera = peaks.fp8;
      break;
    case Precision::kFp64:
    case Precision::kUnknown:
      break;
  }
  if (tera <= 0) return std::nullopt;
  return tera * 1e12;
}

}  // namespace traceglass
