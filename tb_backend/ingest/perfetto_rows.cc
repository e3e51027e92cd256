#include "tb_backend/ingest/perfetto_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "libtrace/model/utf8.h"
#include "libtrace/model/whole_number.h"
#include "tb_backend/ingest/text.h"

namespace traceglass {

using libtrace::Value;
using perfetto::DebugAnnotation;
using perfetto::TrackEvent;

namespace {

constexpr std::uint32_t kBootClock = 6;
constexpr std::uint32_t kStateCleared = 1;

// Bytes as valid UTF-8.
std::string utf8(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  while (!bytes.empty()) {
    const std::size_t n = libtrace::utf8_sequence(bytes);
    if (n == 0) out += libtrace::kReplacement;
    out.append(bytes.substr(0, n));
    bytes.remove_prefix(std::max<std::size_t>(n, 1));
  }
  return out;
}

std::string_view find(const std::unordered_map<std::uint64_t, std::string>& texts,
                      std::uint64_t id) {
  const auto it = texts.find(id);
  return it == texts.end() ? std::string_view() : std::string_view(it->second);
}

// A GPU stage as the category that JSON gives it.
std::string_view category_of_stage(std::string_view stage) {
  static constexpr std::pair<std::string_view, std::string_view> kStages[] = {
      {"Kernel", "kernel"},          {"Memcpy", "gpu_memcpy"},
      {"Memset", "gpu_memset"},      {"Annotation", "gpu_user_annotation"},
      {"EventRecord", "cuda_event"},
  };
  for (const auto& [name, category] : kStages) {
    if (stage == name) return category;
  }
  return stage;
}

// Names of figures as JSON has them.
std::string_view key_of(std::string_view name) {
  static constexpr std::pair<std::string_view, std::string_view> kKeys[] = {
      {"device id", "device"},
      {"context id", "context"},
      {"stream id", "stream"},
      {"registers_per_thread", "registers per thread"},
      {"shared_mem_dynamic", "shared memory"},
  };
  for (const auto& [other, key] : kKeys) {
    if (name == other) return key;
  }
  return name;
}

Value unsigned_value(std::uint64_t n) {
  return n > INT64_MAX ? Value::uinteger(n) : Value::integer(static_cast<std::int64_t>(n));
}

std::string microseconds(std::uint64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }

std::string dim3(const perfetto::GpuRenderStageEvent::Dim3& d) {
  return fmt::format("[{}, {}, {}]", d.x(), d.y(), d.z());
}

}  // namespace

bool PerfettoRows::take(const perfetto::TracePacket& packet) {
  std::shared_ptr<Interned>& texts = sequences_[packet.trusted_packet_sequence_id()];
  if (!texts || (packet.sequence_flags() & kStateCleared) != 0) {
    texts = std::make_shared<Interned>();
  }
  if (packet.has_clock_snapshot()) clocks(packet.clock_snapshot());
  if (packet.has_interned_data()) intern(packet.interned_data(), *texts);
  if (packet.has_track_descriptor()) track(packet.track_descriptor());
  if (packet.has_track_event()) return event(packet, texts);
  if (packet.has_gpu_render_stage_event()) return stage(packet, *texts);
  return true;
}

void PerfettoRows::clocks(const perfetto::ClockSnapshot& snapshot) {
  for (const auto& clock : snapshot.clocks()) {
    if (has_base_ || clock.clock_id() != kBootClock || clock.timestamp() > INT64_MAX) continue;
    base_ = static_cast<std::int64_t>(clock.timestamp());
    has_base_ = true;
    sink_.metadata("baseTimeNanoseconds", std::to_string(base_));
  }
}

void PerfettoRows::track(const perfetto::TrackDescriptor& descriptor) {
  Track& t = tracks_[descriptor.uuid()];
  if (descriptor.has_process()) {
    t.pid = std::to_string(descriptor.process().pid());
    name("process_name", t.pid, "", utf8(descriptor.process().process_name()));
    return;
  }
  if (descriptor.has_thread()) {
    t.pid = std::to_string(descriptor.thread().pid());
    t.tid = std::to_string(descriptor.thread().tid());
    name("thread_name", t.pid, t.tid, utf8(descriptor.thread().thread_name()));
    return;
  }
  if (const auto parent = tracks_.find(descriptor.parent_uuid()); parent != tracks_.end()) {
    tracks_[descriptor.uuid()].pid = parent->second.pid;
  }
  tracks_[descriptor.uuid()].tid =
      descriptor.name().empty() ? std::to_string(descriptor.uuid()) : utf8(descriptor.name());
}

void PerfettoRows::intern(const perfetto::InternedData& data, Interned& into) {
  const auto all = [](const auto& list, Texts& texts) {
    for (const auto& one : list) texts[one.iid()] = utf8(one.str());
  };
  all(data.event_categories(), into.categories);
  all(data.event_names(), into.names);
  all(data.debug_annotation_names(), into.argument_names);
  all(data.debug_annotation_string_values(), into.argument_texts);
  all(data.launch_argument_names(), into.launch_names);
  for (const auto& s : data.gpu_specifications()) into.specifications[s.iid()] = utf8(s.name());
  for (const auto& k : data.kernels()) into.kernels[k.iid()] = utf8(k.name());
}

bool PerfettoRows::event(const perfetto::TracePacket& packet,
                         const std::shared_ptr<Interned>& texts) {
  const TrackEvent& e = packet.track_event();
  const auto track = tracks_.find(e.track_uuid());
  if (track == tracks_.end()) return false;
  switch (e.type()) {
    case TrackEvent::SLICE_BEGIN: {
      const std::size_t offset = packets_.size();
      if (!packet.AppendToString(&packets_)) return false;
      track->second.marks.push_back(
          {packet.timestamp(), static_cast<std::int64_t>(begins_.size())});
      begins_.push_back({offset, packets_.size() - offset, texts, {}});
      ++rows_;
      return true;
    }
    case TrackEvent::SLICE_END:
      track->second.marks.push_back({packet.timestamp(), -1});
      return true;
    case TrackEvent::INSTANT:
      return slice(packet, "i", {0, 0, texts, {}});
    default:
      return true;  // counters: PyTorch writes none
  }
}

// PyTorch writes runs of begins, each followed by their ends in the same order, whatever the times:
// the n-th end is the n-th begin's, even where ranges cross. False where a track is not so, or is
// in order of time as a live recording is.
bool PerfettoRows::pair_by_order(const Track& track) {
  const std::vector<Mark>& marks = track.marks;
  if (std::is_sorted(marks.begin(), marks.end(),
                     [](const Mark& a, const Mark& b) { return a.at < b.at; })) {
    return false;
  }
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t i = 0; i < marks.size();) {
    const std::size_t first = i;
    while (i < marks.size() && marks[i].begin >= 0) ++i;
    const std::size_t count = i - first;
    if (count == 0 || marks.size() - i < count) return false;
    for (std::size_t k = 0; k < count; ++k, ++i) {
      if (marks[i].begin >= 0 || marks[i].at < marks[first + k].at) return false;
      pairs.emplace_back(first + k, i);
    }
  }
  for (const auto& [begin, end] : pairs) {
    begins_[static_cast<std::size_t>(marks[begin].begin)].dur = marks[end].at - marks[begin].at;
  }
  return true;
}

