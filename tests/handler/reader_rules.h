// What the readers of such files ask of them, as far as a file alone can tell: torch_tb_profiler,
// HTA, Perfetto, viewers in a browser. Each rule names who breaks otherwise.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace libtrace::testing {
namespace detail {

using nlohmann::ordered_json;

class Rules {
 public:
  std::vector<std::string> broken;

  void check(std::string_view text) {
    for (const char c : text) {
      // Perfetto: a raw control character ends the import.
      if (static_cast<unsigned char>(c) < 0x20 && c != '\n') return say("a raw control character");
    }
    ordered_json doc;
    try {
      doc = ordered_json::parse(text);  // and with it: valid UTF-8
    } catch (const std::exception& e) {
      return say(std::string("no JSON: ") + e.what());
    }
    head(doc, text);
    if (!doc.contains("traceEvents")) return;
    for (const ordered_json& e : doc["traceEvents"]) row(e);
    nesting();
    flows();
  }

 private:
  void say(std::string what) {
    if (broken.size() < 20) broken.push_back(std::move(what));
  }
  void need(bool ok, const std::string& what, const ordered_json& e) {
    if (!ok) say(what + ": " + e.dump().substr(0, 300));
  }

  void head(const ordered_json& doc, std::string_view text) {
    // TensorBoard puts counters in by a regular expression.
    if (text.find("\"traceEvents\": [\n{") == text.npos) say("traceEvents stand otherwise");
    bool rows_seen = false;
    for (const auto& [key, value] : doc.items()) {
      // HTA stops reading there.
      if (rows_seen && key != "traceName") say("metadata behind traceEvents: " + key);
      rows_seen = rows_seen || key == "traceEvents";
    }
    if (!rows_seen) say("no traceEvents");
    if (doc.contains("distributedInfo") && doc["distributedInfo"].contains("rank")) {
      // HTA reads lines, by `"rank":\s+(\d+)`.
      const std::string_view metadata = text.substr(0, text.find("traceEvents"));
      const std::size_t rank = metadata.find("\"rank\": ");
      const std::size_t digit = metadata.find_first_not_of(' ', rank + 8);
      if (rank == metadata.npos || digit == metadata.npos || metadata[digit] < '0' ||
          metadata[digit] > '9') {
        say("the rank is not found by text");
      }
    }
  }

  void row(const ordered_json& e) {
    need(e.contains("name") && e["name"].is_string(), "no name (TensorBoard)", e);
    need(e.contains("ph") && e["ph"].is_string(), "no phase", e);
    if (!e.contains("ph") || !e["ph"].is_string()) return;
    // Perfetto: negative process ids become GPU 0.
    if (e.contains("pid") && e["pid"].is_number()) need(e["pid"] >= 0, "negative pid", e);
    const std::string phase = e["ph"];
    if (phase == "X") slice(e);
    if (phase == "s" || phase == "f") flow(e, phase == "s");
    if (phase == "C") {
      const ordered_json args = e.value("args", ordered_json::object());
      for (const auto& [key, value] : args.items()) {
        need(value.is_number() || value.is_null(), "a counter that is no number", e);
      }
    }
  }

  void slice(const ordered_json& e) {
    need(e.contains("cat") && e["cat"].is_string(), "no category (TensorBoard)", e);
    need(e.contains("dur") && e["dur"].is_number() && e["dur"] >= 0, "no duration (Perfetto)", e);
    need(e.contains("ts") && e["ts"].is_number(), "no time", e);
    if (!e.contains("dur") || !e.contains("cat") || !e.contains("ts")) return;
    const auto start = std::llround(e["ts"].get<double>() * 1000);
    const auto dur = std::llround(e["dur"].get<double>() * 1000);
    need(std::pair(start, -dur) >= last_, "rows are not in the order of (ts, -dur)", e);
    last_ = {start, -dur};
    const std::string category = e["cat"];
    const ordered_json args = e.value("args", ordered_json::object());
    const bool on_device = category == "kernel" || category == "gpu_memcpy" ||
                           category == "gpu_memset" || category == "gpu_user_annotation";
    if (on_device) {
      // TensorBoard keeps counters of 64 devices, by pid; HTA takes streams above 0.
      need(e["pid"].is_number_integer() && e["pid"] < 64, "device not below 64", e);
      if (args.contains("device")) need(args["device"] == e["pid"], "pid is not the device", e);
    } else if (category != "Trace" && category != "cuda_sync" && category != "overhead") {
      // TensorBoard: a thread that is text fails; HTA: what has a stream is no host event.
      need(e["tid"].is_number_integer(), "thread is no number (TensorBoard)", e);
      need(!args.contains("stream") || category.starts_with("cuda_"), "host row with a stream", e);
      if (category == "cpu_op" || category == "user_annotation" || category.starts_with("cuda_")) {
        lanes_[{e["pid"].dump(), e["tid"].dump()}].emplace_back(start, start + dur);
      }
    }
    if (args.contains("External id")) {
      // Tools keep it in 32 bits.
      need(args["External id"].is_number_integer() && args["External id"] < (1LL << 31),
           "External id beyond 31 bits", e);
    }
    places_.insert({e["pid"].dump(), e["tid"].dump(), start});
  }

  void flow(const ordered_json& e, bool begin) {
    const auto at = std::llround(e["ts"].get<double>() * 1000);
    const std::string category = e["cat"];
    auto& ends = flows_[{category, e["id"].dump()}];
    // A graph's launch has thousands of kernels; viewers draw every arrow.
    if (!begin && category == "ac2g") {
      need(reached_.insert({e["id"].dump(), e["pid"].dump(), e["tid"].dump()}).second,
           "more than one arrow of a launch to a stream", e);
    }
    (begin ? ends.first : ends.second) += 1;
    ends_.emplace_back(e["pid"].dump(), e["tid"].dump(), at);
    if (!begin) need(e.value("bp", "") == "e", "an arrow's end binds to the next slice", e);
  }

  // Old Perfetto drops what overlaps in part, new versions draw it elsewhere.
  void nesting() {
    for (auto& [lane, spans] : lanes_) {
      std::vector<long long> open;
      for (const auto& [start, end] : spans) {
        while (!open.empty() && open.back() <= start) open.pop_back();
        if (!open.empty() && end > open.back()) say("a partial overlap on thread " + lane.second);
        open.push_back(end);
      }
    }
  }

  void flows() {
    for (const auto& [id, ends] : flows_) {
      if (ends.first != 1 || ends.second < 1) say("an arrow without both ends: " + id.second);
    }
    for (const auto& end : ends_) {
      if (!places_.contains(end)) say("an arrow that ends in no row, thread " + std::get<1>(end));
    }
  }

  std::pair<long long, long long> last_{INT64_MIN, INT64_MIN};
  std::map<std::pair<std::string, std::string>, std::vector<std::pair<long long, long long>>>
      lanes_;
  std::map<std::pair<std::string, std::string>, std::pair<int, int>> flows_;
  std::set<std::tuple<std::string, std::string, std::string>> reached_;
  std::vector<std::tuple<std::string, std::string, long long>> ends_;
  std::set<std::tuple<std::string, std::string, long long>> places_;
};

}  // namespace detail

// Sentences on what is wrong with a trace's JSON text; empty when nothing is.
inline std::vector<std::string> broken_rules(std::string_view text) {
  detail::Rules rules;
  rules.check(text);
  return std::move(rules.broken);
}

}  // namespace libtrace::testing
