// torch.profiler's key_averages(): the rows of a trace summed by name, as data and as torch's
// table. One piece of code for recorded and for loaded traces; the rules are torch's own
// convention (2.15), which is not that of the views: Python frames take part in the call tree, the
// totals of nested calls of one name add up, and a sole child of its parent's name is merged. One
// thing is added: device work launched in no operator is the innermost range's around its launch,
// where torch has it belong to nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace libtrace {

class Trace;

struct KeyAveragesOptions {
  bool group_by_input_shape = false;
  int group_by_stack_n = 0;  // innermost frames that tell rows apart; 0: none
  bool group_by_overload_name = false;
  bool include_python_functions = false;  // list the Python frames too
  // Memory of a row is what its own thread allocated and freed in it. Otherwise, as in torch, what
  // any thread did in that time, which parallel threads count twice.
  bool memory_by_thread = false;
};

// One row, torch's FunctionEventAvg. Sums over `count` calls; times in ns, memory in bytes.
struct KeyAverage {
  std::string key;
  std::int64_t count = 0;
  std::int64_t cpu_time_total_ns = 0, self_cpu_time_total_ns = 0;
  std::int64_t device_time_total_ns = 0, self_device_time_total_ns = 0;
  std::int64_t cpu_memory_usage = 0, self_cpu_memory_usage = 0;
  std::int64_t device_memory_usage = 0, self_device_memory_usage = 0;
  std::int64_t flops = 0;           // 0: none known
  std::string input_shapes;         // "[[8, 3], []]"; "" unless grouped by
  std::string overload_name;        // "" unless grouped by
  std::vector<std::string> stack;   // innermost first; empty unless grouped by
  std::string device_type = "cpu";  // "cpu": host rows; else rows of a device: "cuda", "xpu", …
  std::int64_t node_id = -1;
  bool is_async = false;  // the first call began and ended on different threads
  bool is_remote = false, is_legacy = false;
  bool is_user_annotation = false;
  bool is_top_level = true;  // the first call lies in no other

  // Mean of a call in us, as torch's cpu_time and device_time.
  double cpu_time_us() const noexcept;
  double device_time_us() const noexcept;

  // cpu_time_total and its self part in us as torch's own additions of doubles round them, so that
  // the table agrees with torch's in its last digit. Negative: unknown, the whole ns are printed.
  double torch_cpu_us = -1, torch_self_cpu_us = 0;
};

// Arguments of table(), with torch's defaults. A width that is absent cuts nothing.
struct TableOptions {
  std::string sort_by = {};  // see KeyAverages::sort; "": as they are
  int row_limit = 100;       // negative: all
  std::optional<int> max_src_column_width = 75;
  std::optional<int> max_name_column_width = 55;
  std::optional<int> max_shapes_column_width = 80;
  std::optional<std::string> header = {};
  bool top_level_events_only = false;
  std::string time_unit = {};  // "s", "ms", "us"; "": by size
};

class KeyAverages {
 public:
  // What the table shows beside the rows.
  struct Columns {
    std::string device;  // "cuda", …; "": no device was recorded
    bool memory = false, flops = false;
  };
  KeyAverages() = default;
  KeyAverages(std::vector<KeyAverage> rows, Columns columns);

  const std::vector<KeyAverage>& rows() const noexcept { return rows_; }
  const Columns& columns() const noexcept { return columns_; }
  std::vector<KeyAverage>::const_iterator begin() const noexcept { return rows_.begin(); }
  std::vector<KeyAverage>::const_iterator end() const noexcept { return rows_.end(); }
  std::size_t size() const noexcept { return rows_.size(); }
  bool empty() const noexcept { return rows_.empty(); }

  // Stable, largest first. Keys: cpu_time, cpu_time_total, self_cpu_time_total, device_time,
  // device_time_total, self_device_time_total, cpu_memory_usage, self_cpu_memory_usage,
  // device_memory_usage, self_device_memory_usage, count, flops; "cuda", "xpu" and "privateuse1"
  // are read as "device". Throws std::invalid_argument for any other.
  void sort(std::string_view key);

  // torch's table to the character; "" without rows. With both stacks and FLOPs the two columns
  // stand as torch prints them, under each other's header. Control characters of a name print as
  // blanks, so that a row stays a row. Throws std::invalid_argument for an unknown sort key, time
  // unit or a negative width.
  std::string table(const TableOptions& options = {}) const;

  // Sum of all rows under the key "Total".
  KeyAverage total_average() const;
  std::int64_t self_cpu_time_total_ns() const noexcept;

 private:
  std::vector<KeyAverage> rows_;
  Columns columns_;
};

// Rows in the order of their first call. Throws std::invalid_argument for a negative
// group_by_stack_n. Cost: about 0.2 us an event.
KeyAverages key_averages(const Trace& trace, const KeyAveragesOptions& options = {});

// The same over several cycles, as torch's acc_events. Null entries are left out.
KeyAverages key_averages(const std::vector<std::shared_ptr<const Trace>>& traces,
                         const KeyAveragesOptions& options = {});

}  // namespace libtrace
