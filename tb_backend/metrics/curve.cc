#include "tb_backend/metrics/curve.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace traceglass {
namespace {

constexpr double kGap = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kMostLines = 16;
constexpr std::size_t kGapSample = 10'000;  // distances that a median is taken of

struct Sample {
  double x = 0, smooth = kGap;
  MetricPoint point;
};

void push(CurveLine& line, const Sample& s, bool smoothing) {
  line.x.push_back(s.x);
  line.step.push_back(s.point.step);
  line.wall_time.push_back(s.point.wall_time);
  line.value.push_back(std::isfinite(s.point.value) ? s.point.value : kGap);
  if (smoothing) line.smooth.push_back(s.smooth);
}

// Passes one line's points on, at most five for each stretch of the axis.
class Decimator {
 public:
  Decimator(CurveLine& line, bool smoothing, double from, double to, std::size_t stretches)
      : line_(line), smoothing_(smoothing), from_(from), scale_(0), stretches_(stretches) {
    if (stretches > 0 && to > from) scale_ = static_cast<double>(stretches) / (to - from);
  }

  void add(const Sample& s) {
    if (stretches_ == 0) {
      push(line_, s, smoothing_);
      return;
    }
    // Of a range of next to no width the scale is infinite, and 0 times that no number.
    const double place = (s.x - from_) * scale_;
    const auto stretch =
        static_cast<std::size_t>(place > 0 ? std::min(place, double(stretches_)) : 0.0);
    if (held_ > 0 && stretch != stretch_) flush();
    stretch_ = stretch;
    last_ = {held_, s};
    if (held_ == 0) first_ = last_;
    if (!std::isfinite(s.point.value)) {
      if (!gap_.set) gap_ = last_;
    } else {
      if (!least_.set || s.point.value < least_.sample.point.value) least_ = last_;
      if (!greatest_.set || s.point.value > greatest_.sample.point.value) greatest_ = last_;
    }
    ++held_;
  }

  void flush() {
    std::array<const Held*, 5> kept{&first_, &least_, &greatest_, &gap_, &last_};
    std::sort(kept.begin(), kept.end(),
              [](const Held* a, const Held* b) { return a->order < b->order; });
    const Held* before = nullptr;
    for (const Held* held : kept) {
      if (!held->set || (before != nullptr && before->order == held->order)) continue;
      push(line_, held->sample, smoothing_);
      before = held;
    }
    first_ = least_ = greatest_ = gap_ = last_ = {};
    held_ = 0;
  }

 private:
  struct Held {
    Held() = default;
    Held(std::size_t at, const Sample& s) : order(at), sample(s), set(true) {}
    std::size_t order = 0;
    Sample sample;
    bool set = false;
  };

  CurveLine& line_;
  const bool smoothing_;
  const double from_;
  double scale_;
  const std::size_t stretches_;
  std::size_t held_ = 0, stretch_ = 0;
  Held first_, least_, greatest_, gap_, last_;
};

double x_of(const MetricPoint& p, MetricAxis axis, double origin) {
  if (axis == MetricAxis::kStep) return static_cast<double>(p.step);
  return axis == MetricAxis::kWall ? p.wall_time : p.wall_time - origin;
}

// What one pass over the points tells, before any is passed on.
struct Extent {
  double least = kGap, greatest = kGap;  // of x, in the range
  std::uint64_t in_range = 0;
  std::array<std::size_t, 2> lines{};  // live and superseded ones
  std::vector<double> gaps;
};

class CurveMaker {
 public:
  CurveMaker(const MetricRun& run, const MetricRun::Tag& tag, const CurveQuery& query)
      : run_(run), tag_(tag), query_(query) {
    if (query.axis == MetricAxis::kRelative) origin_ = run_start(run).value_or(0);
  }

  Curve make() {
    measure();
    curve_.reordered = extent_.lines[0] + extent_.lines[1] > kMostLines;
    if (extent_.in_range == 0) return std::move(curve_);
    // A stretch keeps five points at most, usually three or four.
    stretches_ =
        extent_.in_range <= query_.points
            ? 0
            : std::max<std::size_t>(1, query_.points / 4 / (curve_.reordered ? 1 : lines_in_all()));
    curve_.reordered ? draw_in_order() : draw();
    return std::move(curve_);
  }

 private:
  [[nodiscard]] std::size_t lines_in_all() const {
    return std::max<std::size_t>(1, extent_.lines[0] + extent_.lines[1]);
  }
  [[nodiscard]] bool shown(bool superseded) const { return !superseded || query_.superseded; }
  [[nodiscard]] bool in_range(double x) const { return x >= query_.from && x <= query_.to; }

