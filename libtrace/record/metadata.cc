#include "libtrace/record/metadata.h"

#include <sys/random.h>
#include <unistd.h>

#include <array>

#include "libtrace/record/json.h"

namespace libtrace::detail {
namespace {

std::string host_name() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

std::string json_of(const ProcessGroup& group) {
  std::string ranks;
  for (const int rank : group.ranks) ranks += (ranks.empty() ? "" : ", ") + std::to_string(rank);
  return "{\"pg_name\": " + json_quoted(group.name) +
         ", \"pg_desc\": " + json_quoted(group.description) +
         ", \"backend_config\": " + json_quoted(group.backend) +
         ", \"pg_size\": " + std::to_string(group.ranks.size()) + ", \"ranks\": [" + ranks + "]}";
}

// The keys are torch's. With a blank behind each colon: HTA looks for `"rank": 3` as text.
std::string json_of(const DistributedInfo& d) {
  std::string json = "{\"backend\": " + json_quoted(d.backend) +
                     ", \"rank\": " + std::to_string(d.rank) +
                     ", \"world_size\": " + std::to_string(d.world_size);
  if (!d.groups.empty()) {
    std::string groups;
    for (const ProcessGroup& g : d.groups) groups += (groups.empty() ? "" : ", ") + json_of(g);
    json +=
        ", \"pg_count\": " + std::to_string(d.groups.size()) + ", \"pg_config\": [" + groups + "]";
  }
  if (!d.nccl_version.empty()) json += ", \"nccl_version\": " + json_quoted(d.nccl_version);
  return json + "}";
}

}  // namespace

// 128 random bits, as torch names its traces.
std::string random_trace_id() {
  std::array<unsigned char, 16> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) < 0) return {};
  std::string text;
  for (const unsigned char b : bytes) {
    text += "0123456789ABCDEF"[b >> 4];
    text += "0123456789ABCDEF"[b & 15];
  }
  return text;
}

void set_metadata(Metadata& metadata, std::string_view key, std::string_view json) {
  for (auto& [known, value] : metadata) {
    if (known == key) {
      value = json;
      return;
    }
  }
  metadata.emplace_back(key, json);
}

bool is_reserved_key(std::string_view key) noexcept {
  for (const std::string_view name :
       {"schemaVersion", "deviceProperties", "displayTimeUnit", "baseTimeNanoseconds",
        "traceEvents", "traceName", "distributedInfo", "dropped_events", "dropped_traces",
        "clock_jump_ns", "cupti_error", "cupti_advice", "trace_id", "record_shapes",
        "profile_memory", "with_stack", "with_flops", "with_modules"}) {
    if (key == name) return true;
  }
  return false;
}

Status check_metadata(std::string_view key, std::string_view json) {
  if (is_reserved_key(key)) {
    return Status::invalid_argument("Metadata key is reserved: " + std::string(key));
  }
  if (!is_json(json)) {
    return Status::invalid_argument("Metadata is no JSON value: " + std::string(key));
  }
  return {};
}

Metadata standard_metadata(const Options& options, std::string_view trace_id) {
  Metadata m{{"schemaVersion", "1"}, {"deviceProperties", "[]"}};
  if (const auto& d = options.distributed) m.emplace_back("distributedInfo", json_of(*d));
  m.emplace_back("trace_id", json_quoted(trace_id));
  const auto flag = [&](const char* name, bool on) {
    if (on) m.emplace_back(name, "1");
  };
  flag("with_stack", options.with_stack);
  flag("profile_memory", options.profile_memory);
  flag("record_shapes", options.record_shapes);
  flag("with_modules", options.with_modules);
  flag("with_flops", options.with_flops);
  m.emplace_back("host_name", json_quoted(host_name()));
  return m;
}

}  // namespace libtrace::detail
