// A comparison by the API where the memory is too small for both of its traces.
#include <atomic>
#include <thread>

#include "tests/tb_backend/api/app_fixture.h"

namespace traceglass {
namespace {

class TinyBudget : public testing::AppTest {
 protected:
  AppOptions options() const override {
    AppOptions o = AppTest::options();
    o.registry.budget_bytes = 1;
    o.registry.load = [](const std::filesystem::path& path, IngestProgress* progress) {
      ++loads_;
      return ingest_file(path, progress);
    };
    return o;
  }
  static inline std::atomic<int> loads_ = 0;
};

TEST_F(TinyBudget, BothSidesAreLoadedOnce) {
  for (const char* file : {"a/x.json", "b/y.json"}) logdir_.write(file, testing::small_trace());
  const std::string path = "/api/compare?a=" + id_of("a/x.json") + "&b=" + id_of("b/y.json");
  while (ask(path).status == 202) {
    ASSERT_LE(loads_, 2);
    std::this_thread::yield();
  }
  EXPECT_EQ(ask(path).status, 200);
  EXPECT_EQ(loads_, 2);
}

}  // namespace
}  // namespace traceglass
