// How far a profile can be trusted: what was repaired, skipped, odd or lost, counted, with a
// sentence for a user. Made by whoever makes the Trace, shown on every page.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace libtrace {

enum class Severity : std::uint8_t { kInfo, kWarning, kError };
std::string_view severity_name(Severity severity) noexcept;  // "info", "warning", "error"

struct ReportEntry {
  std::string code;  // e.g. "repaired", "overlap": the closed list in model/report.cc
  Severity severity = Severity::kWarning;
  std::int64_t count = 0;
  std::string message;             // a sentence
  std::vector<std::string> first;  // the first few places: "byte 1234" or an event's name

  friend bool operator==(const ReportEntry& a, const ReportEntry& b) {
    return std::tie(a.code, a.severity, a.count, a.message, a.first) ==
           std::tie(b.code, b.severity, b.count, b.message, b.first);
  }
};

// Keeps at most `kFirst` places a code; counts all.
class Report {
 public:
  static constexpr std::size_t kFirst = 5;

  // Adds `count` occurrences of `code`. `code` is one of the known codes: severity and sentence
  // follow from it; `detail`, if any, is appended to the sentence (the last one stays).
  void add(std::string_view code, std::int64_t count = 1, std::string place = {},
           std::string_view detail = {});
  [[nodiscard]] const ReportEntry* find(std::string_view code) const noexcept;
  [[nodiscard]] std::int64_t count(std::string_view code) const noexcept;
  [[nodiscard]] const std::vector<ReportEntry>& entries() const noexcept { return entries_; }

  friend bool operator==(const Report& a, const Report& b) { return a.entries_ == b.entries_; }

 private:
  std::vector<ReportEntry> entries_;
};

}  // namespace libtrace
