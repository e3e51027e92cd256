#include "libtrace/cupti/refusal.h"

namespace libtrace::cupti {
namespace {

std::string numbered(std::string_view name, Result code) {
  return std::string(name) + (name.empty() ? "" : " ") + "(" + std::to_string(code) + ")";
}

std::string version_text(int version) {  // 12090 -> 12.9
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

constexpr std::string_view kNotRecorded = " GPU work was not recorded.";

Refusal refusal(std::string why, std::string_view advice) {
  why += kNotRecorded;
  return {std::move(why), std::string(advice)};
}

}  // namespace

Refusal no_driver(std::string_view detail) {
  return refusal("There is no CUDA driver here (" + std::string(detail) + ").",
                 "Install NVIDIA's driver, or, in a container, pass the GPU through "
                 "(--gpus all). Without a GPU ask for CPU activities only.");
}

Refusal driver_failed(std::string_view call, Result code) {
  if (code == cuda_error::kNoDevice) return no_device();
  std::string_view advice = "Check that nvidia-smi works in the same place as this program.";
  if (code == cuda_error::kDriverMismatch || code == cuda_error::kNotSupportedOnDevice) {
    advice =
        "The driver's library and its kernel module are of different versions: reboot, or "
        "restart the container, after the update.";
  } else if (code == cuda_error::kStubLibrary) {
    advice =
        "The program loaded the toolkit's stub of libcuda: take its folder out of "
        "LD_LIBRARY_PATH.";
  }
  return refusal("The CUDA driver does not start: " + std::string(call) + " answers " +
                     numbered("CUresult", code) + ".",
                 advice);
}

Refusal no_device() {
  return refusal("The CUDA driver finds no device.",
                 "Check CUDA_VISIBLE_DEVICES and nvidia-smi. Without a GPU ask for CPU activities "
                 "only.");
}

Refusal no_cupti(int driver_version, std::string_view tried) {
  const std::string version = version_text(driver_version);
  const std::string major = std::to_string(driver_version / 1000);
  const bool suffixed = driver_version < 13000;  // the packages' names
  return refusal("CUPTI, NVIDIA's profiling library, was not found (" + std::string(tried) + ").",
                 "Install it for the driver's CUDA " + version +
                     " or older: the CUDA toolkit's extras/CUPTI, or the Python package "
                     "nvidia-cuda-cupti" +
                     (suffixed ? "-cu" + major : std::string()) +
                     "; or name the file in LIBTRACE_CUPTI_LIB.");
}

Refusal wrong_library(std::string_view path, std::string_view detail) {
  return refusal(
      "The file " + std::string(path) + " cannot serve as CUPTI (" + std::string(detail) + ").",
      "Let LIBTRACE_CUPTI_LIB name libcupti.so of CUDA 11.0 or later, or unset it.");
}

Refusal too_old(std::string_view path, unsigned api_version) {
  return refusal("CUPTI in " + std::string(path) + " is older than CUDA 11.0 (API version " +
                     std::to_string(api_version) + ").",
                 "Install CUPTI of CUDA 11.0 or later, no newer than the driver.");
}

Refusal cupti_failed(std::string_view call, Result code, std::string_view code_name,
                     std::string_view other) {
  const std::string answer = std::string(call) + " answers " + numbered(code_name, code);
  switch (code) {
    case error::kMultipleSubscribers:
      return refusal("Another profiler holds CUPTI in this process" +
                         (other.empty() ? std::string() : ", " + std::string(other)) + " (" +
                         answer + ").",
                     "Run without Nsight Systems, Nsight Compute, cuda-gdb or a second profiler: "
                     "CUPTI serves one at a time.");
    case error::kInsufficientPrivileges:
      return refusal("This user may not profile the GPU (" + answer + ").",
                     "Ask the administrator to load the driver with "
                     "NVreg_RestrictProfilingToAdminUsers=0, or give the process CAP_SYS_ADMIN.");
    case error::kVirtualizedInsufficientPrivileges:
      return refusal("The virtual GPU does not allow profiling (" + answer + ").",
                     "Let the host's administrator enable profiling for this vGPU "
                     "(pciPassthru.cfg.enable_profiling).");
    case error::kConfidentialComputing:
      return refusal(
          "The GPU runs in confidential mode, which CUPTI does not profile (" + answer + ").",
          "Profile on a GPU outside of confidential mode, or in its devtools mode.");
    case error::kNotInitialized:
      return refusal("CUPTI does not start (" + answer + ").",
                     "Most often CUPTI is newer than the driver: update the driver, or name an "
                     "older libcupti.so in LIBTRACE_CUPTI_LIB.");
    case error::kInvalidDevice:
      return refusal("CUPTI does not support this device (" + answer + ").",
                     "Use CUPTI of a CUDA release that knows the device.");
    default:
      return refusal("CUPTI refuses to record (" + answer + ").",
                     "See the error in NVIDIA's CUPTI documentation; a CUPTI of the driver's own "
                     "CUDA release serves best.");
  }
}

Refusal forked() {
  return refusal("This process was forked from one that had begun to record the GPU.",
                 "Start workers that use the GPU by exec (spawn), or fork before the profiler "
                 "starts.");
}

}  // namespace libtrace::cupti
