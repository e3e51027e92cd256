// cpp-httplib around an App. All of the library's ways to answer by itself (routes by regular
// expression, files, compression) stay unused.
#pragma once

#include <memory>
#include <string>

#include "tb_backend/api/app.h"

namespace traceglass {

class HttpServer {
 public:
  explicit HttpServer(App& app);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // The port it listens on, or 0: the address cannot be had. Port 0 asks for any free one.
  int bind(const std::string& host, int port);
  // Serves until stop().
  void run();
  // From another thread; returns when run() has returned.
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace traceglass
