#include "tb_backend/api/problem.h"

#include "tb_backend/api/json.h"

namespace traceglass {
namespace {

const char* title_of(int status) {
  switch (status) {
    case 400:
      return "Bad request";
    case 401:
      return "Token needed";
    case 403:
      return "Refused";
    case 404:
      return "Not found";
    case 405:
      return "Method not allowed";
    case 409:
      return "The trace has changed";
    case 413:
      return "Too large";
    case 414:
      return "Address too long";
    case 415:
      return "Not JSON";
    case 422:
      return "Cannot be answered";
    case 429:
      return "Too many tries";
    case 507:
      return "No room left";
    case 503:
      return "Not available";
    default:
      return status < 500 ? "Bad request" : "The server failed";
  }
}

}  // namespace

nlohmann::json problem_json(const Problem& problem) {
  nlohmann::json out = {
      {"type", "about:blank"}, {"title", title_of(problem.status)}, {"status", problem.status}};
  if (!problem.detail.empty()) out["detail"] = problem.detail;
  if (!problem.code.empty()) out["code"] = problem.code;
  if (!problem.file.empty()) out["file"] = problem.file;
  if (problem.offset) out["offset"] = *problem.offset;
  return out;
}

Reply problem_reply(const Problem& problem) {
  return Reply::text(problem.status, "application/problem+json", dump(problem_json(problem)));
}

}  // namespace traceglass