// Else an end closes what began last on its track, by time; of equal times the file's order counts.
void PerfettoRows::pair(Track& track) {
  if (pair_by_order(track)) return;
  std::stable_sort(track.marks.begin(), track.marks.end(),
                   [](const Mark& a, const Mark& b) { return a.at < b.at; });
  std::vector<Mark> open;
  for (const Mark& mark : track.marks) {
    if (mark.begin >= 0) {
      open.push_back(mark);
    } else if (!open.empty()) {
      begins_[static_cast<std::size_t>(open.back().begin)].dur = mark.at - open.back().at;
      open.pop_back();
    } else {
      ++bad_;
    }
  }
}

std::int64_t PerfettoRows::finish() {
  for (auto& [id, track] : tracks_) pair(track);
  perfetto::TracePacket packet;
  for (const Begin& begin : begins_) {
    const bool good =
        packet.ParseFromArray(packets_.data() + begin.offset, static_cast<int>(begin.length)) &&
        slice(packet, begin.dur ? "X" : "B", begin);
    if (!good) ++bad_;
  }
  return bad_;
}

bool PerfettoRows::slice(const perfetto::TracePacket& packet, std::string_view phase,
                         const Begin& begin) {
  const TrackEvent& e = packet.track_event();
  const Interned& texts = *begin.texts;
  const Track& track = tracks_[e.track_uuid()];
  row_.clear();
  row_.ph = phase;
  row_.pid = track.pid;
  row_.tid = track.tid;
  row_.ts = time(packet.timestamp());
  if (begin.dur) row_.dur = keep(microseconds(*begin.dur));
  row_.name = e.has_name() ? keep(utf8(e.name())) : find(texts.names, e.name_iid());
  if (e.category_iids_size() > 0) {
    row_.cat = find(texts.categories, e.category_iids(0));
  } else if (e.categories_size() > 0) {
    row_.cat = keep(utf8(e.categories(0)));
  }
  for (const DebugAnnotation& a : e.debug_annotations()) {
    const std::string_view key =
        a.has_name() ? keep(utf8(a.name())) : find(texts.argument_names, a.name_iid());
    row_.args.emplace_back(key, value(a, texts));
  }
  return deliver(row_);
}

