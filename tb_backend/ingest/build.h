// Gives rows their meaning: raw rows and top-level keys to TraceBuilder calls.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "libtrace/trace_builder.h"
#include "tb_backend/ingest/document.h"

namespace traceglass {

class TraceAssembler : public DocumentSink {
 public:
  explicit TraceAssembler(IngestProgress& progress) : progress_(progress) {}

  bool event(RawEvent& event) override;
  void legacy_array() override { builder_.set_legacy_array(); }
  void metadata(std::string_view key, std::string_view json) override;

  libtrace::Report& report() { return builder_.report(); }
  // `file_name` gives the rank where the file does not.
  libtrace::TracePtr finish(std::string_view file_name);

 private:
  using Row = libtrace::TraceBuilder::Row;
  // What rows of one shape share, interned once.
  struct ShapeIds {
    libtrace::StringId category = libtrace::kNone;  // kNone: the shape was not met yet
    std::vector<libtrace::StringId> keys;
  };
  const ShapeIds* shape_of(const RawEvent& event);
  void give_args(const RawEvent& event);
  // Of times that were held to the bound.
  void note_far(std::int64_t ns, std::string_view name);
  bool name_row(const RawEvent& event, const Row& row);
  void memory_row(const RawEvent& event, const Row& row, bool out_of_memory);
  void flow_row(const RawEvent& event, const Row& row, bool begin);
  void devices(std::string_view json);
  void distributed(std::string_view json);

  libtrace::TraceBuilder builder_;
  IngestProgress& progress_;
  std::vector<ShapeIds> shapes_;
  bool has_rank_ = false;
};

// The rank that a file name tells ("rank-3…", "worker0…", "…TP-2…"), -1 for none.
int rank_from_name(std::string_view file_name);

}  // namespace traceglass
