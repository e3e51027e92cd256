#include "tb_backend/api/key_averages_command.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "tb_backend/api/csv.h"
#include "tb_backend/api/terminal_text.h"
#include "tb_backend/api/view_json.h"
#include "tb_backend/ingest/ingest.h"

namespace traceglass {
namespace {

using libtrace::KeyAverage;
using libtrace::KeyAverages;

void complain(std::string text) { fmt::print(stderr, "{}\n", printable(std::move(text))); }

double us(std::int64_t ns) { return static_cast<double>(ns) / 1000; }

// torch's str() of it: "DeviceType.CUDA".
std::string device_type(const KeyAverage& row) {
  std::string type = row.device_type;
  for (char& c : type) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return "DeviceType." + type;
}

// torch's attributes of a FunctionEventAvg; times in us.
Json row_json(const KeyAverage& r) {
  Json shapes = r.input_shapes;
  if (!r.input_shapes.empty()) shapes = Json::parse(r.input_shapes);
  return {{"key", r.key},
          {"count", r.count},
          {"cpu_time", r.cpu_time_us()},
          {"cpu_time_total", us(r.cpu_time_total_ns)},
          {"self_cpu_time_total", us(r.self_cpu_time_total_ns)},
          {"device_time", r.device_time_us()},
          {"device_time_total", us(r.device_time_total_ns)},
          {"self_device_time_total", us(r.self_device_time_total_ns)},
          {"cpu_memory_usage", r.cpu_memory_usage},
          {"self_cpu_memory_usage", r.self_cpu_memory_usage},
          {"device_memory_usage", r.device_memory_usage},
          {"self_device_memory_usage", r.self_device_memory_usage},
          {"flops", r.flops},
          {"input_shapes", std::move(shapes)},
          {"overload_name", r.overload_name},
          {"stack", r.stack},
          {"node_id", r.node_id},
          {"is_async", r.is_async},
          {"is_remote", r.is_remote},
          {"is_legacy", r.is_legacy},
          {"is_user_annotation", r.is_user_annotation},
          {"device_type", device_type(r)}};
}

// One row a line, so that a table of thousands can be read and compared.
void print_json(const std::vector<const KeyAverage*>& rows) {
  const char* separator = "[\n";
  for (const KeyAverage* row : rows) {
    fmt::print("{}{}", separator, dump(row_json(*row)));
    separator = ",\n";
  }
  fmt::print("{}\n", rows.empty() ? "[]" : "\n]");
}

void print_csv(const std::vector<const KeyAverage*>& rows) {
  fmt::print(
      "key,count,cpu_time_total,self_cpu_time_total,device_time_total,self_device_time_total,"
      "cpu_memory_usage,self_cpu_memory_usage,device_memory_usage,self_device_memory_usage,flops,"
      "input_shapes,overload_name,stack,is_user_annotation,device_type\n");
  for (const KeyAverage* r : rows) {
    std::string stack;
    for (const std::string& frame : r->stack) stack.append(stack.empty() ? "" : ";").append(frame);
    fmt::print("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_field(r->key), r->count,
               us(r->cpu_time_total_ns), us(r->self_cpu_time_total_ns), us(r->device_time_total_ns),
               us(r->self_device_time_total_ns), r->cpu_memory_usage, r->self_cpu_memory_usage,
               r->device_memory_usage, r->self_device_memory_usage, r->flops,
               csv_field(r->input_shapes), csv_field(r->overload_name), csv_field(stack),
               r->is_user_annotation, device_type(*r));
  }
}

std::vector<const KeyAverage*> chosen(const KeyAverages& averages,
                                      const KeyAveragesCommand& command) {
  std::vector<const KeyAverage*> rows;
  for (const KeyAverage& row : averages) {
    const bool cut = command.row_limit_given && command.table.row_limit >= 0 &&
                     rows.size() >= static_cast<std::size_t>(command.table.row_limit);
    if (cut) break;
    if (command.table.top_level_events_only && !row.is_top_level) continue;
    rows.push_back(&row);
  }
  return rows;
}

void print(const libtrace::Trace& trace, const KeyAveragesCommand& command) {
  KeyAverages averages = libtrace::key_averages(trace, command.group);
  if (averages.empty()) complain(command.path + ": The trace has no rows for a table.");
  if (command.format == "text") {
    fmt::print("{}", averages.table(command.table));
    return;
  }
  if (!command.table.sort_by.empty()) averages.sort(command.table.sort_by);
  const std::vector<const KeyAverage*> rows = chosen(averages, command);
  command.format == "json" ? print_json(rows) : print_csv(rows);
}

}  // namespace

int run_key_averages(const KeyAveragesCommand& command) {
  try {
    // What is wrong with the command shows before a large file is read.
    static_cast<void>(KeyAverages().table(command.table));
    std::error_code error;
    if (std::filesystem::is_directory(command.path, error)) {
      complain(command.path + ": a directory. The table is of one trace; `traceglass summary " +
               command.path + "` lists the traces in it.");
      return 1;
    }
    const IngestResult loaded = ingest_file(command.path);
    if (loaded.error) {
      complain(command.path + ": " + loaded.error->message);
      return 1;
    }
    for (const libtrace::ReportEntry& entry : loaded.trace->report().entries()) {
      if (entry.severity != libtrace::Severity::kInfo) {
        complain(command.path + ": " + entry.message);
      }
    }
    print(*loaded.trace, command);
  } catch (const std::invalid_argument& error) {
    complain(error.what());
    return 1;
  }
  return 0;
}

}  // namespace traceglass
