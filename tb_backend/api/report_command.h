// `traceglass report`: what the page shows of one trace, as one page that opens anywhere, or as
// Markdown for a pull request.
#pragma once

#include <cstddef>
#include <string>

namespace traceglass {

struct ReportCommand {
  std::string path, output;  // output: .html or .md tells what it becomes
  std::string format;        // html or markdown; "": by the name of the output
  std::string web_dir;       // folder of the built page; "": found as the server finds it
  std::size_t top = 10;      // rows of a table in Markdown; 0: all
  double most_mb = 3;        // of a page
};

// Returns the exit status.
int run_report(const ReportCommand& command);

}  // namespace traceglass
