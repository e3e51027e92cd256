// Metrics of the log directory, and profiles beside them. Nothing here loads a trace but
// metrics/at, which is about one.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <utility>

#include "tb_backend/api/json.h"
#include "tb_backend/api/metrics_json.h"
#include "tb_backend/api/problem.h"
#include "tb_backend/api/router.h"
#include "tb_backend/metrics/run_clock.h"

namespace traceglass {
namespace {

double real(const Query& query, const char* name, double least, double most, double otherwise) {
  const std::string* text = query.find(name);
  if (text == nullptr) return otherwise;
  double value = 0;
  const char* end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, value);
  if (error != std::errc() || stop != end || !(value >= least && value <= most)) {
    throw BadRequest{name, std::string("Parameter ") + name + " has to be a number in its range."};
  }
  return value;
}

constexpr double kFar = 1e300;

const MetricRun* find_run(const MetricStore::Runs& runs, const std::string& name) {
  const auto it =
      std::find_if(runs.begin(), runs.end(), [&](const MetricRun& r) { return r.name() == name; });
  return it == runs.end() ? nullptr : &*it;
}

// Metric runs whose folder is nearest to a profile's.
std::vector<const MetricRun*> nearest(const MetricStore::Runs& runs, const std::string& profile) {
  std::vector<const MetricRun*> out;
  std::size_t most = 0;
  for (const MetricRun& run : runs) {
    const std::size_t common = common_parts(profile, run.name());
    if (common > most) out.clear();
    most = std::max(most, common);
    if (common == most) out.push_back(&run);
  }
  return out;
}

Reply no_such(const char* what) {
  return problem_reply(
      {404,
       "not_found",
       std::string("There is no such ") + what + " in the log directory (any more).",
       "",
       {}});
}

struct JoinChoice {
  JoinBy by = JoinBy::kClock;
  std::int64_t shift = 0;
  double clock_offset = 0;
};

JoinChoice join_choice(const Call& call) {
  constexpr std::int64_t kMost = std::int64_t{1} << 52U;
  JoinChoice choice;
  if (call.query.choice("by", {"clock", "number"}) == "number") choice.by = JoinBy::kNumber;
  choice.shift = call.query.integer("shift", -kMost, kMost, 0);
  choice.clock_offset = real(call.query, "clock_offset", -1e10, 1e10, 0);
  return choice;
}

Join join_of(RunClock& run, const ProfileClock& clock, const JoinChoice& choice) {
  // Numbers are the steps' own: without steps there is only the clock.
  const JoinBy by = clock.steps.empty() ? JoinBy::kClock : choice.by;
  return find_join(run, clock.joinable(), by, choice.shift, choice.clock_offset);
}

Reply metrics(Services& services, const Call& call, const PathArgs&) {
  const std::string* only = call.query.find("run");
  const std::string* near = call.query.find("near");
  TagChoice choice;
  if (const std::string* filter = call.query.find("filter")) choice.filter = *filter;
  choice.limit = static_cast<std::size_t>(call.query.integer("limit", 0, 100'000, 2000));
  const auto snapshot = services.watcher.snapshot();
  Json out = {{"runs", Json::array()}};
  bool found = only == nullptr;
  services.metrics.follow(snapshot).read([&](const MetricStore::Runs& runs) {
    std::vector<const MetricRun*> related;
    if (near != nullptr) related = nearest(runs, *near);
    for (const MetricRun& run : runs) {
      if (only != nullptr && run.name() != *only) continue;
      found = true;
      const bool is_near = std::find(related.begin(), related.end(), &run) != related.end();
      out["runs"].push_back(metric_run_json(run, is_near, choice));
    }
  });
  return found ? json_reply(out) : no_such("run with event files");
}

Reply series(Services& services, const Call& call, const PathArgs&) {
  const std::string& run_name = call.query.required("run");
  const std::string& tag_name = call.query.required("tag");
  CurveQuery query;
  const std::string axis = call.query.choice("axis", {"step", "wall", "relative"});
  query.axis = axis == "step"   ? MetricAxis::kStep
               : axis == "wall" ? MetricAxis::kWall
                                : MetricAxis::kRelative;
  query.points = static_cast<std::size_t>(call.query.integer("points", 8, 100'000, 2000));
  query.smoothing = real(call.query, "smoothing", 0, 0.9999, 0);
  query.from = real(call.query, "from", -kFar, kFar, query.from);
  query.to = real(call.query, "to", -kFar, kFar, query.to);
  query.superseded = call.query.choice("superseded", {"hide", "show"}) == "show";
  const auto snapshot = services.watcher.snapshot();
  Reply reply = no_such("run with event files");
  services.metrics.follow(snapshot).read([&](const MetricStore::Runs& runs) {
    const MetricRun* run = find_run(runs, run_name);
    if (run == nullptr) return;
    const MetricRun::Tag* tag = run->find(tag_name);
    reply = tag == nullptr ? no_such("tag") : json_reply(series_json(*run, *tag, query));
  });
  return reply;
}

// One mark for the files of one span of a run: ranks are profiled together.
struct Marked {
  const TraceFile* file = nullptr;
  std::size_t workers = 0;
};

std::vector<Marked> marked(const Snapshot& snapshot, const std::string* worker) {
  std::map<std::pair<std::string, int>, Marked> spans;
  for (const TraceFile& file : snapshot.files) {
    Marked& mark = spans[{file.run, file.index}];
    ++mark.workers;
    if (mark.file == nullptr || (worker != nullptr && file.worker == *worker)) mark.file = &file;
  }
  std::vector<Marked> out;
  for (const auto& [span, mark] : spans) out.push_back(mark);
  return out;
}

Reply marks(Services& services, const Call& call, const PathArgs&) {
  const std::string& run_name = call.query.required("run");
  const std::string* worker = call.query.find("worker");
  const JoinChoice choice = join_choice(call);
  const auto limit = static_cast<std::size_t>(call.query.integer("limit", 1, 10'000, 200));
  const auto snapshot = services.watcher.snapshot();
  Reply reply = no_such("run with event files");
  services.metrics.follow(snapshot).read([&](const MetricStore::Runs& runs) {
    const MetricRun* run = find_run(runs, run_name);
    if (run == nullptr) return;
    const auto start = run_start(*run);
    RunClock logged(*run);
    Json list = Json::array();
    std::size_t count = 0;
    for (const Marked& mark : marked(*snapshot, worker)) {
      const auto related = nearest(runs, mark.file->run);
      if (std::find(related.begin(), related.end(), run) == related.end()) continue;
      if (++count > limit) continue;
      const ProfileClock clock = services.metrics.clock(services.registry, *mark.file);
      list.push_back(
          mark_json(*mark.file, mark.workers, clock, join_of(logged, clock, choice), start));
    }
    reply = json_reply({{"run", run_name}, {"marks", std::move(list)}, {"count", count}});
  });
  return reply;
}

// Of the runs nearest to a profile, the one with the most events at its steps.
const MetricRun* best_run(const std::vector<const MetricRun*>& related, const ProfileClock& clock,
                          const JoinChoice& choice) {
  const MetricRun* best = nullptr;
  std::size_t most = 0;
  for (const MetricRun* run : related) {
    RunClock logged(*run);
    const Join join = join_of(logged, clock, choice);
    std::size_t joined = 1;
    for (const JoinedStep& step : join.steps) joined += step.metric_step ? 1 : 0;
    if (joined > most) best = run;
    most = std::max(most, joined);
  }
  return best;
}

Reply values(Services& services, const Call& call, const PathArgs&) {
  const std::string& id = call.query.required("id");
  const std::string* run_name = call.query.find("run");
  const JoinChoice choice = join_choice(call);
  const auto limit = static_cast<std::size_t>(call.query.integer("limit", 1, 1000, 12));
  const auto snapshot = services.watcher.snapshot();
  const TraceFile* file = snapshot->find(id);
  if (file == nullptr) return no_such("trace");
  const LoadStatus status = services.registry.ask(*file);
  if (status.error) return file_error_reply(*file, *status.error);
  if (!status.loaded) return status_reply(*file, status, 202);
  const ProfileClock clock = clock_of(*status.loaded);
  Json out = {{"id", id}, {"related", Json::array()}, {"rows", Json::array()}, {"row_count", 0}};
  bool found = true;
  services.metrics.follow(snapshot).read([&](const MetricStore::Runs& runs) {
    const auto related = nearest(runs, file->run);
    for (const MetricRun* run : related) out["related"].push_back(run->name());
    const MetricRun* run =
        run_name != nullptr ? find_run(runs, *run_name) : best_run(related, clock, choice);
    found = run != nullptr || run_name == nullptr;
    if (run == nullptr) {
      put_join(out, clock, Join{});
      return;
    }
    out["run"] = run->name();
    RunClock logged(*run);
    const Join join = join_of(logged, clock, choice);
    put_join(out, clock, join);
    if (!clock.steps.empty()) put_values(out, *run, join, limit);
  });
  return found ? json_reply(out) : no_such("run with event files");
}

}  // namespace

std::vector<LogdirRoute> metrics_routes() {
  return {{"metrics", metrics},
          {"metrics/series", series},
          {"metrics/marks", marks},
          {"metrics/at", values}};
}

}  // namespace traceglass