  void measure() {
    std::array<double, 2> last{kGap, kGap};
    double last_time = kGap;
    std::uint64_t most_gaps = 0;
    for (const MetricRun::Part& part : tag_.parts) most_gaps += part.points->points.size();
    const std::uint64_t every = 1 + most_gaps / kGapSample;
    std::uint64_t n = 0;
    run_.for_each(tag_, [&](const MetricPoint& p, bool superseded) {
      if (superseded) ++curve_.superseded;
      if (!std::isfinite(p.value)) ++curve_.not_finite;
      if (!shown(superseded)) return;
      const double x = x_of(p, query_.axis, origin_);
      if (++n % every == 0 && !superseded && p.wall_time > last_time) {
        extent_.gaps.push_back(p.wall_time - last_time);
      }
      last_time = p.wall_time;
      double& before = last[superseded ? 1 : 0];
      if (!(x >= before)) ++extent_.lines[superseded ? 1 : 0];
      before = x;
      if (!in_range(x)) return;
      if (extent_.in_range++ == 0) extent_.least = extent_.greatest = x;
      extent_.least = std::min(extent_.least, x);
      extent_.greatest = std::max(extent_.greatest, x);
    });
    for (const MetricRun::Part& part : tag_.parts) curve_.count += part.points->count;
    curve_.in_range = extent_.in_range;
    if (!extent_.gaps.empty()) {
      const auto middle =
          extent_.gaps.begin() + static_cast<std::ptrdiff_t>(extent_.gaps.size() / 2);
      std::nth_element(extent_.gaps.begin(), middle, extent_.gaps.end());
      curve_.median_gap_s = *middle;
    }
  }

  // One pen for live points and one for superseded ones; a pen starts a new line when x goes back.
  struct Pen {
    std::unique_ptr<CurveLine> line;
    std::optional<Decimator> decimator;
    std::optional<Smoother> smoother;
    double last = kGap;
    std::optional<Sample> outside;  // the last point before the range: lines reach the edge
    bool beyond = false;            // the first one behind it was taken
  };

  void start(Pen& pen, bool superseded) {
    finish(pen);
    pen.line = std::make_unique<CurveLine>();
    pen.line->superseded = superseded;
    pen.decimator.emplace(*pen.line, query_.smoothing > 0, extent_.least, extent_.greatest,
                          stretches_);
    pen.smoother.emplace(query_.smoothing);
    pen.outside.reset();
    pen.beyond = false;
  }

  void finish(Pen& pen) {
    if (!pen.line) return;
    if (stretches_ > 0) pen.decimator->flush();
    if (!pen.line->x.empty()) curve_.lines.push_back(std::move(*pen.line));
    pen.line.reset();
  }

  void put(Pen& pen, const Sample& s) {
    if (in_range(s.x)) {
      if (pen.outside) push(*pen.line, *pen.outside, query_.smoothing > 0);
      pen.outside.reset();
      pen.decimator->add(s);
    } else if (s.x < query_.from) {
      pen.outside = s;
    } else if (!pen.beyond && !pen.line->x.empty()) {
      pen.beyond = true;
      if (stretches_ > 0) pen.decimator->flush();
      push(*pen.line, s, query_.smoothing > 0);
    }
  }

  void draw() {
    std::array<Pen, 2> pens;
    run_.for_each(tag_, [&](const MetricPoint& p, bool superseded) {
      if (!shown(superseded)) return;
      Pen& pen = pens[superseded ? 1 : 0];
      Sample s{x_of(p, query_.axis, origin_), kGap, p};
      if (!(s.x >= pen.last)) start(pen, superseded);
      pen.last = s.x;
      if (query_.smoothing > 0) s.smooth = pen.smoother->next(p.value);
      put(pen, s);
    });
    for (Pen& pen : pens) finish(pen);
    std::stable_sort(
        curve_.lines.begin(), curve_.lines.end(),
        [](const CurveLine& a, const CurveLine& b) { return a.superseded > b.superseded; });
  }

  void draw_in_order() {
    std::vector<Sample> samples;
    run_.for_each(tag_, [&](const MetricPoint& p, bool superseded) {
      if (shown(superseded)) samples.push_back({x_of(p, query_.axis, origin_), kGap, p});
    });
    std::stable_sort(samples.begin(), samples.end(),
                     [](const Sample& a, const Sample& b) { return a.x < b.x; });
    Pen pen;
    start(pen, false);
    for (Sample& s : samples) {
      if (query_.smoothing > 0) s.smooth = pen.smoother->next(s.point.value);
      put(pen, s);
    }
    finish(pen);
  }

