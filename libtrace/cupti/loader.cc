#include "libtrace/cupti/loader.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <utility>

namespace libtrace::cupti {
namespace {

namespace fs = std::filesystem;

std::string dl_error() {
  const char* const text = dlerror();
  return text != nullptr ? text : "unknown error";
}

std::string path_of(void* address) {
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return {};
  return info.dli_fname;
}

// Folders below a Python environment that wheels of NVIDIA put the library into.
void add_python(const char* variable, std::vector<std::string>& to) {
  const char* const root = std::getenv(variable);
  if (root == nullptr || *root == '\0') return;
  std::error_code failed;
  to.push_back(std::string(root) + "/lib");  // conda
  for (fs::directory_iterator it(std::string(root) + "/lib", failed), end; !failed && it != end;
       it.increment(failed)) {
    if (it->path().filename().string().rfind("python3", 0) != 0) continue;
    const std::string nvidia = it->path().string() + "/site-packages/nvidia";
    to.push_back(nvidia + "/cu13/lib");
    to.push_back(nvidia + "/cuda_cupti/lib");
  }
}

// Opens one candidate and fills the table; "" or why not.
std::string open_cupti(const std::string& name, int flags, CuptiApi& api) {
  void* const library = dlopen(name.c_str(), flags);
  if (library == nullptr) return dl_error();
  const std::string missing = find_functions(library, api);
  if (!missing.empty()) return "it lacks " + missing;
  api.library = library;
  api.path = path_of(reinterpret_cast<void*>(api.GetVersion));
  if (api.path.empty()) api.path = name;
  return {};
}

std::optional<CuptiApi> find_cupti(const LoadOptions& options, int driver_version,
                                   Refusal& refusal) {
  constexpr int kFlags = RTLD_NOW | RTLD_LOCAL;
  CuptiApi api;
  if (!options.cupti_library.empty()) {
    const std::string why = open_cupti(options.cupti_library, kFlags, api);
    if (why.empty()) return api;
    refusal = wrong_library(options.cupti_library, why);
    return std::nullopt;
  }
  // Two copies of CUPTI in one process get in each other's way: the one that is there wins.
  const std::vector<std::string> names = library_names(driver_version);
  for (const std::string& name : library_names(INT32_MAX)) {
    if (open_cupti(name, kFlags | RTLD_NOLOAD, api).empty()) return api;
  }
  std::string first_failure;
  const auto opens = [&](const std::string& name) {
    std::string why = open_cupti(name, kFlags, api);
    if (!why.empty() && first_failure.empty()) first_failure = std::move(why);
    return api.library != nullptr;
  };
  for (const std::string& name : names) {
    if (opens(name)) return api;
  }
  for (const std::string& directory : options.directories) {
    for (const std::string& name : names) {
      const std::string path = directory + "/" + name;
      std::error_code failed;
      if (fs::exists(path, failed) && opens(path)) return api;
    }
  }
  refusal = no_cupti(driver_version, first_failure);
  return std::nullopt;
}

std::optional<DriverApi> start_driver(const std::string& name, Refusal& refusal) {
  void* const library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    refusal = no_driver(dl_error());
    return std::nullopt;
  }
  DriverApi driver;
  if (const std::string missing = find_functions(library, driver); !missing.empty()) {
    refusal = no_driver(name + " lacks " + missing);
    return std::nullopt;
  }
  const auto failed = [&](const char* call, Result code) {
    if (code != kSuccess) refusal = driver_failed(call, code);
    return code != kSuccess;
  };
  if (failed("cuInit", driver.Init(0)) ||
      failed("cuDriverGetVersion", driver.DriverGetVersion(&driver.version)) ||
      failed("cuDeviceGetCount", driver.DeviceGetCount(&driver.device_count))) {
    return std::nullopt;
  }
  if (driver.device_count <= 0) {
    refusal = no_device();
    return std::nullopt;
  }
  return driver;
}

}  // namespace

LoadOptions LoadOptions::from_environment() {
  LoadOptions options;
  if (const char* const path = std::getenv("LIBTRACE_CUPTI_LIB"); path != nullptr) {
    options.cupti_library = path;
  }
  const char* const home = std::getenv("CUDA_HOME");
  for (const std::string& root :
       {std::string(home != nullptr ? home : ""), std::string("/usr/local/cuda")}) {
    if (root.empty()) continue;
    options.directories.push_back(root + "/extras/CUPTI/lib64");
    options.directories.push_back(root + "/lib64");
  }
  add_python("VIRTUAL_ENV", options.directories);
  add_python("CONDA_PREFIX", options.directories);
  return options;
}

std::vector<std::string> library_names(int driver_version) {
  std::vector<std::string> names;
  const int major = driver_version / 1000;
  if (major >= 13) names.emplace_back("libcupti.so.13");
  if (major >= 12) names.emplace_back("libcupti.so.12");
  for (int minor = 8; minor >= 0; --minor) {  // the name lost its minor in 12.0
    names.push_back("libcupti.so.11." + std::to_string(minor));
  }
  names.emplace_back("libcupti.so");
  return names;
}

std::optional<Libraries> load_cupti(const LoadOptions& options, Refusal& refusal) {
  refusal = {};
  const std::optional<DriverApi> driver = start_driver(options.cuda_library, refusal);
  if (!driver) return std::nullopt;
  std::optional<CuptiApi> cupti = find_cupti(options, driver->version, refusal);
  if (!cupti) return std::nullopt;
  if (const Result code = cupti->GetVersion(&cupti->version); code != kSuccess) {
    refusal = cupti_failed("cuptiGetVersion", code, {});
    return std::nullopt;
  }
  if (cupti->version < api_version::k11_0) {
    refusal = too_old(cupti->path, cupti->version);
    return std::nullopt;
  }
  return Libraries{*driver, *std::move(cupti)};
}

}  // namespace libtrace::cupti
