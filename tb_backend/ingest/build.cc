#include "tb_backend/ingest/build.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>

#include "libtrace/model/whole_number.h"
#include "tb_backend/ingest/numbers.h"

namespace traceglass {

using libtrace::DeviceProperties;
using libtrace::Flow;
using libtrace::MemoryEvent;
using libtrace::StringId;
using libtrace::Value;
using libtrace::whole_number;

namespace {

std::optional<std::int64_t> integer(const Value& value) {
  if (value.type == Value::Type::kInt) return value.i;
  if (value.type == Value::Type::kString) return whole_number(value.text);
  if (value.type == Value::Type::kDouble && value.d > -9e15 && value.d < 9e15) {
    return static_cast<std::int64_t>(value.d);
  }
  return std::nullopt;
}

// Arrows from a launch to its kernel, in every era: the join on `correlation` says the same.
bool is_launch_flow(std::string_view category) {
  return category == "ac2g" || category.starts_with("async") || category == "cpu_to_cuda";
}

// A place of the report: names can be megabytes. Cut between characters.
std::string place_of(std::string_view name) {
  constexpr std::size_t kMost = 120;
  if (name.size() <= kMost) return std::string(name);
  std::size_t cut = kMost;
  while (cut > 0 && (static_cast<unsigned char>(name[cut]) & 0xC0) == 0x80) --cut;
  return std::string(name.substr(0, cut));
}

// "rank-3", "rank_3", "rank3": the number behind `word` (and one of `separators`), -1 without.
int number_behind(std::string_view text, std::string_view word, std::string_view separators) {
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    std::size_t i = at + word.size();
    if (i < text.size() && separators.find(text[i]) != std::string_view::npos) ++i;
    int n = 0;
    const auto [p, error] = std::from_chars(text.data() + i, text.data() + text.size(), n);
    if (error == std::errc() && p != text.data() + i && n >= 0) return n;
  }
  return -1;
}

}  // namespace

int rank_from_name(std::string_view file_name) {
  if (const int n = number_behind(file_name, "rank", "-_"); n >= 0) return n;
  if (const int n = number_behind(file_name, "worker", ""); n >= 0) return n;
  return number_behind(file_name, "TP-", "");
}

bool TraceAssembler::event(RawEvent& e) {
  if (e.ph.size() != 1) return false;
  const char phase = e.ph[0];
  Row row;
  row.name = builder_.intern(e.name);
  const ShapeIds* shape = shape_of(e);
  row.category = shape != nullptr ? shape->category : builder_.intern(e.cat);
  row.pid = builder_.intern(e.pid);
  row.tid = builder_.intern(e.tid);
  if (phase != 'M') {
    const auto start = parse_us_as_ns(e.ts);
    if (!start) return false;
    row.start = *start;
    note_far(*start, e.name);
  }
  switch (phase) {
    case 'X': {
      const auto dur = parse_us_as_ns(e.dur);
      if (!dur) return false;
      row.dur = *dur;
      note_far(*dur, e.name);
      give_args(e);
      builder_.add_slice(row);
      break;
    }
    case 'B':
      give_args(e);
      builder_.begin_slice(row);
      break;
    case 'E':
      builder_.end_slice(row.start, row.pid, row.tid);
      break;
    case 'M':
      if (!name_row(e, row)) return true;
      break;
    case 'i':
    case 'I':
    case 'R':
    case 'C':
      if (phase != 'C' && (e.name == "[memory]" || e.name == "[OutOfMemory]")) {
        memory_row(e, row, e.name == "[OutOfMemory]");
      } else {
        give_args(e);
        builder_.add_instant(row, phase == 'C' ? 'C' : 'i');
      }
      break;
    case 's':
    case 'f':
      flow_row(e, row, phase == 's');
      break;
    default:  // async and object rows, samples: no PyTorch writes them; kept as marks
      give_args(e);
      builder_.add_instant(row, 'i');
      break;
  }
  if (e.repaired) builder_.report().add("repaired", 1, place_of(e.name));
  if ((builder_.slice_count() & 0xFFF) == 0) progress_.events = builder_.slice_count();
  return true;
}

void TraceAssembler::note_far(std::int64_t ns, std::string_view name) {
  if (ns <= -kMaxNs || ns >= kMaxNs) {
    builder_.report().add("far_time", 1, place_of(name));
  }
}

const TraceAssembler::ShapeIds* TraceAssembler::shape_of(const RawEvent& e) {
  if (e.shape < 0) return nullptr;
  const auto i = static_cast<std::size_t>(e.shape);
  if (i >= shapes_.size()) shapes_.resize(i + 1);
  ShapeIds& ids = shapes_[i];
  if (ids.category == libtrace::kNone) {
    ids.category = builder_.intern(e.cat);
    for (const auto& [key, value] : e.args) ids.keys.push_back(builder_.intern(key));
  }
  return &ids;
}

