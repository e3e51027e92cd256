// The order and the reasons (who breaks otherwise):
//   all metadata stands before traceEvents     HTA stops reading its head there
//   one row a line, `"traceEvents": [` as is   HTA and TensorBoard's old plugin look for text
//   rows in the order of (ts, -dur)            viewers nest by it
//   one arrow a launch and stream              Perfetto and Chrome draw each
//   an arrow's ends share pid, tid and ts with their slices, and both exist or none
#include "handler/chrome_writer.h"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "handler/json_text.h"
#include "libtrace/model/pieces.h"

namespace libtrace {
namespace {

constexpr std::size_t kRowsAPiece = 4096;

class StringSink final : public ByteSink {
 public:
  Status write(std::string_view bytes) override {
    text += bytes;
    return {};
  }
  Status finish() override { return {}; }
  std::string text;
};

class ChromeWriter {
 public:
  ChromeWriter(const Trace& trace, ByteSink& sink, std::string_view name)
      : trace_(trace), out_(sink), trace_name_(name) {}

  Status write() {
    find_places();
    head();
    out_.raw("\"traceEvents\": [");
    names();
    slices();
    memory();
    instants();
    flows();
    out_.raw("\n]");
    if (!trace_name_.empty() && trace_.metadata("traceName") == nullptr) {
      out_.raw(",\n\"traceName\": ");
      out_.string(trace_name_);
    }
    out_.raw("}\n");
    return out_.finish();
  }

 private:
  // `,"pid":1,"tid":2` of each lane.
  void find_places() {
    StringSink text;
    JsonText json(text);
    for (const Lane& lane : trace_.lanes()) {
      json.raw(",\"pid\":");
      json.id(lane.pid);
      json.raw(",\"tid\":");
      json.id(lane.tid);
      (void)json.finish();
      places_.push_back(std::exchange(text.text, {}));
    }
  }

  void head() {
    out_.raw("{\n");
    bool has_devices = false, has_rank = false;
    for (const auto& [key, json] : trace_.metadata()) {
      has_devices = has_devices || key == "deviceProperties" || key == "computeProperties";
      has_rank = has_rank || key == "distributedInfo";
      top_level(key, json);
    }
    if (!has_devices && !trace_.devices().empty()) devices();
    if (!has_rank && trace_.rank() && !trace_.rank_guessed()) {
      // With a blank behind the colon: HTA finds ranks by `"rank":\s+(\d+)`.
      std::string json = "{\"rank\": " + std::to_string(*trace_.rank());
      if (trace_.world_size()) json += ", \"world_size\": " + std::to_string(*trace_.world_size());
      top_level("distributedInfo", json + "}");
    }
    if (trace_.base_unix_ns()) {
      top_level("baseTimeNanoseconds", std::to_string(*trace_.base_unix_ns()));
    }
  }

  void top_level(std::string_view key, std::string_view json) {
    out_.string(key);
    out_.raw(": ");
    out_.raw(json);
    out_.raw(",\n");
  }

  void devices() {
    out_.raw("\"deviceProperties\": [");
    bool first = true;
    for (const DeviceProperties& d : trace_.devices()) {
      out_.raw(first ? "\n{\"id\": " : ",\n{\"id\": ");
      first = false;
      out_.integer(d.id);
      out_.raw(", \"name\": ");
      out_.string(d.name);
      const auto number = [&](std::string_view key, const std::optional<std::int64_t>& v) {
        if (!v) return;
        out_.raw(key);
        out_.integer(*v);
      };
      number(", \"totalGlobalMem\": ", d.total_memory_bytes);
      number(", \"computeMajor\": ", d.compute_major);
      number(", \"computeMinor\": ", d.compute_minor);
      number(", \"maxThreadsPerMultiprocessor\": ", d.max_threads_per_sm);
      number(", \"numSms\": ", d.sm_count);
      out_.raw("}");
    }
    out_.raw("\n],\n");
  }

  // ---- rows --------------------------------------------------------------------------------
  // Every row ends in close(); commas and lines are made here.
  void open(std::string_view start) {
    out_.raw(first_row_ ? "\n" : ",\n");
    first_row_ = false;
    out_.raw(start);
  }
  void close() {
    out_.raw("}");
    out_.flush_if_large();
  }
  void where(LaneId id) { out_.raw(places_[id]); }
  void at(std::int64_t ns) {
    out_.raw(",\"ts\":");
    out_.microseconds(ns);
  }
  void label(std::string_view category, std::string_view name) {
    if (!category.empty()) {
      out_.raw(",\"cat\":");
      out_.string(category);
    }
    out_.raw(",\"name\":");
    out_.string(name);
  }
  void args(const std::vector<Trace::Arg>& args) {
    if (args.empty()) return;
    std::string_view before = R"(,"args":{)";
    for (const auto& [key, value] : args) {
      out_.raw(before);
      before = ",";
      out_.string(key);
      out_.raw(":");
      out_.value(value);
    }
    out_.raw("}");
  }

  void name_row(std::string_view name, const Lane& lane, bool process, std::string_view key,
                const Value& value) {
    open(R"({"ph":"M","name":)");
    out_.string(name);
    at(trace_.range().start);
    out_.raw(",\"pid\":");
    out_.id(lane.pid);
    out_.raw(",\"tid\":");
    out_.id(process ? std::string_view("0") : lane.tid);
    args({{key, value}});
    close();
  }

