// Small traces by hand: rows in us on one process, "main" and other threads, a device.
#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>

#include "libtrace/trace_builder.h"

namespace libtrace::testing {

struct Rows {
  TraceBuilder b;

  // Times in us.
  Rows& host(const char* category, std::string_view name, double start, double dur,
             const char* tid = "1") {
    b.add_slice(
        {ns(start), ns(dur), b.intern(name), b.intern(category), b.intern("1"), b.intern(tid)});
    return *this;
  }
  Rows& op(std::string_view name, double start, double dur, const char* tid = "1") {
    return host("cpu_op", name, start, dur, tid);
  }
  Rows& range(std::string_view name, double start, double dur, const char* tid = "1") {
    return host("user_annotation", name, start, dur, tid);
  }
  Rows& python(std::string_view name, double start, double dur, const char* tid = "1") {
    return host("python_function", name, start, dur, tid);
  }
  // A call that launches, and the work it launched on stream 7 of device 0.
  Rows& launch(std::string_view kernel, double call, double start, double dur,
               const char* category = "kernel") {
    b.arg("correlation", Value::integer(++correlation));
    host("cuda_runtime", "cudaLaunchKernel", call, 1);
    b.arg("correlation", Value::integer(correlation));
    return device(category, kernel, start, dur);
  }
  Rows& device(const char* category, std::string_view name, double start, double dur) {
    b.add_slice(
        {ns(start), ns(dur), b.intern(name), b.intern(category), b.intern("0"), b.intern("7")});
    return *this;
  }
  Rows& memory(double at, std::int64_t bytes, const char* tid = "1", std::int32_t type = 0) {
    MemoryEvent m;
    m.at = ns(at);
    m.bytes = bytes;
    m.device_type = type;
    m.device_id = type == 0 ? -1 : 0;
    b.add_memory(m, b.intern("1"), b.intern(tid));
    return *this;
  }
  // An argument of the next row.
  Rows& json(const char* key, std::string_view text) {
    b.arg(key, Value::json(text));
    return *this;
  }
  Rows& text(const char* key, std::string_view text) {
    b.arg(key, Value::string(text));
    return *this;
  }
  Rows& number(const char* key, std::int64_t n) {
    b.arg(key, Value::integer(n));
    return *this;
  }
  Rows& flag(const char* key) {
    b.add_metadata(key, "1");
    return *this;
  }
  TracePtr finish() { return b.finish(); }

 private:
  static std::int64_t ns(double us) { return std::llround(us * 1000); }
  std::int64_t correlation = 0;
};

}  // namespace libtrace::testing
