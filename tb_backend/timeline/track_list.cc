#include "tb_backend/timeline/track_list.h"

#include <algorithm>
#include <string>

namespace traceglass {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool contains(std::string_view text, std::string_view wanted) {
  return std::search(text.begin(), text.end(), wanted.begin(), wanted.end(),
                     [](char a, char b) { return lower(a) == lower(b); }) != text.end();
}

bool matches(const Group& group, std::string_view text) {
  return contains(group.label, text) || contains(group.sublabel, text) ||
         contains(group.section_label, text);
}

// By events, most first; alternately from both lists as long as both last.
std::vector<std::uint32_t> ranked(const Timeline& timeline, std::string_view text) {
  std::vector<std::uint32_t> devices;
  std::vector<std::uint32_t> others;
  for (const Group& group : timeline.groups()) {
    if (!text.empty() && !matches(group, text)) continue;
    (group.type == GroupType::kDevice ? devices : others).push_back(group.id);
  }
  const auto busier = [&](std::uint32_t a, std::uint32_t b) {
    const std::size_t of_a = timeline.groups()[a].events;
    const std::size_t of_b = timeline.groups()[b].events;
    return of_a != of_b ? of_a > of_b : a < b;
  };
  std::sort(devices.begin(), devices.end(), busier);
  std::sort(others.begin(), others.end(), busier);
  std::vector<std::uint32_t> out;
  out.reserve(devices.size() + others.size());
  for (std::size_t n = 0; n < std::max(devices.size(), others.size()); ++n) {
    if (n < devices.size()) out.push_back(devices[n]);
    if (n < others.size()) out.push_back(others[n]);
  }
  return out;
}

}  // namespace

TrackPage first_tracks(const Timeline& timeline) {
  const bool many = timeline.groups().size() > kFirstGroups;
  return find_tracks(timeline, "", 0, many ? kFirstOfMany : kFirstGroups);
}

TrackPage find_tracks(const Timeline& timeline, std::string_view text, std::size_t from,
                      std::size_t most) {
  TrackPage page;
  page.groups = ranked(timeline, text);
  page.total = page.groups.size();
  const std::size_t first = std::min(from, page.total);
  const std::size_t last = std::min(page.total, first + most);
  page.groups = {page.groups.begin() + static_cast<std::ptrdiff_t>(first),
                 page.groups.begin() + static_cast<std::ptrdiff_t>(last)};
  std::sort(page.groups.begin(), page.groups.end());
  return page;
}

}  // namespace traceglass
