// The only way to make a Trace: rows are added in file order, `finish` sorts, nests, links and
// checks them. The recorder and ingest both end here, so every derived column has one source.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "libtrace/trace.h"

namespace libtrace {

class TraceBuilder {
 public:
  TraceBuilder();
  ~TraceBuilder();
  TraceBuilder(TraceBuilder&&) noexcept;
  TraceBuilder& operator=(TraceBuilder&&) noexcept;

  StringId intern(std::string_view text);

  // One argument of the row being added next; `key` interned. Call order is kept.
  void arg(StringId key, const Value& value);
  void arg(std::string_view key, const Value& value) { arg(intern(key), value); }

  // One complete slice ("X"), with the arguments added since the last row. ns; `pid`, `tid` as
  // text. `category` as written; "" only in a legacy array.
  struct Row {
    std::int64_t start = 0, dur = 0;
    StringId name = 0, category = 0;
    StringId pid = 0, tid = 0;
  };
  void add_slice(const Row& row);
  void begin_slice(const Row& row);  // "B": start, name, category, pid, tid
  void end_slice(std::int64_t at, StringId pid, StringId tid);  // "E"
  void add_instant(const Row& row, char phase);                 // "i", "C": start is its time
  void add_memory(const MemoryEvent& event, StringId pid, StringId tid);
  void add_flow(const Flow& flow, StringId pid, StringId tid);

  // Metadata rows; later ones win.
  void set_process_name(StringId pid, std::string_view name);
  void set_process_labels(StringId pid, std::string_view labels);
  void set_process_sort(StringId pid, std::int64_t index);
  void set_thread_name(StringId pid, StringId tid, std::string_view name);
  void set_thread_sort(StringId pid, StringId tid, std::int64_t index);

  // Top level.
  void set_base_unix_ns(std::int64_t base);  // times given are relative to it
  void set_legacy_array();                   // pid "CPU functions" / "CUDA functions" decide
  void add_device(DeviceProperties properties);
  void set_rank(int rank, bool guessed);
  void set_world_size(int world_size);
  void add_metadata(std::string key, std::string json);
  Report& report();
  [[nodiscard]] std::size_t slice_count() const;

  // Sorts, nests, links, checks. The builder is empty afterwards.
  TracePtr finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace libtrace
