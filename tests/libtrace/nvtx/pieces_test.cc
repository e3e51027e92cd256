// Names, open ranges, settings and timer of the NVTX injection library.
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "libtrace/nvtx/auto_profile.h"
#include "libtrace/nvtx/names.h"
#include "libtrace/nvtx/open_ranges.h"
#include "libtrace/nvtx/settings.h"
#include "tests/libtrace/nvtx/thread_signals.h"

namespace libtrace::nvtx {
namespace {

TEST(Names, WideTextBecomesUtf8) {
  EXPECT_EQ(Narrow(nullptr).view(), "");
  EXPECT_EQ(Narrow(L"a\u00df\u20ac\U0001F600").view(), "a\u00df\u20ac\U0001F600");
  const wchar_t no_characters[] = {0xD800, 0x110000, 0};
  EXPECT_EQ(Narrow(no_characters).view(), "\uFFFD\uFFFD");
  EXPECT_EQ(Narrow(std::wstring(5000, L'\u20ac').c_str()).view().size(), 15000U);
}

TEST(Names, EqualTextsAreOne) {
  const Name* const name = registered_string("text");
  EXPECT_EQ(registered_string(std::string("text")), name);
  EXPECT_EQ(name->text, "text");
  EXPECT_NE(registered_string("another"), name);
  EXPECT_NE(domain_of_name("text"), name);
}

TEST(Names, CategoriesBelongToADomain) {
  const Name* const domain = domain_of_name("d");
  name_category(domain, 1, "one");
  name_category(nullptr, 1, "first");
  name_category(domain, 1, "uno");
  EXPECT_EQ(category_name(domain, 1), "uno");
  EXPECT_EQ(category_name(nullptr, 1), "first");
  EXPECT_EQ(category_name(domain, 2), "");
}

int handles[3];
void push_one(const void* domain, int& handle) {
  OpenRange* slot = nullptr;
  push_range(domain, slot);
  ASSERT_NE(slot, nullptr);
  slot->handle = &handle;
}

TEST(OpenRanges, APopMeansTheInnermostOfItsDomain) {
  const int domain = 0;
  push_one(nullptr, handles[0]);
  push_one(&domain, handles[1]);
  push_one(nullptr, handles[2]);
  EXPECT_EQ(pop_range(&domain).range.handle, &handles[1]);
  EXPECT_EQ(pop_range(&domain).level, kNoPushPopTracking);
  EXPECT_EQ(pop_range(nullptr).range.handle, &handles[2]);
  const Popped last = pop_range(nullptr);
  EXPECT_EQ(last.level, 0);
  EXPECT_EQ(last.range.handle, &handles[0]);
}

TEST(OpenRanges, ThreadsHaveStacksOfTheirOwn) {
  push_one(nullptr, handles[0]);
  std::thread([] { EXPECT_EQ(pop_range(nullptr).level, kNoPushPopTracking); }).join();
  EXPECT_EQ(pop_range(nullptr).level, 0);
}

TEST(OpenRanges, ASharedRangeIsTakenOnce) {
  const RangeId id = reserve_range();
  EXPECT_EQ(take_range(id).handle, nullptr);  // not filled yet
  fill_range(id, {nullptr, &handles[0]});
  EXPECT_EQ(take_range(id + 65536).handle, nullptr);  // of the same slot
  EXPECT_EQ(take_range(id).handle, &handles[0]);
  EXPECT_EQ(take_range(id).handle, nullptr);
  EXPECT_EQ(take_range(0).handle, nullptr);
}

TEST(OpenRanges, PlacesRunOutAndComeBack) {
  std::vector<RangeId> ids;
  while (const RangeId id = reserve_range()) {
    fill_range(id, {nullptr, &handles[0]});
    ids.push_back(id);
  }
  EXPECT_EQ(ids.size(), 65536U);
  for (const RangeId id : ids) EXPECT_EQ(take_range(id).handle, &handles[0]);
  const RangeId again = reserve_range();
  EXPECT_NE(again, 0U);
  fill_range(again, {});
  take_range(again);
}

std::optional<Settings> settings(const std::map<std::string, std::string>& environment) {
  return read_settings([&](const char* name) -> const char* {
    const auto it = environment.find(name);
    return it != environment.end() ? it->second.c_str() : nullptr;
  });
}

TEST(SettingsTest, NoLogdirNoTrace) {
  EXPECT_FALSE(settings({}));
  EXPECT_FALSE(settings({{"TRACEGLASS_LOGDIR", ""}, {"TRACEGLASS_STEP", "x"}}));
}

TEST(SettingsTest, All) {
  const auto s = settings({{"TRACEGLASS_LOGDIR", "logs"},
                           {"TRACEGLASS_WORKER", "w"},
                           {"TRACEGLASS_ACTIVITIES", "cpu,cuda"},
                           {"TRACEGLASS_STEP", "step"},
                           {"TRACEGLASS_SCHEDULE", "wait=1,active=3,repeat=2"},
                           {"TRACEGLASS_DELAY_S", "1.5"},
                           {"TRACEGLASS_DURATION_S", "10"}});
  ASSERT_TRUE(s);
  EXPECT_EQ(s->logdir, "logs");
  EXPECT_EQ(s->worker, "w");
  ASSERT_TRUE(s->activities);
  EXPECT_TRUE(s->activities->has(Activities::cpu() | Activities::cuda()));
  EXPECT_EQ(s->step, "step");
  ASSERT_TRUE(s->schedule);
  EXPECT_EQ(s->schedule->wait, 1);
  EXPECT_EQ(s->schedule->warmup, 0);
  EXPECT_EQ(s->schedule->active, 3);
  EXPECT_EQ(s->schedule->repeat, 2);
  EXPECT_EQ(s->delay.count(), 1500);
  ASSERT_TRUE(s->duration);
  EXPECT_EQ(s->duration->count(), 10000);
}

TEST(SettingsTest, WhatMeansNothingIsRefused) {
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, std::string>>{{"TRACEGLASS_DELAY_S", "-1"},
                                                        {"TRACEGLASS_DELAY_S", "nan"},
                                                        {"TRACEGLASS_DURATION_S", "5s"},
                                                        {"TRACEGLASS_SCHEDULE", "active"},
                                                        {"TRACEGLASS_SCHEDULE", "active=0"},
                                                        {"TRACEGLASS_SCHEDULE", "active=1,often=2"},
                                                        {"TRACEGLASS_SCHEDULE", "active=1,,"}}) {
    SCOPED_TRACE(name + "=" + value);
    EXPECT_THROW(settings({{"TRACEGLASS_LOGDIR", "l"}, {"TRACEGLASS_STEP", "s"}, {name, value}}),
                 std::invalid_argument);
  }
  EXPECT_THROW(settings({{"TRACEGLASS_LOGDIR", "l"}, {"TRACEGLASS_SCHEDULE", "active=1"}}),
               std::invalid_argument);
}

TEST(Timer, TakesNoSignalOfTheHost) {
  Settings settings;
  settings.logdir = "unused";  // nothing is recorded before the delay is over
  settings.delay = std::chrono::hours(1);
  AutoProfile profile(settings, [](std::string_view) {});
  profile.begin();
  const std::uint64_t blocked = testing::blocked_signals_of("libtrace-time");
  EXPECT_TRUE((blocked & testing::signal_bit(SIGTERM)) != 0);
  EXPECT_TRUE((blocked & testing::signal_bit(SIGUSR1)) != 0);
  profile.end();
}

}  // namespace
}  // namespace libtrace::nvtx
