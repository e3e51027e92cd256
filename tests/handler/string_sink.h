// A sink into a string, and one that fails when told to.
#pragma once

#include <string>

#include "handler/byte_sink.h"

namespace libtrace {

class StringSink final : public ByteSink {
 public:
  Status write(std::string_view bytes) override {
    if (text.size() + bytes.size() > limit) return Status::io_error("disk full");
    text += bytes;
    return {};
  }
  Status finish() override {
    finished = true;
    return {};
  }

  std::string text;
  std::size_t limit = std::string::npos;
  bool finished = false;
};

}  // namespace libtrace
