#include "tb_backend/api/encoding.h"

#include <libdeflate.h>

#include <memory>

namespace traceglass {
namespace {

constexpr std::size_t kPacket = 1400;
constexpr std::string_view kGzipSuffix = "-gz";

bool compressible(std::string_view type) {
  if (type == "application/gzip") return false;
  return type.starts_with("text/") || type.starts_with("application/") || type == "image/svg+xml";
}

// "gzip" is named in Accept-Encoding and not with q=0.
bool takes_gzip(std::string_view accept) {
  while (!accept.empty()) {
    const auto comma = accept.find(',');
    std::string_view item = accept.substr(0, comma);
    accept.remove_prefix(comma == std::string_view::npos ? accept.size() : comma + 1);
    while (!item.empty() && item.front() == ' ') item.remove_prefix(1);
    if (!item.starts_with("gzip")) continue;
    const auto q = item.find("q=");
    return q == std::string_view::npos ||
           item.substr(q + 2).find_first_of("123456789") != std::string_view::npos;
  }
  return false;
}

std::string quoted(std::string_view etag) { return '"' + std::string(etag) + '"'; }

struct Free {
  void operator()(libdeflate_compressor* c) const { libdeflate_free_compressor(c); }
};
using Compressor = std::unique_ptr<libdeflate_compressor, Free>;

std::string packed(const Compressor& compressor, std::string_view bytes) {
  if (!compressor) return {};
  std::string out(libdeflate_gzip_compress_bound(compressor.get(), bytes.size()), '\0');
  out.resize(libdeflate_gzip_compress(compressor.get(), bytes.data(), bytes.size(), out.data(),
                                      out.size()));
  return out;
}

std::string gzip_quickly(std::string_view bytes) {
  thread_local const Compressor compressor(libdeflate_alloc_compressor(1));
  return packed(compressor, bytes);
}

}  // namespace

std::string gzip(std::string_view bytes, int level) {
  return packed(Compressor(libdeflate_alloc_compressor(level)), bytes);
}

bool has_etag(const Call& call, std::string_view etag) {
  const std::string_view wanted = call.header("If-None-Match");
  if (wanted.empty()) return false;
  return wanted == "*" || wanted.find(quoted(etag)) != std::string_view::npos ||
         wanted.find(quoted(std::string(etag) + std::string(kGzipSuffix))) !=
             std::string_view::npos;
}

void encode_reply(const Call& call, Reply& reply) {
  std::string tag = reply.etag;
  const bool could = reply.body->size() > kPacket && compressible(reply.type);
  if (could) {
    reply.headers.emplace_back("Vary", "Accept-Encoding");
    if (takes_gzip(call.header("Accept-Encoding"))) {
      std::string small = gzip_quickly(*reply.body);
      if (!small.empty() && small.size() < reply.body->size()) {
        reply.body = std::make_shared<const std::string>(std::move(small));
        reply.headers.emplace_back("Content-Encoding", "gzip");
        if (!tag.empty()) tag += kGzipSuffix;
      }
    }
  }
  if (!tag.empty()) reply.headers.emplace_back("ETag", quoted(tag));
  reply.headers.emplace_back("Cache-Control", reply.cache);
}

}  // namespace traceglass
