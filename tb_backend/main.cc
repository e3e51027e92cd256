// The command line: what a user types, turned into options of the parts that do it.
#include <CLI/CLI.hpp>

#include "tb_backend/api/serve.h"
#include "tb_backend/api/summary.h"

namespace {

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
  command->add_flag("--no-auth", options.no_auth, "let everybody read who reaches the address");
  command->add_option("--secret", options.secret,
                      "answer only requests with this X-Traceglass-Secret (or TRACEGLASS_SECRET)");
  command->add_flag("--exit-with-parent", options.exit_with_parent,
                    "end when standard input closes or the parent ends");
  command->add_option("--memory-gib", options.memory_gib,
                      "keep loaded traces up to this size; 0 is half of the machine's memory");
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
  CLI::Option* top = command->add_option("--top", options.top, "rows of a table; 0 for all");
  command->callback([top, &status] {
    options.top_given = top->count() > 0;
    status = traceglass::run_summary(options);
  });
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Traceglass: profiles of PyTorch-style programs");
  app.require_subcommand(1);
  int status = 0;
  add_serve(app, status);
  add_summary(app, status);
  CLI11_PARSE(app, argc, argv);
  return status;
}
