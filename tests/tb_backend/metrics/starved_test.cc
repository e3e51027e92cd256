// Memory that does not suffice ends no program, in whichever thread it is missed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <new>

#include "tb_backend/metrics/curve.h"
#include "tb_backend/metrics/store.h"
#include "tests/tb_backend/logdir/temp_dir.h"
#include "tests/tb_backend/metrics/event_bytes.h"

namespace {
std::atomic<std::size_t> most{SIZE_MAX};  // no piece of memory may be larger
}  // namespace

// Not inlined: the compiler would see malloc and delete, and warn of a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
  void* const made = size > most.load() ? nullptr : std::malloc(size == 0 ? 1 : size);
  if (made == nullptr) throw std::bad_alloc();
  return made;
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return size > most.load() ? nullptr : std::malloc(size == 0 ? 1 : size);
}
[[gnu::noinline]] void operator delete(void* made) noexcept { std::free(made); }
[[gnu::noinline]] void operator delete(void* made, std::size_t) noexcept { std::free(made); }

namespace traceglass {
namespace {

TEST(MetricStore, OutlivesWantOfMemory) {
  const testing::TempDir folder;
  std::vector<MetricFileRef> files;
  for (int f = 0; f < 4; ++f) {
    const auto path = folder.path() / ("events.tfevents." + std::to_string(f));
    std::ofstream out(path, std::ios::binary);
    for (int i = 0; i < 50'000; ++i) out << testing::scalar(i, i, "loss", 1);
    files.push_back({".", path.filename().string(), path, 1, 1, std::uint64_t(f), 0});
  }
  MetricStore store;
  // Too little for the chunk of 1 MiB that a file is read by; enough for it, and not for the
  // points.
  for (const std::size_t limit : {std::size_t{1} << 19U, std::size_t{1} << 20U}) {
    for (MetricFileRef& file : files) ++file.bytes;
    most = limit;
    store.update(files);
    most = SIZE_MAX;
    store.read([](const MetricStore::Runs& runs) {
      ASSERT_EQ(runs.size(), 1U);
      EXPECT_TRUE(runs[0].tags().empty());
      const auto told = notices(runs[0]);
      ASSERT_EQ(told.size(), 4U);
      for (const MetricNotice& notice : told) EXPECT_EQ(notice.code, "out_of_memory");
    });
  }
  for (MetricFileRef& file : files) ++file.bytes;
  store.update(files);
  store.read([](const MetricStore::Runs& runs) {
    EXPECT_TRUE(notices(runs[0]).empty());
    EXPECT_EQ(tag_row(runs[0], runs[0].tags().at(0)).count, 200'000U);
  });
}

}  // namespace
}  // namespace traceglass
