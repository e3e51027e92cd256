// Traces with everything in them, index files of them, and files with bytes changed.
#pragma once

#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "libtrace/trace_builder.h"
#include "tb_backend/index/hash.h"
#include "tb_backend/index/layout.h"
#include "tests/libtrace/model/generate.h"

namespace traceglass::index::testing {

// A generated trace and whatever a generator does not make.
inline libtrace::TracePtr full_trace(unsigned seed) {
  using libtrace::Value;
  libtrace::TraceBuilder b;
  libtrace::testing::Generator generator(seed);
  const libtrace::StringId thread = b.intern("5");
  generator.ranges(b, 0, 4000, 0, thread);
  generator.device_rows(b);
  generator.memory_rows(b, 4000);
  const auto row = [&](std::string_view name, std::int64_t start, std::int64_t dur) {
    libtrace::TraceBuilder::Row r;
    r.start = start;
    r.dur = dur;
    r.name = b.intern(name);
    r.category = b.intern("Python_function");
    r.pid = b.intern("100");
    r.tid = thread;
    return r;
  };
  for (int i = 0; i < 200; ++i) b.arg("key " + std::to_string(i), Value::integer(i * i * i));
  b.add_slice(row("many arguments", 10, 400));
  b.arg("null", Value::null());
  b.arg("yes", Value::boolean(true));
  b.arg("least", Value::integer(INT64_MIN));
  b.arg("most", Value::uinteger(UINT64_MAX));
  b.arg("real", Value::real(-1.5e-300));
  b.arg("text", Value::string("ö\n\"\x7f"));
  b.arg("json", Value::json("[1,{\"a\":[]}]"));
  b.add_slice(row("kinds of values", 20, 100));
  b.begin_slice(row("unfinished", 30, 0));
  b.arg("value", Value::real(3.25));
  b.add_instant(row("counter", 40, 0), 'C');
  b.add_instant(row("mark", 50, 0), 'i');
  libtrace::Flow flow;
  flow.id = -7;
  flow.at = 60;
  flow.name = b.intern("fwdbwd");
  b.add_flow(flow, b.intern("100"), thread);
  flow.begin = false;
  b.add_flow(flow, b.intern("nowhere"), thread);
  libtrace::MemoryEvent m;
  m.at = 70;
  m.bytes = -512;
  m.addr = UINT64_MAX;
  m.total_reserved = 1 << 20;
  m.out_of_memory = true;
  b.add_memory(m, b.intern("100"), thread);
  b.set_process_name(b.intern("100"), "python «3»");
  b.set_process_labels(b.intern("100"), "CPU");
  b.set_thread_name(b.intern("100"), thread, "main");
  b.set_thread_sort(b.intern("100"), thread, -3);
  b.set_base_unix_ns(1'700'000'000'000'000'000);
  b.set_rank(3, true);
  b.set_world_size(8);
  libtrace::DeviceProperties device;
  device.id = 1;
  device.name = "A card";
  device.sm_count = 108;
  b.add_device(device);
  b.add_metadata("schemaVersion", "1");
  b.add_metadata("a \"key\"", "{\"b\":[1,2]}");
  b.report().add("repaired", 9, "byte 17");
  b.report().add("incomplete", 1, {}, "The last place is not a row.");
  b.report().add("skipped", 1, "an end without a begin", "Once.");
  return b.finish();
}

inline std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// As a file that the cache would have written.
inline void put_bytes(const std::filesystem::path& file, const std::string& bytes) {
  std::filesystem::remove(file);
  std::ofstream(file, std::ios::binary) << bytes;
  ::chmod(file.c_str(), 0400);
}

inline Header header_of(const std::string& bytes) {
  Header header{};
  std::memcpy(&header, bytes.data(), sizeof header);
  return header;
}
inline std::vector<SectionEntry> table_of(const std::string& bytes) {
  std::vector<SectionEntry> table(header_of(bytes).sections);
  std::memcpy(table.data(), bytes.data() + sizeof(Header), table.size() * sizeof table[0]);
  return table;
}

// Makes all hashes right again, as somebody would who means harm.
inline void sign(std::string& bytes) {
  Header header = header_of(bytes);
  std::vector<SectionEntry> table = table_of(bytes);
  for (SectionEntry& entry : table) {
    std::vector<std::uint64_t> blocks;
    const std::size_t size = entry.count * entry.element_bytes;
    if (entry.offset > bytes.size() || size > bytes.size() - entry.offset) continue;
    for (std::size_t at = 0; at < size; at += kBlock) {
      blocks.push_back(hash_bytes(bytes.data() + entry.offset + at, std::min(kBlock, size - at)));
    }
    entry.hash = hash_of_blocks(blocks);
  }
  std::memcpy(bytes.data() + sizeof(Header), table.data(), table.size() * sizeof table[0]);
  header.hash = 0;
  std::memcpy(bytes.data(), &header, sizeof header);
  header.hash = hash_bytes(bytes.data(), sizeof header + table.size() * sizeof table[0]);
  std::memcpy(bytes.data(), &header, sizeof header);
}

}  // namespace traceglass::index::testing
