// SPDX-License-Identifier: Apache-2.0
#include "stats/linux/wakeup_counts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vmnuma::stats {
namespace {

using testing::HasSubstr;

const WakeupCounts kCounts{Microseconds{8'123'456'789},
                           Microseconds{2'000'000},
                           {{4711, 4712, 90210}, {4711, 4999, 3}, {4712, 4713, 0}}};
constexpr std::string_view kText =
    "vmnuma-wakeups 1 8123456789 2000\n"
    "4711 4712 90210\n"
    "4711 4999 3\n"
    "4712 4713 0\n";

TEST(WakeupCountsTest, HaveTheDocumentedForm) {
  EXPECT_EQ(text_of(kCounts), kText);
}

TEST(WakeupCountsTest, AreReadAsTheyWereWritten) {
  const auto read = parse_wakeup_counts(kText);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, kCounts);
  const WakeupCounts none{Microseconds{5}, Microseconds{1000}, {}};
  EXPECT_EQ(parse_wakeup_counts(text_of(none)).value(), none);
}

TEST(WakeupCountsTest, AnythingElseIsRefusedAndQuoted) {
  const std::string first = "vmnuma-wakeups 1 8123456789 2000\n";
  for (const std::string& text : {std::string(),
                                  std::string("\n"),
                                  std::string("vmnuma-wakeups 1 8123456789 2000"),
                                  std::string("vmnuma-wakeups 2 8123456789 2000\n"),
                                  std::string("vmnuma-wakeups 1 8123456789\n"),
                                  std::string("vmnuma-wakeups 1 8123456789 2000 3\n"),
                                  std::string("vmnuma-wakeups 1 -1 2000\n"),
                                  std::string("vmnuma-wakeups 1 1 0\n"),
                                  std::string("vmnuma-wakeups 1 1 60001\n"),
                                  std::string("vmnuma-wakeups 1 9223372036854775808 2000\n"),
                                  first + "1 2 3",
                                  first + "1 2\n",
                                  first + "1 2 3 4\n",
                                  first + "1 1 3\n",
                                  first + "2 1 3\n",
                                  first + "1 2 -3\n",
                                  first + "1 2 x\n",
                                  first + "1 2 9223372036854775808\n",
                                  first + "\n",
                                  first + "1 2 3\n1 2 3\n",
                                  first + "1 3 3\n1 2 3\n",
                                  first + "2 3 3\n1 4 3\n"}) {
    const auto read = parse_wakeup_counts(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, ErrorCode::kCorrupt) << text;
    EXPECT_THAT(read.error().message, HasSubstr("a file of vmnuma-wakeups")) << text;
  }
  EXPECT_THAT(parse_wakeup_counts(first + "1 2 x\n").error().message, HasSubstr("'1 2 x'"));
}

TEST(WakeupCountsTest, AreCurrentUntilFivePeriodsHavePassed) {
  const std::int64_t taken = kCounts.taken_at.value;
  EXPECT_TRUE(is_current(kCounts, Microseconds{taken}));
  EXPECT_TRUE(is_current(kCounts, Microseconds{taken + 10'000'000}));
  EXPECT_FALSE(is_current(kCounts, Microseconds{taken + 10'000'001}));
}

TEST(WakeupCountsTest, MayBeTakenAfterTheEpochBeganButNotLong) {
  const std::int64_t taken = kCounts.taken_at.value;
  EXPECT_TRUE(is_current(kCounts, Microseconds{taken - 1}));
  EXPECT_FALSE(is_current(kCounts, Microseconds{taken - 10'000'001}));
}

}  // namespace
}  // namespace vmnuma::stats
