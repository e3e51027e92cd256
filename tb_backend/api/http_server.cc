#include "tb_backend/api/http_server.h"

#include <httplib.h>

#include <algorithm>
#include <atomic>
#include <string_view>
#include <thread>
#include <utility>

#include "tb_backend/api/http_server_workers.h"
#include "tb_backend/api/problem.h"

namespace traceglass {
namespace {

constexpr std::size_t kRequestsPerConnection = 10'000;
constexpr time_t kIdleSeconds = 5;
constexpr std::size_t kLargestBody = std::size_t{512} << 10U;  // a note, escaped, and its place

Call call_of(const httplib::Request& request) {
  Call call;
  call.method = request.method;
  call.path = request.path;
  const auto question = request.target.find('?');
  if (question != std::string::npos) call.raw_query = request.target.substr(question + 1);
  call.query = Query({request.params.begin(), request.params.end()});
  call.headers.assign(request.headers.begin(), request.headers.end());
  call.body = request.body;
  call.remote = request.remote_addr;
  return call;
}

// A header value from a request path could hold a line end: nothing may be split by it.
bool is_one_line(std::string_view value) {
  return std::none_of(value.begin(), value.end(), [](char c) { return c == '\r' || c == '\n'; });
}

enum class Body : std::uint8_t { kNone, kFollows, kUnclear };

// What follows the headers. The library reads no body of GET, HEAD and OPTIONS: it would take it
// for the next request. And where two readings are possible, a proxy may have taken the other one.
Body body_of(const httplib::Request& request) {
  const std::string_view method = request.method;
  const auto lengths = request.get_header_value_count("Content-Length");
  const auto encodings = request.get_header_value_count("Transfer-Encoding");
  const std::string length = request.get_header_value("Content-Length");
  if (encodings == 0 && (lengths == 0 || (lengths == 1 && length == "0"))) return Body::kNone;
  if (method != "POST" && method != "PUT" && method != "PATCH" && method != "DELETE") {
    return Body::kUnclear;
  }
  if (lengths + encodings != 1) return Body::kUnclear;
  if (encodings == 1) {
    return request.get_header_value("Transfer-Encoding") == "chunked" ? Body::kFollows
                                                                      : Body::kUnclear;
  }
  const bool digits =
      std::all_of(length.begin(), length.end(), [](char c) { return c >= '0' && c <= '9'; });
  return digits && !length.empty() ? Body::kFollows : Body::kUnclear;
}

// Refuses, and ends the connection: what comes on it is not known to be a request.
void send_last(const httplib::Request& request, httplib::Response& response) {
  Reply reply = problem_reply({400,
                               "request",
                               "The request has a body that its method has not, or an unclear one.",
                               "",
                               {}});
  add_security_headers(reply);
  response.status = reply.status;
  for (const auto& [name, value] : reply.headers) response.set_header(name, value);
  response.set_header("Connection", "close");
  // The library closes when a content provider says that it failed; it asks none after HEAD.
  const_cast<httplib::Request&>(request).method = "GET";
  const_cast<httplib::Request&>(request).ranges.clear();
  response.set_content_provider(
      reply.body->size(), reply.type,
      [body = reply.body](std::size_t offset, std::size_t length, httplib::DataSink& sink) {
        sink.write(body->data() + offset, length);
        return false;
      });
}

void send(const Reply& reply, httplib::Response& response) {
  response.status = reply.status;
  for (const auto& [name, value] : reply.headers) {
    if (is_one_line(value)) response.set_header(name, value);
  }
  if (reply.stream) {
    response.set_chunked_content_provider(
        reply.type, [stream = reply.stream](std::size_t, httplib::DataSink& sink) {
          std::string bytes;
          try {
            if (stream->next(bytes)) return sink.write(bytes.data(), bytes.size());
          } catch (const std::exception&) {
            return false;  // the answer breaks off, and can be seen to
          }
          sink.done();
          return true;
        });
    return;
  }
  if (reply.body->empty()) {
    response.set_header("Content-Type", reply.type);
    return;
  }
  // A provider, not a string: the library would compress a string itself (brotli, at its slowest),
  // and the body is shared with the cache of files.
  response.set_content_provider(
      reply.body->size(), reply.type,
      [body = reply.body](std::size_t offset, std::size_t length, httplib::DataSink& sink) {
        return sink.write(body->data() + offset, length);
      });
}

}  // namespace

struct HttpServer::Impl {
  explicit Impl(App& a) : app(a) {}

  App& app;
  httplib::Server server;
  std::atomic<bool> entered = false, left = false, stopped = false;
};

HttpServer::HttpServer(App& app) : impl_(new Impl(app)) {
  httplib::Server& server = impl_->server;
  server.new_task_queue = [] { return new WorkerPool; };
  server.set_tcp_nodelay(true);
  // The library's own choice, SO_REUSEPORT, would let two servers share a port by chance.
  server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  server.set_keep_alive_max_count(kRequestsPerConnection);
  server.set_keep_alive_timeout(kIdleSeconds);
  server.set_payload_max_length(kLargestBody);
  server.set_pre_routing_handler(
      [this](const httplib::Request& request, httplib::Response& response) {
        switch (body_of(request)) {
          case Body::kFollows:
            return httplib::Server::HandlerResponse::Unhandled;  // it has to be read first
          case Body::kUnclear:
            send_last(request, response);
            return httplib::Server::HandlerResponse::Handled;
          case Body::kNone:
            break;  // the library would wait for one of POST or DELETE
        }
        // Parts of an answer are not offered; the library would cut them out by itself.
        const_cast<httplib::Request&>(request).ranges.clear();
        send(impl_->app.handle(call_of(request)), response);
        return httplib::Server::HandlerResponse::Handled;
      });
  const httplib::Server::Handler on_error = [this](const httplib::Request& request,
                                                   httplib::Response& response) {
    // Reached by our own problems too: these have their body already.
    if (response.has_header("Content-Type")) return;
    const bool malformed = request.method.empty() || request.target.empty();
    const bool too_long = response.status == 413 || response.status == 414;
    Reply reply;
    if (malformed || too_long) {
      reply = problem_reply({std::max(response.status, 400),
                             "request",
                             "The request cannot be understood or is too long.",
                             "",
                             {}});
      add_security_headers(reply);
    } else {
      reply = impl_->app.handle(call_of(request));
    }
    send(reply, response);
  };
  server.set_error_handler(on_error);
}

HttpServer::~HttpServer() = default;

int HttpServer::bind(const std::string& host, int port) {
  if (port == 0) return std::max(0, impl_->server.bind_to_any_port(host));
  return impl_->server.bind_to_port(host, port) ? port : 0;
}

void HttpServer::run() {
  impl_->entered = true;
  if (!impl_->stopped) impl_->server.listen_after_bind();
  impl_->left = true;
}

// The library forgets a stop that comes before it listens: ask until run() has returned.
void HttpServer::stop() {
  impl_->stopped = true;
  impl_->app.end_streams();
  do {
    impl_->server.stop();
    std::this_thread::yield();
  } while (impl_->entered && !impl_->left);
}

}  // namespace traceglass
