// torch's table of key averages, to the character (torch 2.15), but for control characters in
// names and for device memory that only shrinks, which torch hides.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <utility>

#include "libtrace/averages/cell.h"
#include "libtrace/key_averages.h"
#include "libtrace/model/sums.h"

namespace libtrace {
namespace {

constexpr std::size_t kDefaultWidth = 12, kSpacing = 2;

double us(std::int64_t ns) { return static_cast<double>(ns) / 1000; }
double cpu_us(const KeyAverage& r) {
  return r.torch_cpu_us < 0 ? us(r.cpu_time_total_ns) : r.torch_cpu_us;
}
double mean_cpu_us(const KeyAverage& r) {
  return r.count == 0 ? 0 : cpu_us(r) / static_cast<double>(r.count);
}
double self_cpu_us(const KeyAverage& r) {
  return r.torch_cpu_us < 0 ? us(r.self_cpu_time_total_ns) : r.torch_self_cpu_us;
}

// ---- sorting -----------------------------------------------------------------------------------

using Sum = std::int64_t KeyAverage::*;
constexpr std::pair<std::string_view, Sum> kSums[] = {
    {"device_time_total", &KeyAverage::device_time_total_ns},
    {"self_device_time_total", &KeyAverage::self_device_time_total_ns},
    {"cpu_memory_usage", &KeyAverage::cpu_memory_usage},
    {"self_cpu_memory_usage", &KeyAverage::self_cpu_memory_usage},
    {"device_memory_usage", &KeyAverage::device_memory_usage},
    {"self_device_memory_usage", &KeyAverage::self_device_memory_usage},
    {"count", &KeyAverage::count},
    {"flops", &KeyAverage::flops},
};

std::string device_key(std::string_view key) {
  std::string out(key);
  for (const std::string_view name : {"cuda", "xpu", "privateuse1"}) {
    for (std::size_t at = 0; (at = out.find(name, at)) != std::string::npos; at += 6) {
      out.replace(at, name.size(), "device");
    }
  }
  return out;
}

template <typename Value>
void sort_by(std::vector<KeyAverage>& rows, Value&& value) {
  std::stable_sort(rows.begin(), rows.end(), [&](const KeyAverage& a, const KeyAverage& b) {
    return std::invoke(value, a) > std::invoke(value, b);
  });
}

// ---- printing ----------------------------------------------------------------------------------

struct Column {
  std::string header;
  std::size_t width = kDefaultWidth;
  bool left = false;
};

class Printer {
 public:
  Printer(const std::vector<KeyAverage>& rows, const KeyAverages::Columns& columns,
          const TableOptions& options)
      : rows_(rows), options_(options), device_(columns.device), memory_(columns.memory) {
    find_columns(columns);
  }
  std::string print();

 private:
  using Cells = std::vector<std::string>;

  void find_columns(const KeyAverages::Columns& columns);
  Cells cells(const KeyAverage& row) const;
  void line(const Cells& cells);
  void rule();
  [[nodiscard]] std::string name_cell(std::string_view text) const;
  [[nodiscard]] std::string time(double us) const { return time_text(us, options_.time_unit); }
  template <typename Predicate>
  [[nodiscard]] bool any(Predicate&& p) const {
    return std::any_of(rows_.begin(), rows_.end(), p);
  }

