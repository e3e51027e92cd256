// A report as Markdown for a pull request: what limits a step, where its time goes, the largest
// costs, and how far the trace can be trusted.
#pragma once

#include <cstddef>
#include <string>

#include "tb_backend/analysis/overview.h"
#include "tb_backend/analysis/verdicts.h"
#include "tb_backend/api/registry.h"

namespace traceglass {

struct ReportFacts {
  std::string file;
  const libtrace::Trace& trace;
  const Selection& selection;
  const Overview& overview;
  const std::vector<Verdict>& verdicts;
  std::size_t top = 10;  // rows of a table
};

std::string report_markdown(const ReportFacts& facts);
// Of a loaded trace, of the steps that are shown unasked.
std::string report_markdown(const LoadedTrace& loaded, std::size_t top);

}  // namespace traceglass
