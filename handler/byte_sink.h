// Where written bytes go. Sinks are chained: JSON → gzip → file.
#pragma once

#include <string_view>

#include "libtrace/status.h"

namespace libtrace {

class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual Status write(std::string_view bytes) = 0;
  // All is written. Until then the result counts for nothing.
  virtual Status finish() = 0;
};

}  // namespace libtrace
