#include "tb_backend/analysis/contents.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "libtrace/model/plain_text.h"
#include "tb_backend/analysis/module_scopes.h"
#include "tb_backend/analysis/record_words.h"

namespace traceglass {

using libtrace::EventId;
using libtrace::Kind;
using libtrace::Trace;

namespace {

struct Seen {
  bool host = false, device_work = false, python = false, collective = false, shapes = false,
       stacks = false;
};

// Whether any text of the trace is `text`: without, no argument can be called that.
bool has_text(const Trace& trace, std::string_view text) {
  for (libtrace::StringId id = 0; id < trace.string_count(); ++id) {
    if (trace.text(id) == text) return true;
  }
  return false;
}

Seen look(const Trace& trace) {
  Seen s;
  const bool dims = has_text(trace, "Input Dims"), old_dims = has_text(trace, "Input dims");
  const bool stack = has_text(trace, "Call stack");
  for (EventId e = 0; e < trace.size(); ++e) {
    const Kind kind = trace.kind(e);
    const std::uint16_t flags = trace.flags(e);
    s.host = s.host || kind <= Kind::kAnnotation;
    s.device_work = s.device_work || libtrace::is_device_work(kind);
    s.collective =
        s.collective ||
        (flags & (libtrace::flag::kCommunication | libtrace::flag::kHostCollective)) != 0;
    s.python = s.python || kind == Kind::kPython;
    if (kind == Kind::kOp && !(s.shapes && s.stacks)) {
      s.shapes = s.shapes || (dims && trace.arg(e, "Input Dims")) ||
                 (old_dims && trace.arg(e, "Input dims"));
      const auto frames = stack ? trace.arg(e, "Call stack") : std::nullopt;
      s.stacks = s.stacks || (frames && !frames->text.empty());
    }
  }
  s.stacks = s.stacks || s.python;
  return s;
}

bool option_on(const Trace& trace, std::string_view key) {
  const std::string* value = trace.metadata(key);
  return value != nullptr && (*value == "1" || *value == "true");
}

}  // namespace

Contents find_contents(const Trace& trace) {
  const Seen s = look(trace);
  Contents c;
  const auto view = [&](const char* name, bool there, std::string reason) {
    if (there) {
      c.views.emplace_back(name);
    } else {
      c.missing.push_back({name, std::move(reason)});
    }
  };
  const std::string* refusal = trace.metadata("cupti_error");
  view("overview", true, "");
  view("operators", s.host, "No operators: record with " + record_words(kRecordHost) + ".");
  view("kernels", s.device_work,
       refusal == nullptr ? "No device events: record with " + record_words(kRecordDevice) + "."
                          : libtrace::plain_text(*refusal));
  view("memory", !trace.memory().empty(),
       "No memory events: record with " + record_words(kRecordMemory) + ".");
  const ModuleSource modules = find_module_source(trace);
  view("modules", modules != ModuleSource::kNone,
       "No module frames, and no annotations around operators: record with " +
           record_words(kRecordModules) + ".");
  view("roofline", s.host && s.shapes,
       "No input shapes, from which work is counted: record with " + record_words(kRecordShapes) +
           ".");
  view("distributed", s.collective,
       "No collectives: one process, or none of its collectives were recorded.");
  view("trace", trace.size() > 0, "No events.");

  const auto option = [&](const char* name, const char* key, bool seen) {
    (seen || option_on(trace, key) ? c.recorded : c.not_recorded).emplace_back(name);
  };
  option("shapes", "record_shapes", s.shapes);
  option("stacks", "with_stack", s.stacks);
  option("memory", "profile_memory", !trace.memory().empty());
  option("flops", "with_flops", false);
  option("modules", "with_modules",
         modules == ModuleSource::kFrames || modules == ModuleSource::kHierarchy);
  return c;
}

Trust judge(const libtrace::Report& report) {
  const auto any = [&](std::initializer_list<const char*> codes) {
    return std::any_of(codes.begin(), codes.end(),
                       [&](const char* code) { return report.count(code) > 0; });
  };
  const bool warning =
      std::any_of(report.entries().begin(), report.entries().end(),
                  [](const auto& e) { return e.severity == libtrace::Severity::kWarning; });
  if (any({"incomplete", "dropped_by_recorder", "no_device_events"})) {
    return {'D', "part of the recording is missing"};
  }
  if (any({"skipped", "documents"})) return {'C', "some of the file was left out"};
  if (any({"repaired"})) return {'C', "some of the file was repaired"};
  if (warning) return {'B', "nothing lost, some rows are odd"};
  return {'A', "nothing lost"};
}

}  // namespace traceglass
