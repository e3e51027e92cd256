// The memory timeline as a page of its own: areas of the categories stacked, drawn as SVG.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "libtrace/averages/memory_timeline.h"
#include "libtrace/model/sums.h"

namespace libtrace {
namespace {

constexpr int kWidth = 1200, kHeight = 640;
constexpr int kLeft = 80, kRight = 200, kTop = 70, kBottom = 50;
constexpr int kPlotWidth = kWidth - kLeft - kRight, kPlotHeight = kHeight - kTop - kBottom;
constexpr const char* kColors[kMemoryCategories] = {"#2e7d32", "#f9a825", "#37474f", "#9575cd",
                                                    "#e53935", "#1e3a8a", "#4f83f1", "#9e9e9e"};

std::string number(const char* format, double value) {
  char text[64];
  const int n = std::snprintf(text, sizeof text, format, value);
  return {text, static_cast<std::size_t>(std::clamp(n, 0, 63))};
}

std::int64_t total(const MemoryTimeline::Point& p) {
  std::int64_t sum = 0;
  for (const std::int64_t bytes : p.bytes) add(sum, bytes);
  return sum;
}

// At most one point a pixel: of those that share one, the largest.
std::vector<MemoryTimeline::Point> thinned(const std::vector<MemoryTimeline::Point>& points,
                                           std::int64_t first, double us_per_pixel) {
  std::vector<MemoryTimeline::Point> out;
  std::int64_t last_pixel = -1;
  for (const auto& p : points) {
    const auto pixel =
        static_cast<std::int64_t>(static_cast<double>(p.at_us - first) / us_per_pixel);
    if (pixel != last_pixel) {
      out.push_back(p);
    } else if (total(p) > total(out.back())) {
      out.back().bytes = p.bytes;
    }
    last_pixel = pixel;
  }
  return out;
}

// Marks from 0 to `range`, about five to ten of them, at multiples of 1, 2 or 5 · 10^n.
std::vector<double> ticks(double range) {
  const double rough = range / 5, power = std::pow(10, std::floor(std::log10(rough)));
  const double step = power * (rough >= 5 * power ? 5 : rough >= 2 * power ? 2 : 1);
  std::vector<double> out;
  for (int i = 0; i < 11 && i * step <= range; ++i) out.push_back(i * step);
  return out;
}

struct Unit {
  double bytes;
  const char* name;
};
Unit unit_of(double bytes) {
  for (const Unit u : {Unit{1 << 30, "GiB"}, Unit{1 << 20, "MiB"}, Unit{1 << 10, "KiB"}}) {
    if (bytes >= u.bytes) return u;
  }
  return {1, "B"};
}

class Picture {
 public:
  explicit Picture(const MemoryTimeline& timeline) : timeline_(timeline) {
    const auto all = timeline.points();
    if (all.empty()) return;
    first_us_ = all.front().at_us;
    span_us_ = std::max<double>(1, static_cast<double>(all.back().at_us - first_us_));
    points_ = thinned(all, first_us_, span_us_ / kPlotWidth);
    for (const auto& p : points_) top_ = std::max(top_, static_cast<double>(total(p)));
    unit_ = unit_of(top_);
  }

  std::string svg() {
    out_ = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + std::to_string(kWidth) +
           " " + std::to_string(kHeight) + "\" role=\"img\" font-family=\"sans-serif\">\n";
    text(kWidth / 2.0, 24, "middle", 16, "Memory of " + timeline_.device);
    text(kWidth / 2.0, 46, "middle", 12, peaks());
    if (points_.empty()) {
      text(kWidth / 2.0, kHeight / 2.0, "middle", 14, "No memory was recorded for this device.");
    } else {
      axes();
      for (std::size_t c = 0; c < kMemoryCategories; ++c) area(c);
      legend();
    }
    return std::move(out_) + "</svg>\n";
  }

 private:
  [[nodiscard]] double x(std::int64_t us) const {
    return kLeft + static_cast<double>(us - first_us_) / span_us_ * kPlotWidth;
  }
  [[nodiscard]] double y(double bytes) const {
    return kTop + kPlotHeight - std::max(0.0, bytes) / top_ * kPlotHeight;
  }

