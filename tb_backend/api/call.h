// A request and its answer as the routes see them: no HTTP library, so that they can be called
// from tests and from another front.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tb_backend/api/query.h"

namespace traceglass {

// Who asks, as far as it is known; set by App once the request is let in.
struct Caller {
  bool may_write = true;
  std::string user;       // "": has to say so itself
  bool verified = false;  // `user` is a proxy's word
};

struct Call {
  std::string method = "GET";
  std::string path;       // decoded
  std::string raw_query;  // as sent, without "?"
  Query query;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::string remote;  // address of the other end; "" where there is no connection
  Caller caller;

  [[nodiscard]] bool reads() const { return method == "GET" || method == "HEAD"; }
  // First value, "" if absent; names in any case.
  [[nodiscard]] std::string_view header(std::string_view name) const;
  [[nodiscard]] std::size_t header_count(std::string_view name) const;
};

// An answer without an end. `next` waits for more and appends it; false: it is over.
class ReplyStream {
 public:
  ReplyStream() = default;
  ReplyStream(const ReplyStream&) = delete;
  ReplyStream& operator=(const ReplyStream&) = delete;
  virtual ~ReplyStream() = default;
  virtual bool next(std::string& bytes) = 0;
};

struct Reply {
  int status = 200;
  std::string type = "application/json";
  std::shared_ptr<const std::string> body = std::make_shared<const std::string>();
  std::vector<std::pair<std::string, std::string>> headers;
  std::string etag;  // without quotes; "" when the answer has none
  std::string cache = "no-store";
  std::shared_ptr<ReplyStream> stream;  // instead of a body

  static Reply text(int status, std::string type, std::string body) {
    Reply reply;
    reply.status = status;
    reply.type = std::move(type);
    reply.body = std::make_shared<const std::string>(std::move(body));
    return reply;
  }
};

// Keep, but ask each time whether it changed.
inline constexpr const char* kRevalidate = "no-cache";
// Named by its content: never asked for again.
inline constexpr const char* kImmutable = "private, max-age=31536000, immutable";

}  // namespace traceglass
