// The state of a Perfetto stream (tracks, interned texts) and its packets as raw rows.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "proto/perfetto.pb.h"
#include "tb_backend/ingest/document.h"

namespace traceglass {

class PerfettoRows {
 public:
  explicit PerfettoRows(DocumentSink& sink) : sink_(sink) {}

  // False when the packet holds a row that cannot be used.
  bool take(const perfetto::TracePacket& packet);
  // Delivers the slices of threads: their ends are only known, and paired by time, at the end.
  // Returns how many rows could not be used.
  std::int64_t finish();
  [[nodiscard]] std::uint64_t rows() const { return rows_; }

 private:
  using Texts = std::unordered_map<std::uint64_t, std::string>;
  // One a sequence: ids are its own.
  struct Interned {
    Texts categories, names, argument_names, argument_texts, specifications, kernels, launch_names;
  };
  // A begin (index in begins_) or an end (-1).
  struct Mark {
    std::uint64_t at;
    std::int64_t begin;
  };
  struct Track {
    std::string pid, tid;
    std::vector<Mark> marks;
  };
  struct Begin {
    std::size_t offset, length;  // its packet, in packets_
    std::shared_ptr<const Interned> texts;
    std::optional<std::uint64_t> dur;
  };

  void clocks(const perfetto::ClockSnapshot& clocks);
  void track(const perfetto::TrackDescriptor& track);
  static void intern(const perfetto::InternedData& data, Interned& into);
  bool event(const perfetto::TracePacket& packet, const std::shared_ptr<Interned>& texts);
  bool slice(const perfetto::TracePacket& packet, std::string_view phase, const Begin& begin);
  bool pair_by_order(const Track& track);
  void pair(Track& track);
  bool stage(const perfetto::TracePacket& packet, const Interned& texts);
  bool deliver(RawEvent& row);
  void name(std::string_view what, std::string_view pid, std::string_view tid,
            std::string_view value);
  // A value as an argument; texts live in scratch_ until the row is delivered.
  libtrace::Value value(const perfetto::DebugAnnotation& annotation, const Interned& texts);
  void append_json(std::string& out, const perfetto::DebugAnnotation& annotation,
                   const Interned& texts);
  std::string_view keep(std::string text);
  std::string_view time(std::uint64_t ns);  // since the base, as us

  DocumentSink& sink_;
  std::int64_t base_ = 0;
  bool has_base_ = false;
  std::unordered_map<std::uint32_t, std::shared_ptr<Interned>> sequences_;
  std::unordered_map<std::uint64_t, Track> tracks_;
  std::unordered_set<std::string> named_lanes_;
  std::vector<Begin> begins_;
  std::string packets_;
  RawEvent row_;
  std::deque<std::string> scratch_;
  std::uint64_t rows_ = 0;
  std::int64_t bad_ = 0;  // rows that could not be used, found by finish
};

}  // namespace traceglass
