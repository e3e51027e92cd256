#include "libtrace/nvtx/settings.h"

#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

namespace libtrace::nvtx {
namespace {

[[noreturn]] void refuse(std::string_view name, std::string_view value, std::string_view wanted) {
  throw std::invalid_argument(std::string(name) + "=" + std::string(value) + ": " +
                              std::string(wanted));
}

template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || at != end) return std::nullopt;
  return value;
}

std::string text(const Environment& environment, const char* name) {
  const char* const value = environment(name);
  return value != nullptr ? value : "";
}

std::optional<std::chrono::milliseconds> seconds(const Environment& environment, const char* name) {
  const std::string value = text(environment, name);
  if (value.empty()) return std::nullopt;
  constexpr double kLongest = 1e9;  // 30 years
  const auto s = number<double>(value);
  if (!s || !(*s >= 0 && *s <= kLongest)) refuse(name, value, "not a number of seconds");
  return std::chrono::milliseconds(std::llround(*s * 1e3));
}

std::optional<Activities> activities(const Environment& environment) {
  constexpr const char* kName = "TRACEGLASS_ACTIVITIES";
  const std::string value = text(environment, kName);
  if (value.empty()) return std::nullopt;
  if (value == "cpu") return Activities::cpu();
  if (value == "cpu,cuda") return Activities::cpu() | Activities::cuda();
  refuse(kName, value, "neither cpu nor cpu,cuda");
}

std::optional<Schedule> schedule(const Environment& environment) {
  constexpr const char* kName = "TRACEGLASS_SCHEDULE";
  const std::string value = text(environment, kName);
  if (value.empty()) return std::nullopt;
  Schedule made;
  const std::array<std::pair<std::string_view, int*>, 5> fields = {
      {{"wait", &made.wait},
       {"warmup", &made.warmup},
       {"active", &made.active},
       {"repeat", &made.repeat},
       {"skip_first", &made.skip_first}}};
  for (std::string_view rest = value; !rest.empty();) {
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    const std::size_t equals = part.find('=');
    const auto count =
        equals != part.npos ? number<int>(part.substr(equals + 1)) : std::optional<int>();
    int* field = nullptr;
    for (const auto& [key, to] : fields) {
      if (key == part.substr(0, equals)) field = to;
    }
    if (field == nullptr || !count) {
      refuse(kName, value,
             "not of the form wait=1,warmup=1,active=3,repeat=0,skip_first=0; any may be absent "
             "but active");
    }
    *field = *count;
  }
  return Schedule::make(made);
}

}  // namespace

std::optional<Settings> read_settings(const Environment& environment) {
  Settings settings;
  settings.logdir = text(environment, "TRACEGLASS_LOGDIR");
  if (settings.logdir.empty()) return std::nullopt;
  settings.worker = text(environment, "TRACEGLASS_WORKER");
  settings.activities = activities(environment);
  settings.step = text(environment, "TRACEGLASS_STEP");
  settings.schedule = schedule(environment);
  if (settings.schedule && settings.step.empty()) {
    throw std::invalid_argument(
        "TRACEGLASS_SCHEDULE needs TRACEGLASS_STEP: the name of the range "
        "that begins a step");
  }
  settings.delay = seconds(environment, "TRACEGLASS_DELAY_S").value_or(settings.delay);
  settings.duration = seconds(environment, "TRACEGLASS_DURATION_S");
  return settings;
}

}  // namespace libtrace::nvtx
