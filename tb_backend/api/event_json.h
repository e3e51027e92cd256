// A slice as JSON: short, for references, and whole, for the details panel.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tb_backend/timeline/timeline.h"

namespace traceglass {

nlohmann::json event_ref(const Timeline& timeline, libtrace::EventId e);
// `step`: name of the step it starts in, "" for none.
nlohmann::json event_json(const Timeline& timeline, libtrace::EventId e, const std::string& step);

// A value of a trace for a browser: integers beyond 2^53 and JSON too deep to walk become text.
nlohmann::json value_json(const libtrace::Value& value);

}  // namespace traceglass
