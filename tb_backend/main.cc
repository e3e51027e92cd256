// The command line: what a user types, turned into options of the parts that do it.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <limits>
#include <optional>
#include <string>

#include "tb_backend/api/cut_command.h"
#include "tb_backend/api/diff_command.h"
#include "tb_backend/api/index_command.h"
#include "tb_backend/api/key_averages_command.h"
#include "tb_backend/api/metrics_command.h"
#include "tb_backend/api/report_command.h"
#include "tb_backend/api/serve.h"
#include "tb_backend/api/summary.h"

namespace {

void add_index_options(CLI::App& command, traceglass::IndexOptions& options) {
  command.add_option(
      "--index", options.directory,
      "folder of saved indexes (or TRACEGLASS_INDEX, which may be off); by default in "
      "the user's cache");
  command
      .add_option("--index-size", options.most_bytes,
                  "keep saved indexes up to this size (20GB), and a tenth of the disk at most")
      ->transform(CLI::AsSizeValue(false));
}

void add_serve(CLI::App& app, int& status) {
  static traceglass::ServeOptions options;
  CLI::App* command = app.add_subcommand("serve", "Serve a log directory to a browser");
  CLI::Option* logdir =
      command->add_option("logdir", options.logdir, "directory of traces, or one trace file");
  command
      ->add_option("--logdir-spec,--logdir_spec", options.logdir_spec,
                   "several directories under names: a:x,b:y")
      ->excludes(logdir);
  command->add_option("--host", options.host, "address to listen on")->capture_default_str();
  command->add_option("--port", options.port, "port; 0 takes a free one")
      ->capture_default_str()
      ->check(CLI::Range(0, 65535));
  command->add_option("--path-prefix,--path_prefix", options.path_prefix,
                      "serve below this path too, behind a proxy");
  command->add_option("--web-dir", options.web_dir, "folder of the built page");
  command->add_option("--token", options.token,
                      "what a reader must know; needed with --host beyond this machine "
                      "(or TRACEGLASS_TOKEN)");
  command->add_option("--token-file", options.token_file,
                      "lines write TOKEN and read TOKEN: who may write notes, who may only read");
  command->add_flag("--no-auth", options.no_auth,
                    "let everybody who reaches the address read, and write notes");
  command->add_option("--notes", options.notes,
                      "file of the notes; by default .traceglass/notes.db in the log directory");
  command->add_option("--allow-host", options.host_names,
                      "a further name under which this server is reached, behind a proxy");
  command->add_option("--user-header", options.user_header,
                      "header in which a trusted proxy names the user");
  command->add_option("--trusted-proxy", options.trusted_proxies,
                      "address of a proxy whose word on user, client and TLS counts");
  command->add_option("--secret", options.secret,
                      "answer only requests with this X-Traceglass-Secret (or TRACEGLASS_SECRET)");
  command->add_flag("--exit-with-parent", options.exit_with_parent,
                    "end when standard input closes or the parent ends");
  command
      ->add_option("--memory", options.memory,
                   "keep loaded traces up to this size: 4GB, 500MB; 0 is half of the machine's")
      ->transform(CLI::AsSizeValue(false));
  add_index_options(*command, options.index);
  command->add_flag("--no-index", options.index.off, "neither use nor save indexes");
  command->callback([logdir, &status] {
    if (logdir->count() == 0 && options.logdir_spec.empty()) {
      throw CLI::RequiredError("logdir or --logdir-spec");
    }
    status = traceglass::serve(options);
  });
}

void add_summary(CLI::App& app, int& status) {
  static traceglass::SummaryOptions options;
  CLI::App* command =
      app.add_subcommand("summary", "Print what traces or log directories hold: text, JSON or CSV");
  command->add_option("path", options.paths, "trace files and log directories")->required();
  command->add_option("--format", options.format, "text, json or csv")
      ->check(CLI::IsMember({"text", "json", "csv"}));
  command->add_option("--view", options.view, "one table only, of text and CSV")
      ->check(CLI::IsMember({"overview", "operators", "annotations", "kernels", "memory"}));
  CLI::Option* top = command->add_option("--top", options.top, "rows of a table; 0 for all")
                         ->check(CLI::Range(0, 1'000'000'000));
  command->callback([top, &status] {
    options.top_given = top->count() > 0;
    status = traceglass::run_summary(options);
  });
}

void add_key_averages(CLI::App& app, int& status) {
  static traceglass::KeyAveragesCommand options;
  CLI::App* command =
      app.add_subcommand("key-averages", "Print torch's table of a trace: text, JSON or CSV");
  command->add_option("file", options.path, "trace file")->required();
  command->add_flag("--group-by-input-shape", options.group.group_by_input_shape,
                    "a row for each list of input shapes");
  command
      ->add_option("--group-by-stack-n", options.group.group_by_stack_n,
                   "tell rows apart by this many innermost frames of the stack")
      ->check(CLI::Range(0, std::numeric_limits<int>::max()));
  command->add_flag("--group-by-overload-name", options.group.group_by_overload_name,
                    "a row for each overload");
  command->add_flag("--include-python-functions", options.group.include_python_functions,
                    "list Python frames too");
  command->add_flag("--memory-by-thread", options.group.memory_by_thread,
                    "memory of a row is its own thread's; torch counts all threads");
  command->add_option("--sort-by", options.table.sort_by,
                      "cpu_time_total, self_cpu_time_total, device_time_total, cpu_memory_usage, "
                      "count, flops, …; by default the order of the first calls");
  CLI::Option* limit = command->add_option("--row-limit", options.table.row_limit,
                                           "rows printed; -1 for all, as JSON and CSV do");
  command->add_flag("--top-level-events-only", options.table.top_level_events_only,
                    "leave out what is called by another");
  const auto add_width = [command](const char* name, std::optional<int>& width) {
    command
        ->add_option_function<int>(
            name, [&width](int n) { width = n < 0 ? std::nullopt : std::optional(n); },
            "cut the column to this width; -1 does not")
        ->type_name("INT");
  };
  add_width("--max-name-column-width", options.table.max_name_column_width);
  add_width("--max-shapes-column-width", options.table.max_shapes_column_width);
  add_width("--max-src-column-width", options.table.max_src_column_width);
  command->add_option("--time-unit", options.table.time_unit, "of the text: s, ms or us")
      ->check(CLI::IsMember({"s", "ms", "us"}));
  command->add_option("--format", options.format, "text, json or csv")
      ->check(CLI::IsMember({"text", "json", "csv"}));
  command->callback([limit, &status] {
    options.row_limit_given = limit->count() > 0;
    status = traceglass::run_key_averages(options);
  });
}

void add_index(CLI::App& app, int& status) {
  static traceglass::IndexCommand options;
  CLI::App* command = app.add_subcommand(
      "index", "Save what was read of traces, so that a server opens them at once");
  command->add_option("path", options.paths, "trace files and log directories")->required();
  add_index_options(*command, options.index);
  command->callback([&status] { status = traceglass::run_index(options); });
}

void add_metrics(CLI::App& app, int& status) {
  static traceglass::MetricsCommand options;
  CLI::App* command = app.add_subcommand(
      "metrics",
      "Print numbers of each profiled step, or write them for TensorBoard's Time Series");
  command->add_option("path", options.path, "log directory or trace file")->required();
  command->add_flag(
      "--write", options.write,
      "write event files beside the traces, in traceglass/<worker>/; again: the same");
  command->callback([&status] { status = traceglass::run_metrics(options); });
}

void add_cut(CLI::App& app, int& status) {
  static traceglass::CutCommand options;
  CLI::App* command = app.add_subcommand("cut", "Write a part of a trace as a trace of its own");
  command->add_option("file", options.path, "trace file")->required();
  CLI::Option* from = command->add_option(
      "--from", options.from, "from the start of the trace: 1.5s, 20ms, 7us, 12ns; by default 0");
  CLI::Option* to = command->add_option("--to", options.to, "its end, counted alike");
  command->add_option("--steps", options.steps, "steps instead of times: 3-5 or 4")
      ->excludes(from)
      ->excludes(to);
  command->add_option("-o,--output", options.output, "file to write; .gz compresses")->required();
  command->callback([&status] { status = traceglass::run_cut(options); });
}

void add_report(CLI::App& app, int& status) {
  static traceglass::ReportCommand options;
  CLI::App* command = app.add_subcommand(
      "report",
      "Write what the page shows of one trace as one page that opens anywhere, without a server, "
      "or as Markdown for a pull request");
  command->add_option("path", options.path, "trace file, or a directory of one worker")->required();
  command->add_option("-o,--output", options.output,
                      "file to write: page.html or report.md; without it Markdown is printed");
  command->add_option("--format", options.format, "html or markdown, if the name does not tell")
      ->check(CLI::IsMember({"html", "markdown"}));
  command->add_option("--top", options.top, "rows of a table in Markdown; 0 for all")
      ->check(CLI::Range(0, 1'000'000'000))
      ->capture_default_str();
  command
      ->add_option("--max-mb", options.most_mb, "size of the page: what is worth least is left out")
      ->check(CLI::Range(1.0, 1000.0))
      ->capture_default_str();
  command->add_option("--web-dir", options.web_dir, "folder of the built page");
  command->callback([&status] { status = traceglass::run_report(options); });
}

void add_diff(CLI::App& app, int& status) {
  static traceglass::DiffOptions options;
  CLI::App* command = app.add_subcommand(
      "diff",
      "Compare the steps of two traces: how much slower or faster B is than A, by what, and "
      "whether that is more than chance.\nExit status: 0, 1 if a trace cannot be read, 3 if B is "
      "slower than --fail-on allows: significantly, or by the means alone where too few steps are "
      "there to tell, or if there is nothing to compare.");
  command->add_option("a", options.a, "trace file, or a directory of one worker: its newest span")
      ->required();
  command->add_option("b", options.b, "the one that is compared with A")->required();
  command->add_option("--steps-a", options.steps_a, "numbers of steps of A: 6-10 or 6");
  command->add_option("--steps-b", options.steps_b, "… and of B");
  command->add_flag("--all-steps", options.all_steps,
                    "count a first step too that is plainly unlike the others");
  command->add_option("--format", options.format, "text, json or markdown (for a pull request)")
      ->check(CLI::IsMember({"text", "json", "markdown"}));
  CLI::Option* top = command->add_option("--top", options.top, "rows of a table; 0 for all")
                         ->check(CLI::Range(0, 1'000'000'000));
  command
      ->add_option_function<std::string>(
          "--fail-on",
          [](const std::string& text) {
            options.fail_on_pct = traceglass::parse_percent(text);
            if (!options.fail_on_pct) {
              throw CLI::ValidationError("--fail-on", "must be a percentage such as 5%");
            }
          },
          "end with 3 if a step of B takes this much longer than one of A, significantly (5%)")
      ->type_name("PERCENT");
  command->callback([top, &status] {
    options.top_given = top->count() > 0;
    status = traceglass::run_diff(options);
  });
}

// A first word that is no command: what CLI11 says of it is that some command is missing.
bool names_no_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2) return false;
  const std::string word = argv[1];
  if (word.empty() || word == "-h" || word == "--help" || word == "--version") return false;
  std::string commands;
  for (const CLI::App* command : app.get_subcommands({})) {
    if (command->get_name() == word) return false;
    commands += (commands.empty() ? "" : ", ") + command->get_name();
  }
  const bool option = word.front() == '-';
  std::fprintf(stderr, "traceglass: there is no %s \"%s\". %s %s; traceglass --help says more.\n",
               option ? "option" : "command", word.c_str(),
               option ? "A command comes first:" : "The commands are", commands.c_str());
  return true;
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app("Traceglass: profiles of PyTorch-style programs");
  app.require_subcommand(1);
  app.set_version_flag("--version", "traceglass " TRACEGLASS_VERSION);
  int status = 0;
  add_serve(app, status);
  add_summary(app, status);
  add_key_averages(app, status);
  add_metrics(app, status);
  add_cut(app, status);
  add_report(app, status);
  add_diff(app, status);
  add_index(app, status);
  if (names_no_command(app, argc, argv)) return 2;
  CLI11_PARSE(app, argc, argv);
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    std::perror("The output could not be written");
    return 1;
  }
  return status;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
