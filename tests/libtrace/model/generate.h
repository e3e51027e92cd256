// Random traces for property tests: host threads with nested and crossing ranges, devices with
// overlapping streams, linked and unlinked launches, memory, suspects. Deterministic by seed.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "libtrace/trace_builder.h"

namespace libtrace::testing {

struct Generator {
  explicit Generator(unsigned seed) : random(seed) {}

  std::int64_t number(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  }
  bool chance(int percent) { return number(1, 100) <= percent; }

  // A range and, within it or across its end, others.
  void ranges(TraceBuilder& b, std::int64_t start, std::int64_t end, int depth, StringId tid) {
    while (start < end && depth < 6) {
      const std::int64_t from = start + number(0, 20);
      std::int64_t to = from + number(0, (end - start) / 2 + 5);
      if (!chance(8)) to = std::min(to, end);  // sometimes across the end
      const int what = static_cast<int>(number(0, 9));
      TraceBuilder::Row row;
      row.start = from;
      row.dur = to - from;
      row.pid = b.intern("100");
      row.tid = tid;
      if (what < 6) {
        row.name = b.intern("aten::op" + std::to_string(number(0, 5)));
        row.category = b.intern("cpu_op");
        b.arg("External id", Value::integer(++external));
      } else if (what < 8) {
        row.name = b.intern(chance(20) ? "enumerate(DataLoader)#x" : "range");
        row.category = b.intern("user_annotation");
      } else {
        row.name = b.intern("cudaLaunchKernel");
        row.category = b.intern("cuda_runtime");
        b.arg("correlation", Value::integer(++correlation));
        kernel(from);
      }
      b.add_slice(row);
      if (to > from) ranges(b, from, to, depth + 1, tid);
      start = to + number(0, 10);
    }
  }

  void kernel(std::int64_t launched) {
    if (chance(10)) return;  // a launch without a kernel
    const std::int64_t id = chance(10) ? 0 : correlation;
    pending.push_back({launched + number(-2, 60), number(0, 50), id});
  }

  void device_rows(TraceBuilder& b) {
    for (const auto& k : pending) {
      TraceBuilder::Row row;
      row.start = k.start;
      row.dur = chance(2) ? -5 : k.dur;
      const int what = static_cast<int>(number(0, 9));
      row.name = b.intern(what == 0   ? "ncclDevKernel_AllReduce"
                          : what == 1 ? "Memcpy HtoD"
                          : what == 2 ? "Memset (Device)"
                                      : "kernel" + std::to_string(what));
      row.category = b.intern(what == 1 ? "gpu_memcpy" : what == 2 ? "gpu_memset" : "kernel");
      row.pid = b.intern(std::to_string(number(0, 1)));
      row.tid = b.intern(std::to_string(number(7, 9)));
      if (k.id != 0) b.arg("correlation", Value::integer(k.id));
      if (chance(50)) b.arg("est. achieved occupancy %", Value::integer(number(0, 100)));
      b.add_slice(row);
    }
  }

  void memory_rows(TraceBuilder& b, std::int64_t end) {
    for (int i = 0; i < 20; ++i) {
      MemoryEvent m;
      m.at = number(1, end);
      m.bytes = number(-1000, 1000);
      m.addr = static_cast<std::uint64_t>(number(1, 8)) * 16;
      m.total_allocated = number(0, 5000);
      m.device_type = static_cast<std::int32_t>(number(0, 1));
      m.device_id = m.device_type == 0 ? -1 : 0;
      b.add_memory(m, b.intern("100"), b.intern("1"));
    }
  }

  TracePtr trace() {
    TraceBuilder b;
    b.set_base_unix_ns(1'700'000'000'000'000'000);
    std::int64_t at = 10;
    const std::int64_t steps = number(0, 4);
    for (std::int64_t s = 0; s < steps; ++s) {
      TraceBuilder::Row row;
      row.start = at;
      row.dur = number(50, 300);
      row.name = b.intern("ProfilerStep#" + std::to_string(s + 3));
      row.category = b.intern("user_annotation");
      row.pid = b.intern("100");
      row.tid = b.intern("1");
      b.add_slice(row);
      ranges(b, at, at + row.dur, 0, row.tid);
      at += row.dur + number(0, 20);
    }
    ranges(b, 5, at + 100, 0, b.intern("2"));
    device_rows(b);
    memory_rows(b, at);
    return b.finish();
  }

  struct Pending {
    std::int64_t start, dur, id;
  };
  std::mt19937 random;
  std::vector<Pending> pending;
  std::int64_t external = 0, correlation = 1000;
};

}  // namespace libtrace::testing
