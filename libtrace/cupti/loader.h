// Finds and opens the driver and CUPTI, in the only order that is safe: libcuda, cuInit, the number
// of devices, then libcupti. Some releases of CUPTI crash when called without a driver.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "libtrace/cupti/api.h"
#include "libtrace/cupti/driver.h"
#include "libtrace/cupti/refusal.h"

namespace libtrace::cupti {

inline constexpr char kCudaLibrary[] = "libcuda.so.1";

struct LoadOptions {
  std::string cuda_library = kCudaLibrary;
  std::string cupti_library;             // this and no other; "" searches
  std::vector<std::string> directories;  // searched after the linker's own places

  // As a program gets them: $LIBTRACE_CUPTI_LIB, the toolkit's folder, Python environments.
  static LoadOptions from_environment();
};

struct Libraries {
  DriverApi driver;
  CuptiApi cupti;
  // CUPTI is newer than the newest release that our offsets were checked against.
  [[nodiscard]] bool untested() const noexcept {
    return cupti.version > api_version::kNewestTested;
  }
};

// Starts the driver. Neither library is ever closed: both keep threads and pointers into
// themselves.
std::optional<Libraries> load_cupti(const LoadOptions& options, Refusal& refusal);

// File names to try for a driver of this CUDA version, newest first; those of a newer major are
// left out: CUPTI must not be newer than the driver.
std::vector<std::string> library_names(int driver_version);

}  // namespace libtrace::cupti
