#include "tb_backend/api/report_answers.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

#include "tb_backend/analysis/contents.h"
#include "tb_backend/analysis/step_choice.h"
#include "tb_backend/api/json.h"
#include "tb_backend/timeline/digest.h"

namespace traceglass {
namespace {

using Parameters = std::vector<std::pair<std::string, std::string>>;

// Rows whose details come along, and slices of the shown step.
constexpr std::size_t kDetails = 40, kEvents = 2000;

std::string key_of(const std::string& path, const Parameters& query) {
  std::vector<std::string> lines;
  for (const auto& [name, value] : query) lines.push_back(name + '=' + value);
  std::sort(lines.begin(), lines.end());
  std::string key = path;
  for (const std::string& line : lines) key += '\n' + line;
  return key;
}

}  // namespace

libtrace::TimeRange shown_step(const LoadedTrace& loaded) {
  const std::size_t at = typical_step(loaded.steps);
  if (at == SIZE_MAX) return loaded.trace->range();
  const Step& step = loaded.steps[at];
  return {std::min(step.host.start, step.extended.start),
          std::max(step.host.end, step.extended.end)};
}

// Asks the routes and writes down what they answer.
class ReportAnswers::Writer {
 public:
  Writer(Services& services, const LoadedTrace& loaded) : services_(services), loaded_(loaded) {}

  // Body of the answer, nullptr where there is none (yet: of other ranks). Also kept under
  // `others`.
  std::shared_ptr<const std::string> add(const std::string& path, const Parameters& query,
                                         const std::vector<Parameters>& others = {}) {
    Call call;
    call.path = path;
    call.query = Query(query);
    const Reply reply = route(services_, call, std::string_view(path).substr(5));  // "/api/"
    if (reply.status != 200) return nullptr;
    put(path, query, others, *reply.body);
    return reply.body;
  }
  std::shared_ptr<const std::string> of_trace(const std::string& what, const Parameters& query = {},
                                              const std::vector<Parameters>& others = {}) {
    return add("/api/traces/" + loaded_.file.id + '/' + what, query, others);
  }
  void put(const std::string& path, const Parameters& query, const std::vector<Parameters>& others,
           const std::string& body) {
    Json at = Json::array({key_of(path, query)});
    for (const Parameters& other : others) at.push_back(key_of(path, other));
    text_ += (text_.empty() ? "" : ",\n");
    text_ += "{\"at\":" + dump(at) + ",\"body\":" + body + '}';
  }
  [[nodiscard]] bool empty() const { return text_.empty(); }
  [[nodiscard]] std::string json() const {
    return "{\"format\":1,\"answers\":[\n" + text_ + "\n]}";
  }

