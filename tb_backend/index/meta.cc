#include "tb_backend/index/meta.h"

#include <algorithm>
#include <climits>
#include <stdexcept>
#include <utility>

#include "tb_backend/index/fields.h"

namespace traceglass::index {
namespace {

using libtrace::DeviceProperties;
using libtrace::Lane;
using libtrace::Report;
using libtrace::ReportEntry;
using libtrace::TraceData;

constexpr std::int64_t kFar = std::int64_t{1} << 62;  // no time of a trace is beyond

void write_lane(FieldWriter& out, const Lane& lane) {
  out.number(static_cast<std::int64_t>(lane.domain));
  for (const std::string* text :
       {&lane.pid, &lane.tid, &lane.process, &lane.thread, &lane.labels}) {
    out.text(*text);
  }
  out.number(lane.process_sort);
  out.number(lane.thread_sort);
  out.number(lane.first);
  out.number(lane.last);
}

Lane read_lane(FieldReader& in) {
  Lane lane;
  lane.domain = static_cast<libtrace::Domain>(in.number(0, 1));
  for (std::string* text : {&lane.pid, &lane.tid, &lane.process, &lane.thread, &lane.labels}) {
    *text = in.text();
  }
  lane.process_sort = in.number();
  lane.thread_sort = in.number();
  lane.first = static_cast<libtrace::EventId>(in.number(0, UINT32_MAX));
  lane.last = static_cast<libtrace::EventId>(in.number(lane.first, UINT32_MAX));
  return lane;
}

void write_device(FieldWriter& out, const DeviceProperties& p) {
  out.number(p.id);
  out.text(p.name);
  for (const auto& field :
       {p.total_memory_bytes, p.sm_count, p.max_threads_per_sm, p.compute_major, p.compute_minor}) {
    out.optional(field);
  }
}

DeviceProperties read_device(FieldReader& in) {
  DeviceProperties p;
  p.id = in.number();
  p.name = in.text();
  for (auto* field : {&p.total_memory_bytes, &p.sm_count, &p.max_threads_per_sm, &p.compute_major,
                      &p.compute_minor}) {
    *field = in.optional<std::int64_t>();
  }
  return p;
}

// Severity and sentence follow from the code: only what was added is kept.
void write_entry(FieldWriter& out, const ReportEntry& entry) {
  Report plain;
  plain.add(entry.code);
  const std::string& sentence = plain.entries()[0].message;
  out.text(entry.code);
  out.number(entry.count);
  out.text(entry.message.size() > sentence.size()
               ? std::string_view(entry.message).substr(sentence.size() + 1)
               : "");
  out.number(static_cast<std::int64_t>(entry.first.size()));
  for (const std::string& place : entry.first) out.text(place);
}

void read_entry(FieldReader& in, Report& report) {
  const std::string code = in.text();
  const std::int64_t count = in.number(1, INT64_MAX);
  const std::string detail = in.text();
  const std::int64_t places = in.number(0, std::min<std::int64_t>(count, Report::kFirst));
  if (report.find(code) != nullptr) throw std::logic_error("a code twice");
  for (std::int64_t i = 0; i < places; ++i) {
    std::string place = in.text();
    if (in.ok()) report.add(code, 1, std::move(place), detail);
  }
  if (in.ok()) report.add(code, count - places, {}, detail);
}

}  // namespace

std::string write_meta(const TraceData& d) {
  FieldWriter out;
  out.number(static_cast<std::int64_t>(d.lanes.size()));
  for (const Lane& lane : d.lanes) write_lane(out, lane);
  out.number(static_cast<std::int64_t>(d.devices.size()));
  for (const DeviceProperties& device : d.devices) write_device(out, device);
  out.number(static_cast<std::int64_t>(d.metadata.size()));
  for (const auto& [key, json] : d.metadata) {
    out.text(key);
    out.text(json);
  }
  out.optional(d.base);
  out.optional(d.rank);
  out.optional(d.world_size);
  out.number(d.rank_guessed ? 1 : 0);
  out.number(d.range.start);
  out.number(d.range.end);
  out.number(static_cast<std::int64_t>(d.report.entries().size()));
  for (const ReportEntry& entry : d.report.entries()) write_entry(out, entry);
  return out.bytes();
}

bool read_meta(std::string_view bytes, TraceData& d) try {
  FieldReader in(bytes);
  constexpr std::size_t kLeastLane = 10 * 8, kLeastDevice = 7 * 8, kLeastEntry = 4 * 8;
  d.lanes.resize(in.count(kLeastLane));
  for (Lane& lane : d.lanes) lane = read_lane(in);
  d.devices.resize(in.count(kLeastDevice));
  for (DeviceProperties& device : d.devices) device = read_device(in);
  d.metadata.resize(in.count(2 * 8));
  for (auto& [key, json] : d.metadata) {
    key = in.text();
    json = in.text();
  }
  d.base = in.optional<std::int64_t>(-kFar, kFar);
  d.rank = in.optional<int>(0, INT_MAX);
  d.world_size = in.optional<int>(0, INT_MAX);
  d.rank_guessed = in.number(0, 1) == 1;
  d.range.start = in.number();
  d.range.end = in.number();
  for (std::size_t n = in.count(kLeastEntry); n > 0 && in.ok(); --n) read_entry(in, d.report);
  return in.ok() && in.at_end();
} catch (const std::logic_error&) {  // a code that this program's report has not
  return false;
}

}  // namespace traceglass::index
