// Which library is taken. Each search runs in a process of its own: what is open already wins.
#include "libtrace/cupti/loader.h"

#include <gmock/gmock.h>

#include <cstdlib>

#include "fake.h"

namespace libtrace::cupti {
namespace {

using testing::HasSubstr;

std::string folder(const char* name) { return std::string(FAKES_FOLDER) + "/" + name; }

TEST(Loader, NamesAreNewestFirstAndNoNewerThanTheDriver) {
  EXPECT_THAT(library_names(13010),
              testing::ElementsAre("libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8",
                                   "libcupti.so.11.7", "libcupti.so.11.6", "libcupti.so.11.5",
                                   "libcupti.so.11.4", "libcupti.so.11.3", "libcupti.so.11.2",
                                   "libcupti.so.11.1", "libcupti.so.11.0", "libcupti.so"));
  EXPECT_EQ(library_names(12090).front(), "libcupti.so.12");
  EXPECT_EQ(library_names(11080).front(), "libcupti.so.11.8");
}

// Prints the path that is chosen under a driver of this version.
[[noreturn]] void search(int driver_version, std::vector<std::string> directories,
                         const char* open_already = nullptr) {
  setenv("FAKE_CUDA_VERSION", std::to_string(driver_version).c_str(), 1);
  if (open_already != nullptr) dlopen(open_already, RTLD_NOW | RTLD_LOCAL);
  LoadOptions options;
  options.directories = std::move(directories);
  Refusal refusal;
  const std::optional<Libraries> found = load_cupti(options, refusal);
  std::fprintf(stderr, "found: %s %s\n", found ? found->cupti.path.c_str() : "nothing,",
               refusal.why.c_str());
  std::exit(0);
}

class LoaderSearch : public testing::Test {
 protected:
  void SetUp() override {
    if (dlopen("libcupti.so", RTLD_NOW | RTLD_LOCAL) != nullptr) {
      GTEST_SKIP() << "this machine's linker finds a CUPTI of its own";
    }
    GTEST_FLAG_SET(death_test_style, "threadsafe");
  }
};

TEST_F(LoaderSearch, TakesTheNewestThatTheDriverBears) {
  const std::vector<std::string> both = {folder("13"), folder("12"), folder("11")};
  EXPECT_EXIT(search(13000, both), testing::ExitedWithCode(0), "found: .*/13/libcupti.so.13");
  EXPECT_EXIT(search(12080, {folder("12"), folder("11")}), testing::ExitedWithCode(0),
              "found: .*/12/libcupti.so.12");
  EXPECT_EXIT(search(11070, {folder("11")}), testing::ExitedWithCode(0),
              "found: .*/11/libcupti.so");
}

TEST_F(LoaderSearch, TakesTheOneThatIsOpenAlready) {
  static const std::string open = folder("12") + "/libcupti.so.12";
  EXPECT_EXIT(search(13000, {folder("13")}, open.c_str()), testing::ExitedWithCode(0),
              "found: .*/12/libcupti.so.12");
}

TEST_F(LoaderSearch, PassesOverOneThatLacksFunctions) {
  EXPECT_EXIT(search(13000, {folder("wrong"), folder("13")}), testing::ExitedWithCode(0),
              "found: .*/13/libcupti.so.13");
}

TEST_F(LoaderSearch, SaysWhenThereIsNone) {
  EXPECT_EXIT(search(12090, {"/nowhere"}), testing::ExitedWithCode(0),
              "found: nothing, CUPTI, NVIDIA's profiling library, was not found");
  EXPECT_EXIT(search(13000, {folder("wrong")}), testing::ExitedWithCode(0), "found: nothing, ");
}

TEST(Loader, ADriverWithoutAFunctionIsNamed) {
  LoadOptions options;
  options.cuda_library = folder("wrong") + "/libcupti.so.13";
  Refusal refusal;
  EXPECT_FALSE(load_cupti(options, refusal));
  EXPECT_THAT(refusal.why, HasSubstr("lacks cuInit"));
}

TEST(Loader, TheEnvironmentNamesFileAndFolders) {
  setenv("LIBTRACE_CUPTI_LIB", "/some/libcupti.so", 1);
  setenv("CUDA_HOME", "/opt/cuda", 1);
  setenv("CONDA_PREFIX", "/opt/conda", 1);
  const LoadOptions options = LoadOptions::from_environment();
  EXPECT_EQ(options.cupti_library, "/some/libcupti.so");
  EXPECT_EQ(options.directories[0], "/opt/cuda/extras/CUPTI/lib64");
  EXPECT_THAT(options.directories, testing::Contains("/usr/local/cuda/extras/CUPTI/lib64"));
  EXPECT_THAT(options.directories, testing::Contains("/opt/conda/lib"));
  unsetenv("LIBTRACE_CUPTI_LIB");
  EXPECT_EQ(LoadOptions::from_environment().cupti_library, "");
}

}  // namespace
}  // namespace libtrace::cupti
