#include "tb_backend/logdir/names.h"

#include <algorithm>

namespace traceglass {
namespace {

using std::string_view;

// Seconds since 1970 have 10 digits: so many or more are a time, never a version or an ordinal.
constexpr std::size_t kTimeDigits = 10;

bool is_digits(string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool strip_suffix(string_view& text, string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.remove_suffix(suffix.size());
  return true;
}

// "2" and "v2": what stands before the last number of a version such as bert.v2.5.
bool is_version_part(string_view part) {
  if (part.starts_with('v') || part.starts_with('V')) part.remove_prefix(1);
  return is_digits(part);
}

string_view last_part(string_view stem) {
  const auto dot = stem.rfind('.');
  return dot == string_view::npos ? stem : stem.substr(dot + 1);
}

void split_stem(string_view stem, bool by_handler, FileName& out) {
  const auto dot = stem.rfind('.');
  if (dot != string_view::npos) {
    const string_view digits = stem.substr(dot + 1);
    const string_view before = stem.substr(0, dot);
    const bool is_time = digits.size() >= kTimeDigits;
    const bool is_ordinal = by_handler && !is_version_part(last_part(before));
    if (is_digits(digits) && !before.empty() && (is_time || is_ordinal)) {
      out.worker = before;
      out.span = digits;
      return;
    }
  }
  out.worker = stem;
}

}  // namespace

FileName parse_file_name(string_view name) {
  FileName out;
  if (name.starts_with('.')) return out;
  string_view stem = name;
  const bool temporary = strip_suffix(stem, ".tmp");
  bool by_handler = false;
  if (strip_suffix(stem, ".json.gz") || strip_suffix(stem, ".json")) {
    by_handler = strip_suffix(stem, ".pt.trace");
  } else if (!strip_suffix(stem, ".pftrace")) {
    return out;
  }
  out.type = temporary ? FileName::Type::kTemporary : FileName::Type::kTrace;
  split_stem(stem, by_handler, out);
  return out;
}

bool is_event_file_name(string_view name) {
  return name.find("tfevents") != string_view::npos && !name.ends_with(".tmp");
}

bool span_less(string_view a, string_view b) {
  const auto significant = [](string_view text) {
    text.remove_prefix(std::min(text.find_first_not_of('0'), text.size()));
    return text;
  };
  const string_view x = significant(a);
  const string_view y = significant(b);
  if (a.empty() != b.empty()) return a.empty();
  if (x.size() != y.size()) return x.size() < y.size();
  return x < y;
}

}  // namespace traceglass
