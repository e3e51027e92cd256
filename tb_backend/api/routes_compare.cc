// Two traces of the log directory against each other: both are loaded first.
#include "tb_backend/api/compare_json.h"
#include "tb_backend/api/encoding.h"
#include "tb_backend/api/json.h"
#include "tb_backend/api/problem.h"
#include "tb_backend/api/router.h"
#include "tb_backend/logdir/stable_hash.h"

namespace traceglass {
namespace {

std::string text_of(const Query& query, const char* name) {
  const std::string* value = query.find(name);
  return value == nullptr ? std::string() : *value;
}

Reply comparison(Services& services, const Call& call, const PathArgs&) {
  const auto snapshot = services.watcher.snapshot();
  std::shared_ptr<const LoadedTrace> loaded[2];
  std::optional<Reply> pending;
  const char* const sides[2] = {"a", "b"};
  const TraceFile* files[2] = {};
  for (int i = 0; i < 2; ++i) {
    const std::string& id = call.query.required(sides[i]);
    files[i] = snapshot->find(id);
    if (files[i] == nullptr) {
      return problem_reply({404,
                            "not_found",
                            "There is no trace " + id.substr(0, 32) +
                                " in the log directory (any more): choose another one for " +
                                (i == 0 ? "A." : "B."),
                            "",
                            {}});
    }
  }
  // Else, where both do not fit the budget, each load would throw out the other side.
  services.registry.hold({files[0]->id, files[1]->id});
  for (int i = 0; i < 2; ++i) {
    const TraceFile* file = files[i];
    const LoadStatus status = services.registry.ask(*file);
    if (status.error) return file_error_reply(*file, *status.error);
    if (!status.loaded && !pending) pending = status_reply(*file, status, 202);
    loaded[i] = status.loaded;
  }
  if (pending) return *pending;
  const std::string etag = stable_hash(loaded[0]->generation + '\n' + loaded[1]->generation + '\n' +
                                       call.path + '\n' + call.query.canonical());
  Reply reply;
  if (has_etag(call, etag)) {
    reply.status = 304;
  } else {
    auto [chosen_a, chosen_b] =
        choose_selections({loaded[0]->steps, text_of(call.query, "steps_a")},
                          {loaded[1]->steps, text_of(call.query, "steps_b")});
    const CompareSource a{*loaded[0]->trace, loaded[0]->file, std::move(chosen_a.selection),
                          chosen_a.set_aside};
    const CompareSource b{*loaded[1]->trace, loaded[1]->file, std::move(chosen_b.selection),
                          chosen_b.set_aside};
    const Comparison c = compare({a.trace, a.selection}, {b.trace, b.selection});
    reply = json_reply(comparison_json(a, b, c));
  }
  reply.etag = etag;
  reply.cache = kRevalidate;
  return reply;
}

}  // namespace

std::vector<LogdirRoute> compare_routes() { return {{"compare", comparison}}; }

}  // namespace traceglass
