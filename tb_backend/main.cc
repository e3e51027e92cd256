// The command line: what a user types, turned into options of the parts that do it.
#include <CLI/CLI.hpp>

#include "tb_backend/api/summary.h"

namespace {

void add_summary(CLI::App& app, int& status) {
  static traceglass::SummaryOptions options;
  CLI::App* command = app.add_subcommand(
      "summary", "Print what traces or log directories hold: text, JSON or CSV");
  command->add_option("path", options.paths, "trace files and log directories")->required();
  command->add_option("--format", options.format, "text, json or csv")
      ->check(CLI::IsMember({"text", "json", "csv"}));
  command->add_option("--view", options.view, "one table only")
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
  add_summary(app, status);
  CLI11_PARSE(app, argc, argv);
  return status;
}