 private:
  Services& services_;
  const LoadedTrace& loaded_;
  std::string text_;
};

ReportAnswers::ReportAnswers(Services& services, const LoadedTrace& loaded)
    : services_(services), loaded_(loaded) {
  const StepChoice usual = usual_steps(loaded.steps);
  if (!usual.set_aside) return;
  steps_ = std::to_string(usual.first);
  if (usual.last != usual.first) steps_ += '-' + std::to_string(usual.last);
}

ReportAnswers::Parameters ReportAnswers::chosen(Parameters more) const {
  if (!steps_.empty()) more.emplace_back("steps", steps_);
  return more;
}

std::string ReportAnswers::shell(const std::vector<std::string>& views) const {
  Writer asked(services_, loaded_), out(services_, loaded_);
  // Of the log directory only this trace.
  Json runs = Json::parse(*asked.add("/api/runs", {}));
  // Who is sent a report is not told where its author keeps files.
  runs["logdir"] = std::filesystem::path(runs["logdir"].get<std::string>()).filename().string();
  for (Json& run : runs["runs"]) {
    for (Json& worker : run["workers"]) {
      Json& spans = worker["spans"];
      spans.erase(std::remove_if(spans.begin(), spans.end(),
                                 [&](const Json& span) { return span["id"] != loaded_.file.id; }),
                  spans.end());
    }
    Json& workers = run["workers"];
    workers.erase(std::remove_if(workers.begin(), workers.end(),
                                 [](const Json& worker) { return worker["spans"].empty(); }),
                  workers.end());
  }
  runs["runs"].erase(std::remove_if(runs["runs"].begin(), runs["runs"].end(),
                                    [](const Json& run) { return run["workers"].empty(); }),
                     runs["runs"].end());
  runs["ignored"] = Json::array();
  runs["event_files"] = 0;
  out.put("/api/runs", {}, {}, dump(runs));

  Json meta = Json::parse(*asked.of_trace("meta"));
  for (const std::string view : meta["views"]) {
    if (std::find(views.begin(), views.end(), view) != views.end()) continue;
    meta["missing_views"].push_back(
        {{"view", view}, {"reason", "This report does not hold it; traceglass serve shows it."}});
  }
  meta["views"] = views;
  out.put("/api/traces/" + loaded_.file.id + "/meta", {}, {}, dump(meta));
  // The page asks for parts; here is the whole.
  if (const auto names = asked.of_trace("names")) {
    out.put("/api/traces/" + loaded_.file.id + "/names", {}, {}, *names);
  }
  return out.json();
}

std::vector<AnswerSet> ReportAnswers::views() const {
  std::vector<AnswerSet> sets;
  const std::string t0 = std::to_string(loaded_.trace->range().start);
  const std::string t1 = std::to_string(loaded_.trace->range().end);
  const std::vector<std::string> all = find_contents(*loaded_.trace).views;
  const auto add = [&](const char* view, auto ask) {
    if (std::find(all.begin(), all.end(), view) == all.end()) return;
    Writer writer(services_, loaded_);
    if (ask(writer) && !writer.empty()) sets.push_back({view, writer.json()});
  };
  add("overview", [&](Writer& w) {
    w.of_trace("idle", chosen());
    w.add("/api/metrics/at", {{"id", loaded_.file.id}, {"limit", "6"}});
    return w.of_trace("overview", chosen()) != nullptr;
  });
  add("trace", [&](Writer& w) {
    w.of_trace("busy", {{"n", "2048"}});
    // Of the step that the server chooses; the page asks for it by its position too.
    Writer path(services_, loaded_);
    if (const auto body = path.of_trace("critical-path", chosen())) {
      const Json answer = Json::parse(*body);
      std::vector<Parameters> others;
      if (answer.contains("step")) {
        others.push_back(chosen({{"step", dump(answer["step"]["position"])}}));
      }
      w.put("/api/traces/" + loaded_.file.id + "/critical-path", chosen(), others, *body);
    }
    // The page asks for parts; here is the whole.
    Writer counters(services_, loaded_);
    const auto body = counters.of_trace("counters", {{"t0", t0}, {"t1", t1}, {"n", "4096"}});
    if (body) w.put("/api/traces/" + loaded_.file.id + "/counters", {}, {}, *body);
    return true;
  });
  add("operators", [&](Writer& w) {
    return w.of_trace("operators", chosen({{"group", "name"}, {"kind", "op"}}), {chosen()}) !=
           nullptr;
  });
  add("kernels", [&](Writer& w) {
    return w.of_trace("kernels", chosen({{"group", "name"}}), {chosen()}) != nullptr;
  });
  add("modules", [&](Writer& w) { return w.of_trace("modules", chosen()) != nullptr; });
  add("roofline", [&](Writer& w) {
    w.of_trace("roofline", chosen({{"group", "kernel"}}));
    return w.of_trace("roofline", chosen({{"group", "operator"}})) != nullptr;
  });
  add("memory", [&](Writer& w) {
    const auto body = w.of_trace("memory", chosen());
    if (!body) return false;
    const Json answer = Json::parse(*body);
    for (const Json& device : answer["devices"]) {
      w.of_trace("memory/blocks", {{"type", device["type"]},
                                   {"device", std::to_string(device["id"].get<std::int64_t>())},
                                   {"limit", "2000"}});
    }
    return true;
  });
  return sets;
}

std::vector<AnswerSet> ReportAnswers::extras() const {
  std::vector<AnswerSet> sets = {events()};
  const auto add = [&](const char* path, const Parameters& query) {
    Writer writer(services_, loaded_);
    if (writer.of_trace(path, query)) sets.push_back({"", writer.json()});
  };
  sets.push_back(details("operator", "operators", "name", "name", {{"kind", "op"}}));
  add("kernels", chosen({{"group", "launch"}}));
  add("operators", chosen({{"group", "shape"}, {"kind", "op"}}));
  add("operators", chosen({{"group", "name"}, {"kind", "annotation"}}));
  add("operators", chosen({{"group", "stack"}, {"kind", "op"}}));
  sets.push_back(details("module", "modules", "id", "module", {}));
  return sets;
}

// Of the first rows of a table what a click on them asks for.
AnswerSet ReportAnswers::details(const char* path, const char* list, const char* row_key,
                                 const char* key, const Parameters& more) const {
  Writer writer(services_, loaded_), table(services_, loaded_);
  const auto body = table.of_trace(list, chosen());
  if (!body) return {};
  std::size_t asked = 0;
  const Json answer = Json::parse(*body);
  for (const Json& row : answer["rows"]) {
    if (++asked > kDetails) break;
    const Json& value = row[row_key];
    Parameters query = more;
    query.emplace_back(key, value.is_string() ? value.get<std::string>() : dump(value));
    writer.of_trace(path, chosen(query));
  }
  return {"", writer.empty() ? "" : writer.json()};
}

// What is said of slices when they are selected: those that the verdicts name, and the longest of
// the shown step.
AnswerSet ReportAnswers::events() const {
  Writer writer(services_, loaded_), views(services_, loaded_);
  std::set<libtrace::EventId> ids;
  if (const auto body = views.of_trace("overview", chosen())) {
    const Json answer = Json::parse(*body);
    for (const Json& verdict : answer["verdicts"]) {
      for (const Json& event : verdict["events"]) ids.insert(event.get<libtrace::EventId>());
    }
  }
  for (const libtrace::EventId e : longest_slices(*loaded_.trace, shown_step(loaded_), kEvents)) {
    ids.insert(e);
  }
  for (const libtrace::EventId e : ids) writer.of_trace("events/" + std::to_string(e));
  return {"", writer.empty() ? "" : writer.json()};
}

}  // namespace traceglass