  const MetricRun& run_;
  const MetricRun::Tag& tag_;
  const CurveQuery& query_;
  double origin_ = 0;
  Extent extent_;
  std::size_t stretches_ = 0;
  Curve curve_;
};

std::string many(std::uint64_t n, const char* one, const char* more) {
  return std::to_string(n) + (n == 1 ? one : more);
}

}  // namespace

double Smoother::next(double value) {
  if (!std::isfinite(value)) return kGap;
  mean_ = weight_ * mean_ + (1 - weight_) * value;
  pull_ *= weight_;
  return mean_ / (1 - pull_);
}

Curve find_curve(const MetricRun& run, const MetricRun::Tag& tag, const CurveQuery& query) {
  return CurveMaker(run, tag, query).make();
}

std::optional<double> run_start(const MetricRun& run) {
  std::optional<double> start;
  for (const MetricRun::Tag& tag : run.tags()) {
    for (const MetricRun::Part& part : tag.parts) {
      if (part.points->points.empty()) continue;
      const double first = part.points->points.front().wall_time;
      if (!start || first < *start) start = first;
    }
  }
  return start;
}

const char* kind_name(MetricKind kind) {
  switch (kind) {
    case MetricKind::kScalar:
      return "scalar";
    case MetricKind::kHistogram:
      return "histogram";
    case MetricKind::kImage:
      return "image";
    case MetricKind::kAudio:
      return "audio";
    case MetricKind::kOther:
      break;
  }
  return "other";
}

MetricTagRow tag_row(const MetricRun& run, const MetricRun::Tag& tag) {
  MetricTagRow row;
  row.tag = tag.name;
  row.kind = tag.kind();
  row.plugin = tag.plugin();
  for (const MetricRun::Part& part : tag.parts) {
    const TagPoints& points = *part.points;
    row.count += points.count;
    row.not_finite += points.not_finite;
    row.of_other_kind += points.of_other_kind;
    if (points.points.empty()) continue;
    if (!row.first) row.first = points.points.front();
    row.last = points.points.back();
  }
  if (!run.has_restarts()) return row;
  row.first.reset();
  row.last.reset();
  run.for_each(tag, [&](const MetricPoint& p, bool superseded) {
    if (superseded) {
      ++row.superseded;
      return;
    }
    if (!row.first) row.first = p;
    row.last = p;
  });
  return row;
}

std::vector<MetricNotice> notices(const MetricRun& run) {
  std::vector<MetricNotice> out;
  for (const MetricRun::File& file : run.files()) {
    const EventFile::Trouble t = file.content->trouble();
    const auto say = [&](const char* code, std::uint64_t count, std::string sentence) {
      if (count > 0) out.push_back({code, std::move(sentence), file.name, count});
    };
    if (!t.error.empty()) say("unreadable_file", 1, "The file cannot be read: " + t.error + '.');
    say("out_of_memory", t.starved ? 1 : 0,
        "The memory did not suffice for the file; nothing of it is shown.");
    if (t.foreign) {
      say("not_an_event_file", 1,
          "The file holds no record of an event file at its start; nothing of it was read.");
      continue;
    }
    say("damaged", t.records.damaged,
        "The checksums fail at " + many(t.records.damaged, " place", " places") + "; " +
            many(t.records.skipped_bytes, " byte was", " bytes were") +
            " passed over to the next whole record.");
    say("oversized", t.records.oversized,
        many(t.records.oversized, " record", " records") +
            " of more than 64 MiB passed over unread.");
    say("unreadable", t.unreadable,
        many(t.unreadable, " record is", " records are") + " whole but no event.");
    say("timeless", t.timeless,
        many(t.timeless, " value has", " values have") + " no time that can be, and left out.");
    say("refused_tags", t.refused_tags,
        many(t.refused_tags, " value", " values") +
            " left out: a tag of more than 1 KiB, or more than 100 000 tags in one file.");
    say("refused_values", t.refused_values,
        many(t.refused_values, " value", " values") +
            " left out: an event of more than 100 000 values.");
    say("thinned", t.thinned,
        many(t.thinned, " point", " points") +
            " given up to save memory; each stretch keeps its least, greatest, first and last.");
    say("waiting", t.waiting,
        "The file ends inside a record, " + many(t.waiting, " byte", " bytes") +
            " in: it is still being written, or its program ended.");
  }
  return out;
}

}  // namespace traceglass