  [[nodiscard]] std::string peaks() const {
    std::string out;
    const auto add = [&](const char* what, std::int64_t bytes) {
      if (bytes <= 0) return;
      const Unit u = unit_of(static_cast<double>(bytes));
      out.append(out.empty() ? "" : " · ").append(what).append(": ");
      out += number("%.2f ", static_cast<double>(bytes) / u.bytes) + u.name;
    };
    add("Max memory allocated", timeline_.peak_allocated);
    add("Max memory reserved", timeline_.peak_reserved);
    return out;
  }

  void text(double x, double y, const char* anchor, int size, const std::string& words) {
    out_ += "<text x=\"" + number("%.1f", x) + "\" y=\"" + number("%.1f", y) + "\" text-anchor=\"" +
            anchor + "\" font-size=\"" + std::to_string(size) + "\">" + words + "</text>\n";
  }
  void grid_line(double x1, double y1, double x2, double y2) {
    out_ += "<path d=\"M" + number("%.1f", x1) + " " + number("%.1f", y1) + "L" +
            number("%.1f", x2) + " " + number("%.1f", y2) + "\" stroke=\"#ddd\"/>\n";
  }

  void axes() {
    const double bottom = kTop + kPlotHeight, ms = span_us_ / 1000, high = top_ / unit_.bytes;
    for (const double t : ticks(ms)) {
      const double at = kLeft + t / ms * kPlotWidth;
      grid_line(at, kTop, at, bottom);
      text(at, bottom + 18, "middle", 12, number("%g", t));
    }
    for (const double v : ticks(high)) {
      grid_line(kLeft, y(v * unit_.bytes), kLeft + kPlotWidth, y(v * unit_.bytes));
      text(kLeft - 8, y(v * unit_.bytes) + 4, "end", 12, number("%g", v));
    }
    text(kLeft + kPlotWidth / 2.0, kHeight - 10, "middle", 12, "Time (ms)");
    text(kLeft - 8, kTop - 12, "end", 12, unit_.name);
  }

  // A step curve over the categories below it: memory keeps its size until the next row.
  void area(std::size_t category) {
    std::vector<double> below, above;
    bool any = false;
    for (const auto& p : points_) {
      double sum = 0;
      for (std::size_t c = 0; c < category; ++c) sum += static_cast<double>(p.bytes[c]);
      below.push_back(y(sum));
      above.push_back(y(sum + static_cast<double>(p.bytes[category])));
      any |= p.bytes[category] != 0;
    }
    if (!any) return;
    std::string path = "M" + number("%.1f", x(points_[0].at_us)) + " " + number("%.1f", below[0]);
    for (std::size_t i = 0; i < points_.size(); ++i) {
      path += "H" + number("%.1f", x(points_[i].at_us)) + "V" + number("%.1f", above[i]);
    }
    for (std::size_t i = points_.size(); i-- > 0;) {
      path += "V" + number("%.1f", below[i]) + "H" + number("%.1f", x(points_[i].at_us));
    }
    const std::string name(memory_category_name(static_cast<MemoryCategory>(category)));
    out_ += "<path d=\"" + path + "Z\" fill=\"" + kColors[category] +
            "\" fill-opacity=\"0.75\"><title>" + name + "</title></path>\n";
  }

  void legend() {
    for (std::size_t i = 0; i < kMemoryCategories; ++i) {
      const double at = kTop + 22.0 * static_cast<double>(i);
      out_ += "<rect x=\"" + std::to_string(kWidth - kRight + 20) + "\" y=\"" + number("%.1f", at) +
              "\" width=\"14\" height=\"14\" fill=\"" + kColors[i] + "\"/>\n";
      text(kWidth - kRight + 42, at + 12, "start", 12,
           std::string(memory_category_name(static_cast<MemoryCategory>(i))));
    }
  }

  const MemoryTimeline& timeline_;
  std::vector<MemoryTimeline::Point> points_;
  std::int64_t first_us_ = 0;
  double span_us_ = 1, top_ = 1;
  Unit unit_{1, "B"};
  std::string out_;
};

}  // namespace

std::string MemoryTimeline::html() const {
  return "<!doctype html>\n<html><head><meta charset=\"utf-8\"/><title>Memory timeline of " +
         device + "</title></head>\n<body style=\"margin:0;background:#fff\">\n" +
         Picture(*this).svg() + "</body></html>\n";
}

}  // namespace libtrace