bool PerfettoRows::stage(const perfetto::TracePacket& packet, const Interned& texts) {
  const perfetto::GpuRenderStageEvent& e = packet.gpu_render_stage_event();
  ++rows_;
  row_.clear();
  row_.ph = "X";
  row_.ts = time(packet.timestamp());
  row_.dur = keep(microseconds(e.duration()));
  row_.cat = category_of_stage(find(texts.specifications, e.stage_iid()));
  row_.name = find(texts.names, e.name_iid());
  if (row_.name.empty()) row_.name = find(texts.kernels, e.kernel_iid());
  if (row_.name.empty()) row_.name = find(texts.specifications, e.stage_iid());  // copies have none
  row_.pid = keep(std::to_string(e.gpu_id()));
  const std::string_view queue = find(texts.specifications, e.hw_queue_iid());
  for (const auto& extra : e.extra_data()) {
    const std::string_view key = key_of(keep(utf8(extra.name())));
    const std::string_view text = keep(utf8(extra.value()));
    const auto number = libtrace::whole_number(text);
    if (key == "stream") row_.tid = text;
    row_.args.emplace_back(key, number ? Value::integer(*number) : Value::string(text));
  }
  if (row_.tid.empty()) row_.tid = queue;
  if (e.has_launch()) {
    row_.args.emplace_back("grid", Value::json(keep(dim3(e.launch().grid_size()))));
    row_.args.emplace_back("block", Value::json(keep(dim3(e.launch().workgroup_size()))));
    for (const auto& a : e.launch().args()) {
      row_.args.emplace_back(key_of(find(texts.launch_names, a.name_iid())),
                             unsigned_value(a.value()));
    }
  }
  if (named_lanes_.emplace(fmt::format("{} {}", row_.pid, row_.tid)).second) {
    RawEvent kept = std::move(row_);
    row_ = {};
    name("process_labels", kept.pid, "", fmt::format("GPU {}", kept.pid));
    // "[7] stream 7"
    const std::size_t words = queue.starts_with('[') ? queue.find("] ") : std::string_view::npos;
    name("thread_name", kept.pid, kept.tid,
         words == std::string_view::npos ? queue : queue.substr(words + 2));
    row_ = std::move(kept);
  }
  return deliver(row_);
}

bool PerfettoRows::deliver(RawEvent& row) {
  const bool good = sink_.event(row);
  scratch_.clear();
  return good;
}

void PerfettoRows::name(std::string_view what, std::string_view pid, std::string_view tid,
                        std::string_view value) {
  if (value.empty()) return;
  RawEvent row;
  row.ph = "M";
  row.name = what;
  row.pid = pid;
  row.tid = tid;
  row.args.emplace_back("name", Value::string(value));
  sink_.event(row);
}

Value PerfettoRows::value(const DebugAnnotation& a, const Interned& texts) {
  if (a.has_bool_value()) return Value::boolean(a.bool_value());
  if (a.has_int_value()) return Value::integer(a.int_value());
  if (a.has_uint_value()) return unsigned_value(a.uint_value());
  if (a.has_double_value()) {
    return std::isfinite(a.double_value()) ? Value::real(a.double_value()) : Value::null();
  }
  if (a.has_string_value()) return Value::string(keep(utf8(a.string_value())));
  if (a.has_legacy_json_value()) return Value::string(keep(utf8(a.legacy_json_value())));
  if (a.has_string_value_iid())
    return Value::string(find(texts.argument_texts, a.string_value_iid()));
  std::string json;
  append_json(json, a, texts);
  return Value::json(keep(std::move(json)));
}

// Recursion is bounded by the parser: messages nest at most 100 deep.
void PerfettoRows::append_json(std::string& out, const DebugAnnotation& a, const Interned& texts) {
  if (a.has_bool_value()) {
    out += a.bool_value() ? "true" : "false";
  } else if (a.has_int_value()) {
    out += std::to_string(a.int_value());
  } else if (a.has_uint_value()) {
    out += std::to_string(a.uint_value());
  } else if (a.has_double_value()) {
    out += std::isfinite(a.double_value()) ? fmt::format("{}", a.double_value()) : "null";
  } else if (a.has_string_value() || a.has_legacy_json_value()) {
    append_quoted(out, utf8(a.has_string_value() ? a.string_value() : a.legacy_json_value()));
  } else if (a.has_string_value_iid()) {
    append_quoted(out, find(texts.argument_texts, a.string_value_iid()));
  } else if (a.dict_entries_size() > 0) {
    const char* separator = "{";
    for (const DebugAnnotation& entry : a.dict_entries()) {
      out += std::exchange(separator, ", ");
      append_quoted(out, entry.has_name()
                             ? utf8(entry.name())
                             : std::string(find(texts.argument_names, entry.name_iid())));
      out += ": ";
      append_json(out, entry, texts);
    }
    out += '}';
  } else {  // nothing set: an empty list
    out += '[';
    const char* separator = "";
    for (const DebugAnnotation& element : a.array_values()) {
      out += std::exchange(separator, ", ");
      append_json(out, element, texts);
    }
    out += ']';
  }
}

std::string_view PerfettoRows::keep(std::string text) {
  return scratch_.emplace_back(std::move(text));
}

std::string_view PerfettoRows::time(std::uint64_t ns) {
  const std::int64_t since =
      static_cast<std::int64_t>(std::min<std::uint64_t>(ns, INT64_MAX)) - base_;
  const std::uint64_t size =
      since < 0 ? -static_cast<std::uint64_t>(since) : static_cast<std::uint64_t>(since);
  return keep((since < 0 ? "-" : "") + microseconds(size));
}

}  // namespace traceglass
