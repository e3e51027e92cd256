// `traceglass summary`: the document as JSON, as CSV of one table, or as text for people.
#include <fmt/format.h>

#include <cstdio>
#include <iterator>

#include "tb_backend/api/csv.h"
#include "tb_backend/api/rank_report.h"
#include "tb_backend/api/summary.h"
#include "tb_backend/api/terminal_text.h"

namespace traceglass {
namespace {

double ms(const Json& ns) { return ns.get<double>() / 1e6; }

void print_head(const Json& t) {
  fmt::print("{}\n", printable(t["path"]));
  fmt::print("  {} events, {:.3f} ms", t["events"].get<std::int64_t>(),
             ms(t["range"]["end_ns"]) - ms(t["range"]["start_ns"]));
  if (t.contains("rank")) fmt::print(", rank {}", t["rank"].get<int>());
  fmt::print("\n");
  for (const Json& r : t["report"]) {
    fmt::print("  {} ({}): {}\n", printable(r["code"]), r["count"].get<std::int64_t>(),
               printable(r["message"]));
  }
}

void print_overview(const Json& t) {
  for (const Json& d : t["devices"]) {
    fmt::print("  {} {} {}: busy {:.3f} ms, utilization {:.1f} %\n", d["type"].get<std::string>(),
               d["id"].get<std::int64_t>(), printable(d["name"]), ms(d["busy_ns"]),
               d["utilization_pct"].get<double>());
  }
  if (t["steps"].empty()) return;
  fmt::print("\n  {:<20}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}{:>11}{:>10}{:>10}\n", "step (ms)",
             "total", "kernel", "memcpy", "memset", "comm", "runtime", "dataloader", "cpu",
             "other");
  for (const Json& s : t["steps"]) {
    const Json& b = s["breakdown"];
    const std::string name = s["synthetic"].get<bool>() ? "(whole trace)" : s["name"];
    fmt::print(
        "  {:<20}{:>10.3f}{:>10.3f}{:>10.3f}{:>10.3f}{:>10.3f}{:>10.3f}{:>11.3f}{:>10.3f}"
        "{:>10.3f}\n",
        name, ms(s["extended"]["end_ns"]) - ms(s["extended"]["start_ns"]), ms(b["kernel_ns"]),
        ms(b["memcpy_ns"]), ms(b["memset_ns"]), ms(b["communication_ns"]), ms(b["runtime_ns"]),
        ms(b["dataloader_ns"]), ms(b["cpu_ns"]), ms(b["other_ns"]));
  }
}

// What fires with its ceiling and first advice, the rest in two lines.
void print_verdicts(const Json& verdicts) {
  if (verdicts.empty()) return;
  // One file, one grade: it stands beside what it is about.
  fmt::print("\n  what limits the step (trust {})\n", verdicts[0]["trust"].get<std::string>());
  std::string fine, unknown;
  for (const Json& v : verdicts) {
    const std::string id = v["id"], severity = v["severity"];
    if (severity == "ok" || severity == "unknown") {
      fmt::format_to(std::back_inserter(severity == "ok" ? fine : unknown), "      {}: {}\n", id,
                     printable(v["sentence"]));
      continue;
    }
    fmt::print("    {:<22}up to {:.3f} ms a step ({:.1f} %, {})\n      {}\n", id,
               ms(v["gain_ceiling_ns"]), v["share_pct"].get<double>(), severity,
               printable(v["sentence"]));
    for (const Json& e : v["evidence"]) fmt::print("      - {}\n", printable(e));
    for (const Json& s : v["suggestions"]) {
      fmt::print("      > {}\n", printable(s["text"]));
      break;
    }
  }
  if (!fine.empty()) fmt::print("    checked, fine\n{}", fine);
  if (!unknown.empty()) fmt::print("    not judged\n{}", unknown);
}

void print_operators(const Json& rows, const char* title, std::size_t top) {
  if (rows.empty()) return;
  fmt::print("\n  {:<52}{:>8}{:>13}{:>13}{:>13}{:>13}\n", title, "calls", "device self",
             "device total", "host self", "host total");
  for (std::size_t i = 0; i < std::min(rows.size(), top); ++i) {
    const Json& r = rows[i];
    fmt::print("  {:<52}{:>8}{:>13.3f}{:>13.3f}{:>13.3f}{:>13.3f}\n",
               shortened(printable(r["name"]), 50), r["calls"].get<std::int64_t>(),
               ms(r["device_self_ns"]), ms(r["device_total_ns"]), ms(r["host_self_ns"]),
               ms(r["host_total_ns"]));
  }
}

void print_kernels(const Json& rows, std::size_t top) {
  if (rows.empty()) return;
  fmt::print("\n  {:<78}{:>8}{:>11}{:>11}{:>11}\n", "kernel (ms)", "calls", "total", "mean", "max");
  for (std::size_t i = 0; i < std::min(rows.size(), top); ++i) {
    const Json& r = rows[i];
    fmt::print("  {:<78}{:>8}{:>11.3f}{:>11.3f}{:>11.3f}\n", shortened(printable(r["name"]), 76),
               r["calls"].get<std::int64_t>(), ms(r["total_ns"]), ms(r["mean_ns"]),
               ms(r["max_ns"]));
  }
}

void print_memory(const Json& rows) {
  for (const Json& r : rows) {
    const auto id = r["id"].get<std::int64_t>();  // the host's is -1: there is but one
    fmt::print("\n  memory {}{}: {} allocations, {} frees", r["type"].get<std::string>(),
               id < 0 ? "" : " " + std::to_string(id), r["allocations"].get<std::int64_t>(),
               r["frees"].get<std::int64_t>());
    if (r.contains("peak_allocated_bytes")) {
      fmt::print(", peak {:.1f} MiB", r["peak_allocated_bytes"].get<double>() / (1 << 20));
    }
    fmt::print("\n");
  }
}

void print_text(const Json& document, const SummaryOptions& o) {
  const std::size_t top = o.top == 0 ? SIZE_MAX : o.top;
  const auto wanted = [&](const char* view) { return o.view.empty() || o.view == view; };
  for (const Json& t : document["traces"]) {
    print_head(t);
    if (wanted("overview")) print_overview(t);
    if (wanted("overview")) print_verdicts(t["verdicts"]);
    if (wanted("operators")) print_operators(t["operators"], "operator (ms)", top);
    if (o.view == "annotations") print_operators(t["annotations"], "annotation (ms)", top);
    if (wanted("kernels")) print_kernels(t["kernels"], top);
    if (wanted("memory")) print_memory(t["memory"]);
    fmt::print("\n");
  }
  for (const Json& e : document["errors"]) {
    fmt::print("{}\n  {}: {}\n\n", printable(e["path"]), e["code"].get<std::string>(),
               printable(e["message"]));
  }
}

std::string field(const Json& value) {
  if (value.is_null()) return "";
  return value.is_string() ? csv_field(value) : dump(value);
}

void print_csv(const Json& document, const SummaryOptions& o) {
  const std::string table = o.view.empty() ? "operators" : o.view == "overview" ? "steps" : o.view;
  static const std::map<std::string, std::vector<const char*>> kColumns = {
      {"steps", {"name", "index", "synthetic"}},
      {"operators",
       {"name", "calls", "host_total_ns", "host_self_ns", "device_total_ns", "device_self_ns"}},
      {"annotations",
       {"name", "calls", "host_total_ns", "host_self_ns", "device_total_ns", "device_self_ns"}},
      {"kernels", {"name", "calls", "total_ns", "mean_ns", "min_ns", "max_ns", "occupancy_pct"}},
      {"memory",
       {"type", "id", "peak_allocated_bytes", "peak_reserved_bytes", "allocations", "frees",
        "freed_from_before"}}};
  static const std::vector<const char*> kParts = {"kernel_ns",        "memcpy_ns",  "memset_ns",
                                                  "communication_ns", "runtime_ns", "dataloader_ns",
                                                  "cpu_ns",           "other_ns"};
  const auto& columns = kColumns.at(table);
  fmt::print("path");
  for (const char* c : columns) fmt::print(",{}", c);
  if (table == "steps") {
    fmt::print(",start_ns,end_ns");
    for (const char* c : kParts) fmt::print(",{}", c);
  }
  fmt::print("\n");
  for (const Json& t : document["traces"]) {
    std::size_t rows = 0;
    for (const Json& row : t[table]) {
      if (o.top_given && o.top != 0 && rows++ == o.top) break;
      fmt::print("{}", field(t["path"]));
      for (const char* c : columns) fmt::print(",{}", field(row.value(c, Json())));
      if (table == "steps") {
        fmt::print(",{},{}", dump(row["extended"]["start_ns"]), dump(row["extended"]["end_ns"]));
        for (const char* c : kParts) fmt::print(",{}", dump(row["breakdown"][c]));
      }
      fmt::print("\n");
    }
  }
}

void cut(Json& document, std::size_t top) {
  for (Json& t : document["traces"]) {
    for (const char* table : {"operators", "annotations", "kernels"}) {
      if (t[table].size() > top) {
        t[table].erase(t[table].begin() + static_cast<std::ptrdiff_t>(top), t[table].end());
      }
    }
  }
}

}  // namespace

int run_summary(const SummaryOptions& o) {
  std::vector<Json> errors;
  RankReport ranks;
  const bool people = o.format != "json" && o.format != "csv";
  Json document = summary_json(files_of(o.paths, errors),
                               [&](const libtrace::Trace& trace, const TraceFile& file) {
                                 if (people && (o.view.empty() || o.view == "overview"))
                                   ranks.add(trace, file);
                               });
  for (Json& e : errors) document["errors"].push_back(std::move(e));
  if (o.format == "json") {
    if (o.top_given && o.top != 0) cut(document, o.top);
    fmt::print("{}\n", dump(document, 1));
  } else if (o.format == "csv") {
    print_csv(document, o);
    for (const Json& e : document["errors"]) {
      fmt::print(stderr, "{}: {}\n", printable(e["path"]), printable(e["message"]));
    }
  } else {
    print_text(document, o);
    for (const std::string& line : ranks.lines()) fmt::print("{}\n", printable(line));
  }
  return document["traces"].empty() && !document["errors"].empty() ? 1 : 0;
}

}  // namespace traceglass
