// Event files at scale: `metrics_bench make DIR` writes 200 of them with 10 M points,
// `metrics_bench DIR` reads them and draws curves, as JSON; `metrics_bench read FILE` times one
// file.
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tb_backend/metrics/curve.h"
#include "tb_backend/metrics/store.h"
#include "tests/tb_backend/metrics/event_bytes.h"

namespace {

using namespace traceglass;
namespace fs = std::filesystem;

constexpr int kFiles = 200, kTags = 50, kSteps = 1000;

double since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void make(const fs::path& folder) {
  for (int f = 0; f < kFiles; ++f) {
    const fs::path run = folder / ("run" + std::to_string(f / 2));
    fs::create_directories(run);
    std::string bytes = testing::version(1.7e9);
    for (int i = 0; i < kSteps; ++i) {
      const int step = f % 2 * kSteps + i;
      for (int tag = 0; tag < kTags; ++tag) {
        bytes += testing::scalar(1.7e9 + step, step, "train/layer" + std::to_string(tag) + "/norm",
                                 static_cast<float>(std::sin(step * 0.01 * tag)));
      }
    }
    std::ofstream(run / ("events.out.tfevents." + std::to_string(f % 2)), std::ios::binary)
        << bytes;
  }
}

std::vector<MetricFileRef> files_of(const fs::path& folder) {
  std::vector<MetricFileRef> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    struct stat s{};
    ::stat(entry.path().c_str(), &s);
    files.push_back({entry.path().parent_path().filename().string(), entry.path().string(),
                     entry.path(), static_cast<std::uint64_t>(s.st_size), s.st_dev, s.st_ino, 0});
  }
  std::sort(files.begin(), files.end(),
            [](const MetricFileRef& a, const MetricFileRef& b) { return a.file < b.file; });
  return files;
}

void read_all(const fs::path& folder) {
  const auto start = std::chrono::steady_clock::now();
  MetricStore store;
  store.update(files_of(folder));
  std::uint64_t points = 0;
  double worst = 0;
  double list = 0;
  store.read([&](const MetricStore::Runs& runs) {
    for (const MetricRun& run : runs) {
      for (const MetricRun::Tag& tag : run.tags()) points += tag_row(run, tag).count;
    }
    list = since(start);
    for (std::size_t i = 0; i < 20; ++i) {
      const MetricRun& run = runs[i * 5];
      const auto begin = std::chrono::steady_clock::now();
      CurveQuery query;
      query.smoothing = 0.6;
      find_curve(run, run.tags()[i], query);
      worst = std::max(worst, since(begin));
    }
  });
  struct rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf(
      R"({"list_seconds": %.4f, "points": %llu, "curve_seconds": %.6f, "peak_bytes": %lld})", list,
      static_cast<unsigned long long>(points), worst,
      static_cast<long long>(usage.ru_maxrss) * 1024);
}

void read_one(const char* path) {
  const auto start = std::chrono::steady_clock::now();
  EventFile file(path, {});
  file.read_on();
  std::printf(R"({"seconds": %.6f, "points": %zu})", since(start), file.points());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "make") == 0) {
    make(argv[2]);
  } else if (argc == 3 && std::strcmp(argv[1], "read") == 0) {
    read_one(argv[2]);
  } else if (argc == 2) {
    read_all(argv[1]);
  } else {
    std::fprintf(stderr, "metrics_bench make DIR | DIR | read FILE\n");
    return 2;
  }
}
