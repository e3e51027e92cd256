// Traces by hand, one call a row; times in ns.
#pragma once

#include <string>
#include <string_view>

#include "libtrace/trace_builder.h"

namespace traceglass::testing {

using libtrace::Value;

class Rows {
 public:
  using Row = libtrace::TraceBuilder::Row;

  Rows& op(std::string_view name, int tid, std::int64_t ts, std::int64_t dur) {
    return add("cpu_op", name, "13721", std::to_string(tid), ts, dur);
  }
  Rows& annotation(std::string_view name, int tid, std::int64_t ts, std::int64_t dur) {
    return add("user_annotation", name, "13721", std::to_string(tid), ts, dur);
  }
  Rows& step(int n, int tid, std::int64_t ts, std::int64_t dur) {
    return annotation("ProfilerStep#" + std::to_string(n), tid, ts, dur);
  }
  Rows& runtime(int tid, std::int64_t ts, std::int64_t dur, std::int64_t correlation) {
    b.arg("correlation", Value::integer(correlation));
    return add("cuda_runtime", "cudaLaunchKernel", "13721", std::to_string(tid), ts, dur);
  }
  // Device work on stream 7 of device 0; `correlation` 0: none.
  Rows& device(std::string_view category, std::string_view name, std::int64_t ts, std::int64_t dur,
               std::int64_t correlation = 0) {
    b.arg("device", Value::integer(0));
    if (correlation != 0) b.arg("correlation", Value::integer(correlation));
    return add(category, name, "0", "7", ts, dur);
  }
  Rows& kernel(std::string_view name, std::int64_t ts, std::int64_t dur, std::int64_t c = 0) {
    return device("kernel", name, ts, dur, c);
  }
  Rows& memory(int tid, std::int64_t at, std::int64_t bytes, int device_type, std::uint64_t addr) {
    libtrace::MemoryEvent m;
    m.at = at;
    m.bytes = bytes;
    m.device_type = device_type;
    m.device_id = device_type == 0 ? -1 : 0;
    m.addr = addr;
    b.add_memory(m, b.intern("13721"), b.intern(std::to_string(tid)));
    return *this;
  }
  Rows& arg(std::string_view key, const Value& value) {
    b.arg(key, value);
    return *this;
  }
  Rows& add(std::string_view category, std::string_view name, std::string_view pid,
            std::string_view tid, std::int64_t ts, std::int64_t dur) {
    b.add_slice({ts, dur, b.intern(name), b.intern(category), b.intern(pid), b.intern(tid)});
    return *this;
  }
  libtrace::TracePtr trace() { return b.finish(); }

  libtrace::TraceBuilder b;
};

}  // namespace traceglass::testing
