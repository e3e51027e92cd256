// Compresses on the way to another sink: ISA-L level 1 (over 1 GB/s, a ratio of about 7 on traces;
// zlib at its fastest: 0.23 GB/s), as one gzip member, since some viewers read no second one.
#pragma once

#include <memory>

#include "handler/byte_sink.h"

namespace libtrace {

class GzipSink final : public ByteSink {
 public:
  explicit GzipSink(ByteSink& next);  // must outlive this
  ~GzipSink() override;
  Status write(std::string_view bytes) override;
  Status finish() override;  // finishes `next` too

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace libtrace
