#include "handler/gzip_sink.h"

#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace libtrace {
namespace {

constexpr std::size_t kOutBytes = std::size_t{256} << 10;
constexpr std::size_t kMostIn = std::size_t{1} << 30;  // avail_in has 32 bits

// Some of igzip's AVX-512 routines (2.30) leave the upper halves of the vector registers dirty, and
// every SSE instruction of the thread pays for it until they are cleared: a training step after
// the first trace was written took up to 12 times as long.
void clear_upper_halves() noexcept {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx")) asm volatile("vzeroupper" ::: "memory");
#endif
}

}  // namespace

struct GzipSink::Impl {
  explicit Impl(ByteSink& sink) : next(sink), out(kOutBytes), level(ISAL_DEF_LVL1_DEFAULT) {
    isal_deflate_init(&stream);
    stream.level = 1;
    stream.level_buf = level.data();
    stream.level_buf_size = static_cast<std::uint32_t>(level.size());
    stream.gzip_flag = IGZIP_GZIP;
    stream.flush = NO_FLUSH;
  }

  // Consumes what stands in next_in; to the very end when end_of_stream is set.
  Status run() {
    do {
      stream.next_out = out.data();
      stream.avail_out = static_cast<std::uint32_t>(out.size());
      const int error = isal_deflate(&stream);
      clear_upper_halves();
      if (error != COMP_OK) {
        return Status::io_error("Compression failed: igzip error " + std::to_string(error));
      }
      const std::size_t n = out.size() - stream.avail_out;
      if (n == 0) continue;
      if (Status s = next.write({reinterpret_cast<const char*>(out.data()), n}); !s.ok()) return s;
    } while (stream.avail_out == 0);
    return {};
  }

  ByteSink& next;
  isal_zstream stream;
  std::vector<std::uint8_t> out, level;
};

GzipSink::GzipSink(ByteSink& next) : impl_(std::make_unique<Impl>(next)) {}
GzipSink::~GzipSink() = default;

Status GzipSink::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t n = std::min(bytes.size(), kMostIn);
    // igzip reads only; its interface is older than const.
    impl_->stream.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(bytes.data()));
    impl_->stream.avail_in = static_cast<std::uint32_t>(n);
    if (Status s = impl_->run(); !s.ok()) return s;
    bytes.remove_prefix(n);
  }
  return {};
}

Status GzipSink::finish() {
  impl_->stream.next_in = nullptr;
  impl_->stream.avail_in = 0;
  impl_->stream.end_of_stream = 1;
  if (Status s = impl_->run(); !s.ok()) return s;
  return impl_->next.finish();
}

}  // namespace libtrace