  // Names of the processes and threads that have rows, and of no others.
  void names() {
    std::unordered_set<std::string_view> named;
    for (const Lane& lane : trace_.lanes()) {
      if (named.insert(lane.pid).second) {
        if (!lane.process.empty()) {
          name_row("process_name", lane, true, "name", Value::string(lane.process));
        }
        if (!lane.labels.empty()) {
          name_row("process_labels", lane, true, "labels", Value::string(lane.labels));
        }
        if (lane.process_sort != 0) {
          name_row("process_sort_index", lane, true, "sort_index",
                   Value::integer(lane.process_sort));
        }
      }
      if (!lane.thread.empty()) {
        name_row("thread_name", lane, false, "name", Value::string(lane.thread));
      }
      if (lane.thread_sort != 0) {
        name_row("thread_sort_index", lane, false, "sort_index", Value::integer(lane.thread_sort));
      }
    }
  }

  void slices() {
    std::vector<EventId> by_order(trace_.size());
    std::vector<bool> launches(trace_.size()), launches_many(trace_.size());
    run_as_piece([&] {
      for (EventId e = 0; e < trace_.size(); ++e) {
        by_order[trace_.order(e)] = e;
        const EventId launch = trace_.launch(e);
        if (launch == kNone) continue;
        if (launches[launch]) launches_many[launch] = true;
        launches[launch] = true;
      }
    });
    // A graph launches thousands of kernels: an arrow to the first on each stream says it all.
    std::unordered_set<std::uint64_t> reached;  // launch and lane
    run_each_in_pieces(trace_.size(), kRowsAPiece, [&](std::size_t i) {
      const EventId e = by_order[i];
      slice(e);
      if (launches[e]) arrow(e, e);
      const EventId launch = trace_.launch(e);
      if (launch == kNone) return;
      const bool first = !launches_many[launch] ||
                         reached.insert(std::uint64_t{launch} << 32 | trace_.lane_of(e)).second;
      if (first) arrow(launch, e);
    });
  }

  void slice(EventId e) {
    open(R"({"ph":"X")");
    const std::string_view category = trace_.category(e);
    // Readers of torch's profiles expect a category in every slice; a legacy array has none.
    label(category.empty() ? default_category(trace_.kind(e)) : category, trace_.name(e));
    where(trace_.lane_of(e));
    at(trace_.start(e));
    out_.raw(",\"dur\":");
    out_.microseconds(trace_.dur(e));
    trace_.args(e, args_);
    args(args_);
    close();
  }

  static std::string_view default_category(Kind kind) {
    switch (kind) {
      case Kind::kOp:
        return "cpu_op";
      case Kind::kAnnotation:
        return "user_annotation";
      case Kind::kKernel:
        return "kernel";
      default:
        return "";
    }
  }

  // One end of the arrow from a launch to its device work: `s` at the launch, `f` at the work.
  void arrow(EventId launch, EventId end) {
    const bool begin = launch == end;
    open(begin ? R"({"ph":"s","id":)" : R"({"ph":"f","id":)");
    out_.integer(trace_.int_arg(launch, "correlation").value_or(0));
    out_.raw(R"(,"cat":"ac2g","name":"ac2g")");
    where(trace_.lane_of(end));
    at(trace_.start(end));
    if (!begin) out_.raw(R"(,"bp":"e")");
    close();
  }

  void memory() {
    run_each_in_pieces(trace_.memory().size(), kRowsAPiece, [this](std::size_t i) {
      const MemoryEvent& m = trace_.memory()[i];
      open(R"({"ph":"i","cat":"cpu_instant_event","s":"t","name":)");
      out_.raw(m.out_of_memory ? R"("[OutOfMemory]")" : R"("[memory]")");
      where(m.lane);
      at(m.at);
      out_.raw(R"(,"args":{"Bytes":)");
      out_.integer(m.bytes);
      if (m.addr) {
        out_.raw(R"(,"Addr":)");
        out_.unsigned_integer(*m.addr);
      }
      if (m.total_allocated) {
        out_.raw(R"(,"Total Allocated":)");
        out_.integer(*m.total_allocated);
      }
      if (m.total_reserved) {
        out_.raw(R"(,"Total Reserved":)");
        out_.integer(*m.total_reserved);
      }
      out_.raw(R"(,"Device Type":)");
      out_.integer(m.device_type);
      out_.raw(R"(,"Device Id":)");
      out_.integer(m.device_id);
      out_.raw("}");
      close();
    });
  }

  void instants() {
    run_each_in_pieces(trace_.instants().size(), kRowsAPiece, [this](std::size_t n) {
      const Instant& i = trace_.instants()[n];
      if (i.phase == 'C') {
        open(R"({"ph":"C")");
      } else {
        open(i.category == 0 ? R"({"ph":"i","s":"g")" : R"({"ph":"i","s":"t")");
      }
      label(trace_.text(i.category), trace_.text(i.name));
      where(i.lane);
      at(i.at);
      args(trace_.args_at(i.args));
      close();
    });
  }

  void flows() {
    run_each_in_pieces(trace_.flows().size(), kRowsAPiece, [this](std::size_t i) {
      const Flow& f = trace_.flows()[i];
      if (f.lane == kNone) return;  // points at no row: nothing to draw an arrow to
      open(f.begin ? R"({"ph":"s","id":)" : R"({"ph":"f","id":)");
      out_.integer(f.id);
      label(trace_.text(f.category), trace_.text(f.name));
      where(f.lane);
      at(f.at);
      if (!f.begin) out_.raw(R"(,"bp":"e")");
      close();
    });
  }

  const Trace& trace_;
  JsonText out_;
  std::string_view trace_name_;
  std::vector<std::string> places_;  // by lane
  std::vector<Trace::Arg> args_;     // of the slice at hand
  bool first_row_ = true;
};

}  // namespace

Status write_chrome_trace(const Trace& trace, ByteSink& sink, std::string_view trace_name) {
  return ChromeWriter(trace, sink, trace_name).write();
}

}  // namespace libtrace