void TraceAssembler::give_args(const RawEvent& e) {
  const ShapeIds* shape = shape_of(e);
  for (std::size_t i = 0; i < e.args.size(); ++i) {
    const auto& [key, value] = e.args[i];
    builder_.arg(shape != nullptr ? shape->keys[i] : builder_.intern(key), value);
  }
}

bool TraceAssembler::name_row(const RawEvent& e, const Row& row) {
  if (e.args.empty()) return false;
  const Value& value = e.args[0].second;
  if (e.name == "process_name") {
    builder_.set_process_name(row.pid, value.text);
  } else if (e.name == "process_labels") {
    builder_.set_process_labels(row.pid, value.text);
  } else if (e.name == "process_sort_index") {
    builder_.set_process_sort(row.pid, integer(value).value_or(0));
  } else if (e.name == "thread_name") {
    builder_.set_thread_name(row.pid, row.tid, value.text);
  } else if (e.name == "thread_sort_index") {
    builder_.set_thread_sort(row.pid, row.tid, integer(value).value_or(0));
  }
  return true;
}

void TraceAssembler::memory_row(const RawEvent& e, const Row& row, bool out_of_memory) {
  MemoryEvent m;
  m.at = row.start;
  m.out_of_memory = out_of_memory;
  for (const auto& [key, value] : e.args) {
    const auto n = integer(value);
    if (key == "Addr") {
      if (value.type == Value::Type::kUint) m.addr = value.u;
      if (n) m.addr = static_cast<std::uint64_t>(*n);
    }
    if (!n) continue;
    if (key == "Bytes") m.bytes = *n;
    if (key == "Total Allocated" || key == "Allocated Bytes") m.total_allocated = n;
    if (key == "Total Reserved") m.total_reserved = n;
    if (key == "Device Type") m.device_type = static_cast<std::int32_t>(*n);
    if (key == "Device Id") m.device_id = static_cast<std::int32_t>(*n);
  }
  builder_.add_memory(m, row.pid, row.tid);
}

void TraceAssembler::flow_row(const RawEvent& e, const Row& row, bool begin) {
  if (is_launch_flow(e.cat)) return;
  Flow flow;
  flow.id =
      whole_number(e.id).value_or(static_cast<std::int64_t>(std::hash<std::string_view>{}(e.id)));
  flow.at = row.start;
  flow.category = row.category;
  flow.name = row.name;
  flow.begin = begin;
  builder_.add_flow(flow, row.pid, row.tid);
}

void TraceAssembler::metadata(std::string_view key, std::string_view json) {
  if (key == "baseTimeNanoseconds") {
    const bool quoted = json.size() > 1 && json.front() == '"';
    if (const auto base = whole_number(quoted ? json.substr(1, json.size() - 2) : json)) {
      builder_.set_base_unix_ns(std::clamp(*base, -kMaxNs, kMaxNs));
      return;
    }
  }
  if (key == "deviceProperties" || key == "computeProperties") devices(json);
  if (key == "distributedInfo") distributed(json);
  const bool events = key == "dropped_events";  // what our own recorder says of itself
  if (events || key == "dropped_traces") {
    if (const auto n = whole_number(json); n && *n > 0)
      builder_.report().add(events ? "dropped_by_recorder" : "dropped_traces", *n);
  }
  builder_.add_metadata(std::string(key), std::string(json));
}

void TraceAssembler::devices(std::string_view json) {
  Tokenizer tokenizer;
  std::vector<std::string_view> objects;
  if (!tokenizer.elements(json, objects)) return;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    DeviceProperties p;
    p.id = static_cast<std::int64_t>(i);
    tokenizer.members(objects[i], [&](std::string_view key, const Value& value) {
      const auto n = integer(value);
      if (key == "name") p.name = value.text;
      if (!n) return;
      if (key == "id") p.id = *n;
      if (key == "totalGlobalMem") p.total_memory_bytes = n;
      if (key == "numSms") p.sm_count = n;
      if (key == "maxThreadsPerMultiprocessor" || key == "maxThreadsPerMultiProcessor") {
        p.max_threads_per_sm = n;
      }
      if (key == "computeMajor" || key == "major") p.compute_major = n;
      if (key == "computeMinor" || key == "minor") p.compute_minor = n;
    });
    builder_.add_device(std::move(p));
  }
}

void TraceAssembler::distributed(std::string_view json) {
  Tokenizer tokenizer;
  tokenizer.members(json, [&](std::string_view key, const Value& value) {
    const auto n = integer(value);
    if (!n || *n < 0 || *n > 1'000'000'000) return;
    if (key == "rank") {
      builder_.set_rank(static_cast<int>(*n), false);
      has_rank_ = true;
    }
    if (key == "world_size") builder_.set_world_size(static_cast<int>(*n));
  });
}

libtrace::TracePtr TraceAssembler::finish(std::string_view file_name) {
  if (!has_rank_) {
    if (const int rank = rank_from_name(file_name); rank >= 0) builder_.set_rank(rank, true);
  }
  progress_.events = builder_.slice_count();
  progress_.building = true;
  return builder_.finish();
}

}  // namespace traceglass
