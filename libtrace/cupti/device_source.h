// The recorder's DeviceSource for CUDA: libraries, collector and session behind one face.
#pragma once

#include <memory>

#include "libtrace/cupti/loader.h"
#include "libtrace/record/device_source.h"

namespace libtrace::cupti {

std::unique_ptr<detail::DeviceSource> make_cuda_source(LoadOptions options);

}  // namespace libtrace::cupti
