// Function events → one row a key.
#include "libtrace/key_averages.h"

#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "libtrace/averages/flags.h"
#include "libtrace/averages/function_events.h"
#include "libtrace/averages/stacks.h"
#include "libtrace/model/flops.h"
#include "libtrace/model/shapes.h"
#include "libtrace/model/sums.h"

namespace libtrace {
namespace {

using What = FunctionEvents::What;

// Small numbers for distinct texts.
class Texts {
 public:
  std::uint32_t id(std::string text) {
    const auto [it, is_new] =
        ids_.emplace(std::move(text), static_cast<std::uint32_t>(texts_.size()));
    if (is_new) texts_.push_back(&it->first);
    return it->second;
  }
  [[nodiscard]] const std::string& text(std::uint32_t id) const { return *texts_[id]; }

 private:
  std::unordered_map<std::string, std::uint32_t> ids_;
  std::vector<const std::string*> texts_;
};

struct Key {
  std::uint32_t name = 0, overload = 0, shapes = 0, stack = 0, device = 0;
  bool annotation = false;
  bool operator==(const Key&) const = default;
};
struct KeyHash {
  std::size_t operator()(const Key& k) const noexcept {
    std::uint64_t h = 0;
    for (const std::uint32_t part :
         {k.name, k.overload, k.shapes, k.stack, k.device, std::uint32_t{k.annotation}}) {
      h = (h ^ part) * 0x9E37'79B9'7F4A'7C15ULL;
      h ^= h >> 32;
    }
    return static_cast<std::size_t>(h);
  }
};

// Sums the events of one trace after the other.
class Averager {
 public:
  explicit Averager(const KeyAveragesOptions& options) : options_(options) {}

  void add(const Trace& trace);
  KeyAverages take();

 private:
  std::uint32_t group(const Key& key);
  void add_slice(const FunctionEvents& events, const Stacks* stacks, EventId e);
  void add_memory(const Trace& trace, std::uint32_t index);
  std::uint32_t shapes_of(const Trace& trace, EventId e);
  std::uint32_t stack_of(std::string_view text);
  std::int64_t flops_of(const Trace& trace, EventId e, std::string_view op);

