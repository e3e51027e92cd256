// A command's argument that names one trace: a file, or a directory of one worker.
#pragma once

#include <stdexcept>
#include <string>

#include "tb_backend/logdir/scan.h"

namespace traceglass {

struct NoSuchTrace : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The file, or the newest span of the directory's only worker; NoSuchTrace with a sentence where
// there is none, or several.
TraceFile trace_argument(const std::string& path);

}  // namespace traceglass
