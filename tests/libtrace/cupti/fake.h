// The fakes, as a test opens and drives them.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "libtrace/cupti/device_source.h"
#include "libtrace/cupti/loader.h"
#include "tests/fakes/fake_cupti.h"

namespace libtrace::cupti {

class Fake {
 public:
  // `folder` of tests/fakes: "11", "12", "13".
  explicit Fake(const std::string& folder = "13", unsigned version = 130001) {
    cuda_ = open("libcuda.so.1");
    for (const auto& [name, value] :
         {std::pair("devices", 1), {"init", 0}, {"primary", 0}, {"gone", 0}, {"version", 13000}}) {
      cuda(name, value);
    }
    options.cupti_library = std::string(FAKES_FOLDER) + "/" + folder + "/libcupti.so";
    cupti_ = open(options.cupti_library);
    run_ = find<decltype(&fake_cupti_run)>(cupti_, "fake_cupti_run");
    calls_ = find<decltype(&fake_cupti_calls)>(cupti_, "fake_cupti_calls");
    run("reset\nversion " + std::to_string(version));
  }

  void run(const std::string& script) const {
    const char* const error = run_(script.c_str());
    ASSERT_EQ(error, nullptr) << error;
  }
  [[nodiscard]] std::string calls() const { return calls_(); }
  void cuda(const char* name, int value) const {
    find<void (*)(const char*, int)>(cuda_, "fake_cuda_set")(name, value);
  }
  [[nodiscard]] int synchronised() const {
    return find<int (*)()>(cuda_, "fake_cuda_synchronised")();
  }
  [[nodiscard]] std::unique_ptr<detail::DeviceSource> source() const {
    return make_cuda_source(options);
  }

  LoadOptions options;  // finds this fake

 private:
  static void* open(const std::string& path) {
    void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(library, nullptr) << dlerror();
    return library;
  }
  template <class F>
  static F find(void* library, const char* name) {
    auto* const function = reinterpret_cast<F>(dlsym(library, name));
    EXPECT_NE(function, nullptr) << name;
    return function;
  }

  void *cuda_, *cupti_;
  decltype(&fake_cupti_run) run_;
  decltype(&fake_cupti_calls) calls_;
};

}  // namespace libtrace::cupti