  KeyAveragesOptions options_;
  KeyAverages::Columns columns_;
  std::unordered_map<Key, std::uint32_t, KeyHash> groups_;
  std::vector<KeyAverage> rows_;
  Texts texts_;
  // Of the trace at hand: its interned texts have one address each.
  std::vector<std::uint32_t> name_ids_;
  std::unordered_map<const char*, std::uint32_t> shape_ids_, stack_ids_;
};

std::uint32_t Averager::group(const Key& key) {
  const auto [it, is_new] = groups_.emplace(key, static_cast<std::uint32_t>(rows_.size()));
  if (is_new) rows_.emplace_back();
  return it->second;
}

std::uint32_t Averager::shapes_of(const Trace& trace, EventId e) {
  const auto dims = trace.arg(e, "Input Dims");
  const std::string_view text = dims ? dims->text : std::string_view();
  const auto [it, is_new] = shape_ids_.emplace(text.data(), 0);
  if (is_new) it->second = texts_.id(shapes_text(parse_shapes(text)));
  return it->second;
}

std::uint32_t Averager::stack_of(std::string_view text) {
  const auto [it, is_new] = stack_ids_.emplace(text.data(), 0);
  if (is_new) {
    std::string joined;
    for (const std::string_view frame :
         Stacks::frames(text, static_cast<std::size_t>(options_.group_by_stack_n))) {
      joined.append(frame) += ';';
    }
    it->second = texts_.id(std::move(joined));
  }
  return it->second;
}

std::int64_t Averager::flops_of(const Trace& trace, EventId e, std::string_view op) {
  if (!has_flops(op)) return 0;
  const auto dims = trace.arg(e, "Input Dims");
  const auto concrete = trace.arg(e, "Concrete Inputs");
  if (!dims) return 0;
  const std::string_view values = concrete ? concrete->text : std::string_view();
  return count_flops(op, parse_shapes(dims->text), parse_strings(values));
}

void Averager::add_slice(const FunctionEvents& events, const Stacks* stacks, EventId e) {
  const Trace& trace = events.trace();
  const FunctionNames::Key name = events.name(e);
  const std::string_view op = events.names().text(name);
  Key key;
  if (name >= name_ids_.size()) name_ids_.resize(name + 1, kNone);
  if (name_ids_[name] == kNone) name_ids_[name] = texts_.id(std::string(op));
  key.name = name_ids_[name];
  key.device = events.what(e) == What::kDevice ? 1 : 0;
  key.annotation = events.is_annotation(e);
  if (options_.group_by_overload_name) {
    const bool is_op = trace.kind(e) == Kind::kOp;
    const std::string_view overload = events.names().overload(trace.name(e));
    key.overload = texts_.id(std::string(is_op ? overload : std::string_view()));
  }
  if (options_.group_by_input_shape) key.shapes = shapes_of(trace, e);
  if (stacks != nullptr) key.stack = stack_of(stacks->text(e));

  KeyAverage& row = rows_[group(key)];
  if (row.count == 0) {
    row.is_async = events.what(e) == What::kAsync;
    row.is_top_level = events.parent(e) == kNone;
    row.torch_cpu_us = 0;
    row.key = std::string(op);
    row.is_user_annotation = key.annotation;
    if (key.device != 0) row.device_type = events.device();
    if (options_.group_by_overload_name) row.overload_name = texts_.text(key.overload);
    if (options_.group_by_input_shape) row.input_shapes = texts_.text(key.shapes);
    if (stacks != nullptr) {
      for (const std::string_view frame : Stacks::frames(texts_.text(key.stack))) {
        row.stack.emplace_back(frame);
      }
    }
  }
  const FunctionEvents::Figures f = events.figures(e);
  ++row.count;
  libtrace::add(row.cpu_time_total_ns, f.cpu);
  libtrace::add(row.self_cpu_time_total_ns, f.self_cpu);
  if (key.device == 0) {
    row.torch_cpu_us += events.torch_cpu_us(e);
    row.torch_self_cpu_us += events.torch_self_cpu_us(e);
  }
  libtrace::add(row.device_time_total_ns, f.device);
  libtrace::add(row.self_device_time_total_ns, f.self_device);
  libtrace::add(row.cpu_memory_usage, f.memory);
  libtrace::add(row.self_cpu_memory_usage, f.self_memory);
  libtrace::add(row.device_memory_usage, f.device_memory);
  libtrace::add(row.self_device_memory_usage, f.self_device_memory);
  if (columns_.flops && key.device == 0) libtrace::add(row.flops, flops_of(trace, e, op));
}

void Averager::add_memory(const Trace& trace, std::uint32_t index) {
  const MemoryEvent& m = trace.memory()[index];
  Key key;
  const char* const name = m.out_of_memory ? "[OutOfMemory]" : "[memory]";
  key.name = texts_.id(name);
  key.overload = options_.group_by_overload_name ? texts_.id("") : 0;
  key.shapes = options_.group_by_input_shape ? texts_.id("[]") : 0;
  key.stack = options_.group_by_stack_n > 0 ? texts_.id("") : 0;
  KeyAverage& row = rows_[group(key)];
  if (row.count++ == 0) {
    row.key = name;
    if (options_.group_by_input_shape) row.input_shapes = "[]";
  }
  const std::int64_t host = FunctionEvents::host_bytes(m), device = FunctionEvents::device_bytes(m);
  libtrace::add(row.cpu_memory_usage, host);
  libtrace::add(row.self_cpu_memory_usage, host);
  libtrace::add(row.device_memory_usage, device);
  libtrace::add(row.self_device_memory_usage, device);
}

void Averager::add(const Trace& trace) {
  const FunctionEvents events(trace, options_.memory_by_thread);
  if (columns_.device.empty()) columns_.device = events.device();
  const bool memory_known = trace.metadata("profile_memory") != nullptr;
  columns_.memory |= memory_known ? flag_set(trace, "profile_memory") : !trace.memory().empty();
  columns_.flops |= flag_set(trace, "with_flops");
  std::optional<Stacks> stacks;
  if (options_.group_by_stack_n > 0) stacks.emplace(events);
  name_ids_.clear();
  shape_ids_.clear();
  stack_ids_.clear();
  auto loose = events.loose_memory().begin();
  const auto loose_end = events.loose_memory().end();
  const auto memory_before = [&](std::int64_t at) {
    while (loose != loose_end && trace.memory()[*loose].at < at) add_memory(trace, *loose++);
  };
  for (const EventId e : events.in_order()) {
    memory_before(trace.start(e));
    if (events.what(e) == What::kPython && !options_.include_python_functions) continue;
    add_slice(events, stacks ? &*stacks : nullptr, e);
  }
  memory_before(INT64_MAX);
}

KeyAverages Averager::take() { return {std::move(rows_), columns_}; }

KeyAveragesOptions checked(const KeyAveragesOptions& options) {
  if (options.group_by_stack_n < 0) {
    throw std::invalid_argument("group_by_stack_n must not be negative");
  }
  return options;
}

}  // namespace

double KeyAverage::cpu_time_us() const noexcept {
  return count == 0 ? 0
                    : static_cast<double>(cpu_time_total_ns) / 1000 / static_cast<double>(count);
}

double KeyAverage::device_time_us() const noexcept {
  return count == 0 ? 0
                    : static_cast<double>(device_time_total_ns) / 1000 / static_cast<double>(count);
}

KeyAverages::KeyAverages(std::vector<KeyAverage> rows, Columns columns)
    : rows_(std::move(rows)), columns_(std::move(columns)) {}

KeyAverage KeyAverages::total_average() const {
  KeyAverage total;
  if (!rows_.empty()) total = rows_.front();
  for (std::size_t i = 1; i < rows_.size(); ++i) {
    const KeyAverage& row = rows_[i];
    total.count += row.count;
    libtrace::add(total.cpu_time_total_ns, row.cpu_time_total_ns);
    libtrace::add(total.self_cpu_time_total_ns, row.self_cpu_time_total_ns);
    libtrace::add(total.device_time_total_ns, row.device_time_total_ns);
    libtrace::add(total.self_device_time_total_ns, row.self_device_time_total_ns);
    libtrace::add(total.cpu_memory_usage, row.cpu_memory_usage);
    libtrace::add(total.self_cpu_memory_usage, row.self_cpu_memory_usage);
    libtrace::add(total.device_memory_usage, row.device_memory_usage);
    libtrace::add(total.self_device_memory_usage, row.self_device_memory_usage);
    libtrace::add(total.flops, row.flops);
  }
  total.key = "Total";
  total.torch_cpu_us = -1;  // of no single row
  return total;
}

std::int64_t KeyAverages::self_cpu_time_total_ns() const noexcept {
  std::int64_t sum = 0;
  for (const KeyAverage& row : rows_) libtrace::add(sum, row.self_cpu_time_total_ns);
  return sum;
}

KeyAverages key_averages(const Trace& trace, const KeyAveragesOptions& options) {
  Averager averager(checked(options));
  averager.add(trace);
  return averager.take();
}

KeyAverages key_averages(const std::vector<TracePtr>& traces, const KeyAveragesOptions& options) {
  Averager averager(checked(options));
  for (const TracePtr& trace : traces) {
    if (trace != nullptr) averager.add(*trace);
  }
  return averager.take();
}

}  // namespace libtrace
