// An App over a log directory of its own, asked without HTTP.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "tb_backend/api/app.h"
#include "tests/tb_backend/logdir/temp_dir.h"

namespace traceglass::testing {

inline std::string small_trace(const std::string& op = "aten::mm") {
  return R"({"schemaVersion": 1, "distributedInfo": {"rank": 3, "world_size": 8},
 "deviceProperties": [{"id": 0, "name": "GPU X"}],
 "traceEvents": [
 {"ph":"X","cat":"user_annotation","name":"ProfilerStep#4","pid":9,"tid":9,"ts":100,"dur":100,"args":{}},
 {"ph":"X","cat":"cpu_op","name":")" +
         op +
         R"(","pid":9,"tid":9,"ts":110,"dur":50,"args":{"Input Dims":[[2,3],[3,4]],"big":9007199254740999}},
 {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":120,"dur":5,"args":{"correlation":1}},
 {"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":150,"dur":20,"args":{"correlation":1,"device":0,"stream":7}},
 {"ph":"X","cat":"python_function","name":"train.py(1): step","pid":9,"tid":9,"ts":105,"dur":90,"args":{"Python id":1}}
 ], "traceName": "x"})";
}

class AppTest : public ::testing::Test {
 protected:
  // Files that appear are seen at once.
  virtual AppOptions options() const {
    AppOptions o;
    o.logdir = single_logdir(logdir_.path().string());
    o.web_dir = web_.path();
    o.notes.path = logdir_.path() / ".traceglass" / "notes.db";
    o.max_age = std::chrono::milliseconds(0);
    o.registry.reload_after = std::chrono::milliseconds(0);
    return o;
  }

  App& app() {
    if (!app_) app_ = std::make_unique<App>(options());
    return *app_;
  }

  Reply ask(std::string path, std::vector<std::pair<std::string, std::string>> headers = {},
            std::string method = "GET") {
    Call call;
    call.method = std::move(method);
    const auto question = path.find('?');
    if (question != std::string::npos) {
      call.raw_query = path.substr(question + 1);
      std::vector<std::pair<std::string, std::string>> values;
      std::string rest = call.raw_query;
      while (!rest.empty()) {
        const auto end = rest.find('&');
        const std::string item = rest.substr(0, end);
        rest = end == std::string::npos ? "" : rest.substr(end + 1);
        const auto equals = item.find('=');
        values.emplace_back(item.substr(0, equals),
                            equals == std::string::npos ? "" : item.substr(equals + 1));
      }
      call.query = Query(std::move(values));
      path.resize(question);
    }
    call.path = std::move(path);
    call.headers = std::move(headers);
    call.headers.emplace_back("Host", "127.0.0.1:6006");
    return app().handle(call);
  }

  static nlohmann::json json(const Reply& reply) { return nlohmann::json::parse(*reply.body); }

  static std::string header(const Reply& reply, std::string_view name) {
    for (const auto& [key, value] : reply.headers) {
      if (key == name) return value;
    }
    return "";
  }

  std::string id_of(const std::string& file) {
    const nlohmann::json runs = json(ask("/api/runs"));
    for (const auto& run : runs["runs"]) {
      for (const auto& worker : run["workers"]) {
        for (const auto& span : worker["spans"]) {
          if (span["file"] == file) return span["id"];
        }
      }
    }
    ADD_FAILURE() << file << " is not listed";
    return "";
  }

  // "api/traces/{id}/" of a file, once its load is over.
  std::string loaded(const std::string& file) {
    const std::string base = "/api/traces/" + id_of(file) + "/";
    while (true) {
      const std::string phase = json(ask(base + "status"))["phase"];
      if (phase == "ready" || phase == "error") return base;
      std::this_thread::yield();
    }
  }

  TempDir logdir_, web_;
  std::unique_ptr<App> app_;
};

}  // namespace traceglass::testing
