#include "tb_backend/analysis/figures.h"

#include <cmath>
#include <cstdio>

namespace traceglass {

namespace {

// Three significant digits below 1000, no more than two decimals.
std::string digits(double value) {
  const double size = std::abs(value);
  char out[32];
  std::snprintf(out, sizeof out, "%.*f", size < 9.995 ? 2 : size < 99.95 ? 1 : 0, value);
  return out;
}

}  // namespace

double percent(std::int64_t part, std::int64_t whole) {
  return whole <= 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string time_text(std::int64_t ns) {
  const auto value = static_cast<double>(ns);
  const double size = std::abs(value);
  if (size < 999.5) return std::to_string(ns) + " ns";
  if (size < 999.5e3) return digits(value / 1e3) + " µs";
  if (size < 999.5e6) return digits(value / 1e6) + " ms";
  if (size < 120e9) return digits(value / 1e9) + " s";
  const std::int64_t seconds = std::llabs(ns) / 1'000'000'000;
  const std::string sign = ns < 0 ? "-" : "";
  if (seconds < 7200) {
    return sign + std::to_string(seconds / 60) + " min " + std::to_string(seconds % 60) + " s";
  }
  if (seconds < 48 * 3600) {
    return sign + std::to_string(seconds / 3600) + " h " + std::to_string(seconds / 60 % 60) +
           " min";
  }
  return sign + std::to_string(seconds / 86400) + " days";
}

std::string bytes_text(std::int64_t bytes) {
  double value = static_cast<double>(bytes);
  if (bytes < 1024) return std::to_string(bytes) + " B";
  const char* unit = "B";
  for (const char* next : {"KiB", "MiB", "GiB", "TiB"}) {
    if (value < 1023.5) break;
    value /= 1024;
    unit = next;
  }
  return digits(value) + ' ' + unit;
}

std::string count_text(std::size_t count, const std::string& noun) {
  return std::to_string(count) + ' ' + noun + (count == 1 ? "" : "s");
}

std::string short_name(std::string_view name) {
  constexpr std::size_t kMost = 60;
  if (name.size() <= kMost) return std::string(name);
  std::size_t cut = kMost - 3;
  while (cut > 0 && (static_cast<unsigned char>(name[cut]) & 0xC0U) == 0x80U) --cut;
  return std::string(name.substr(0, cut)) + "...";
}

}  // namespace traceglass