  const std::vector<KeyAverage>& rows_;
  const TableOptions& options_;
  std::string device_;
  bool memory_ = false, device_time_ = false, device_memory_ = false, overloads_ = false;
  bool nodes_ = false, shapes_ = false, stacks_ = false, flops_ = false;
  FlopsUnit flops_unit_;
  std::size_t shapes_width_ = 0, source_width_ = 0;
  double self_cpu_ = 0;  // us
  std::int64_t self_device_ = 0;
  std::vector<Column> columns_;
  std::string out_;
};

std::size_t width_of(std::size_t longest, const std::optional<int>& most) {
  return most ? std::min(longest + 4, static_cast<std::size_t>(*most)) : longest + 4;
}

void Printer::find_columns(const KeyAverages::Columns& columns) {
  std::size_t name = 0, shapes = 0, frame = 0;
  std::int64_t smallest = 0;  // of the positive FLOPs
  for (const KeyAverage& r : rows_) {
    name = std::max(name, text_length(one_line(r.key)));
    shapes = std::max(shapes, text_length(r.input_shapes));
    for (const std::string& f : r.stack) frame = std::max(frame, text_length(one_line(f)));
    if (r.flops > 0 && (smallest == 0 || r.flops < smallest)) smallest = r.flops;
    self_cpu_ += self_cpu_us(r);
    const bool device_row = r.device_type != "cpu" && !r.is_user_annotation;
    if (device_row) add(self_device_, r.self_device_time_total_ns);
  }
  device_time_ = any([](const KeyAverage& r) { return r.self_device_time_total_ns > 0; });
  device_memory_ = any([](const KeyAverage& r) { return r.self_device_memory_usage != 0; });
  overloads_ = any([](const KeyAverage& r) { return !r.overload_name.empty(); });
  nodes_ = any([](const KeyAverage& r) { return r.node_id != -1; });
  shapes_ = any([](const KeyAverage& r) { return r.input_shapes.size() > 2; });  // more than "[]"
  stacks_ = any([](const KeyAverage& r) { return !r.stack.empty(); });
  flops_ = columns.flops && smallest > 0;
  if (flops_) flops_unit_ = flops_unit(smallest);
  device_memory_ = device_memory_ && !device_.empty();

  std::string device = device_.empty() ? "None" : device_;
  if (!device_.empty()) {
    for (char& c : device) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  }
  device_ = device;
  const std::size_t name_width = width_of(name, options_.max_name_column_width);
  shapes_width_ = width_of(shapes, options_.max_shapes_column_width);
  source_width_ = width_of(frame, options_.max_src_column_width);

  const auto add = [&](std::string header) { columns_.push_back({std::move(header)}); };
  columns_.push_back({"Name", name_width});
  if (overloads_) columns_.push_back({"Overload Name", name_width});
  for (const char* h : {"Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg"})
    add(h);
  if (device_time_) {
    add("Self " + device);
    add("Self " + device + " %");
    add(device + " total");
    add(device + " time avg");
  }
  if (memory_) {
    add("CPU Mem");
    add("Self CPU Mem");
    if (device_memory_) {
      add(device + " Mem");
      add("Self " + device + " Mem");
    }
  }
  add("# of Calls");
  if (nodes_) add("Node ID");
  if (shapes_) columns_.push_back({"Input Shapes", shapes_width_});
  // In the rows torch puts FLOPs before the source: see KeyAverages::table.
  if (stacks_) columns_.push_back({"Source Location", source_width_, true});
  if (flops_) add(std::string("Total ") + flops_unit_.name);
}

std::string Printer::name_cell(std::string_view text) const {
  std::string name = one_line(text);
  if (!options_.max_name_column_width) return name;
  const std::int64_t most = *options_.max_name_column_width - 3;
  if (static_cast<std::int64_t>(text_length(name)) < most) return name;
  return std::string(text_prefix(name, most)) + "...";
}

Printer::Cells Printer::cells(const KeyAverage& r) const {
  Cells out = {name_cell(r.key)};
  if (overloads_) out.push_back(name_cell(r.overload_name));
  out.push_back(share_text(self_cpu_us(r), self_cpu_));
  out.push_back(time(self_cpu_us(r)));
  out.push_back(r.is_async ? "0" : share_text(cpu_us(r), self_cpu_));
  out.push_back(time(cpu_us(r)));
  out.push_back(time(mean_cpu_us(r)));
  if (device_time_) {
    out.push_back(time(us(r.self_device_time_total_ns)));
    out.push_back(share_text(us(r.self_device_time_total_ns), us(self_device_)));
    out.push_back(time(us(r.device_time_total_ns)));
    out.push_back(time(r.device_time_us()));
  }
  if (memory_) {
    out.push_back(memory_text(r.cpu_memory_usage));
    out.push_back(memory_text(r.self_cpu_memory_usage));
    if (device_memory_) {
      out.push_back(memory_text(r.device_memory_usage));
      out.push_back(memory_text(r.self_device_memory_usage));
    }
  }
  out.push_back(std::to_string(r.count));
  if (nodes_) out.push_back(std::to_string(r.node_id));
  if (shapes_) {
    out.emplace_back(text_prefix(r.input_shapes, static_cast<std::int64_t>(shapes_width_)));
  }
  if (flops_) {
    char text[400] = "--";
    if (r.flops > 0) {
      std::snprintf(text, sizeof text, "%8.3f", static_cast<double>(r.flops) * flops_unit_.scale);
    }
    out.emplace_back(text);
  }
  if (stacks_) {
    out.push_back(r.stack.empty() ? "" : text_tail(one_line(r.stack[0]), source_width_));
  }
  return out;
}

void Printer::line(const Cells& cells) {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const std::size_t length = text_length(cells[i]);
    const std::size_t pad = columns_[i].width > length ? columns_[i].width - length : 0;
    if (!columns_[i].left) out_.append(pad, ' ');
    out_ += cells[i];
    out_.append(columns_[i].left ? pad + kSpacing : kSpacing, ' ');
  }
  out_ += '\n';
}

void Printer::rule() {
  for (const Column& c : columns_) out_.append(c.width, '-').append(kSpacing, ' ');
  out_ += '\n';
}

std::string Printer::print() {
  std::size_t length = 0;
  Cells headers;
  for (const Column& c : columns_) {
    length += c.width + kSpacing;
    headers.push_back(c.header);
  }
  length -= kSpacing;
  if (options_.header) out_.append(length, '=').append("\n").append(*options_.header).append("\n");
  if (options_.top_level_events_only) {
    out_.append(length, '=').append("\nThis report only display top-level ops statistics\n");
  }
  rule();
  line(headers);
  rule();
  int printed = 0;
  for (const KeyAverage& r : rows_) {
    if (printed == options_.row_limit) break;
    if (options_.top_level_events_only && !r.is_top_level) continue;
    ++printed;
    line(cells(r));
    if (!stacks_) continue;
    Cells more(columns_.size());
    for (std::size_t i = 1; i < r.stack.size(); ++i) {
      more.back() = text_tail(one_line(r.stack[i]), source_width_);
      line(more);
    }
    more.back().clear();
    line(more);
  }
  rule();
  out_ += "Self CPU time total: " + time(self_cpu_) + "\n";
  if (device_time_) out_ += "Self " + device_ + " time total: " + time(us(self_device_)) + "\n";
  return std::move(out_);
}

void check(const TableOptions& o) {
  for (const auto& width :
       {o.max_src_column_width, o.max_name_column_width, o.max_shapes_column_width}) {
    if (width && *width < 0) throw std::invalid_argument("a column width must not be negative");
  }
  if (!o.time_unit.empty() && o.time_unit != "s" && o.time_unit != "ms" && o.time_unit != "us") {
    throw std::invalid_argument("time_unit should be one of: s, ms, us");
  }
}

}  // namespace

void KeyAverages::sort(std::string_view key) {
  const std::string wanted = device_key(key);
  if (wanted == "cpu_time") return sort_by(rows_, mean_cpu_us);
  if (wanted == "cpu_time_total") return sort_by(rows_, cpu_us);
  if (wanted == "self_cpu_time_total") return sort_by(rows_, self_cpu_us);
  if (wanted == "device_time") return sort_by(rows_, &KeyAverage::device_time_us);
  for (const auto& [name, sum] : kSums) {
    if (wanted == name) return sort_by(rows_, sum);
  }
  std::string known = "cpu_time, cpu_time_total, self_cpu_time_total, device_time";
  for (const auto& [name, sum] : kSums) known.append(", ").append(name);
  throw std::invalid_argument("rows have no '" + std::string(key) + "' to sort by; they have " +
                              known);
}

std::string KeyAverages::table(const TableOptions& options) const {
  check(options);
  KeyAverages sorted = *this;
  if (!options.sort_by.empty()) sorted.sort(options.sort_by);
  if (rows_.empty()) return "";
  return Printer(sorted.rows_, columns_, options).print();
}

}  // namespace libtrace
