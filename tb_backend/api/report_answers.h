// What a report holds of the API: the answers that the page asks for by itself, of one trace and of
// the steps that it shows unasked, each under the addresses that it is asked by.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tb_backend/api/router.h"

namespace traceglass {

// Answers that are of use together only.
struct AnswerSet {
  std::string view;  // that needs it; "" where a view only says more with it
  std::string json;  // as the page reads it (web_frontend/src/app/report/embedded.ts)
};

class ReportAnswers {
 public:
  // The trace must be loaded. `steps`: first and last position of those shown unasked.
  ReportAnswers(Services& services, const LoadedTrace& loaded);

  // What every view starts from; of the trace's views those in `views` are offered.
  [[nodiscard]] std::string shell(const std::vector<std::string>& views) const;
  // In the order of worth; a view whose answer is not to be had is not among them.
  [[nodiscard]] std::vector<AnswerSet> views() const;
  [[nodiscard]] std::vector<AnswerSet> extras() const;

 private:
  class Writer;
  using Parameters = std::vector<std::pair<std::string, std::string>>;

  [[nodiscard]] Parameters chosen(Parameters more = {}) const;
  [[nodiscard]] AnswerSet details(const char* path, const char* list, const char* row_key,
                                  const char* key, const Parameters& more) const;
  [[nodiscard]] AnswerSet events() const;

  Services& services_;
  const LoadedTrace& loaded_;
  std::string steps_;  // "" for all
};

// The step that a page shows in time: of the usual ones the one nearest to their mean. The whole
// range of a trace without steps.
libtrace::TimeRange shown_step(const LoadedTrace& loaded);

}  // namespace traceglass
