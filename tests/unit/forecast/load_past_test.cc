// SPDX-License-Identifier: Apache-2.0
#include "placement/forecast/load_past.h"

#include <gtest/gtest.h>

namespace vmnuma {
namespace {

constexpr std::int64_t kNoon = 20'000 * LoadPast::kDay + 12 * 60;

TEST(LoadPastTest, KnowsNothingAtFirst) {
  const LoadPast past;
  EXPECT_TRUE(past.empty());
  EXPECT_EQ(past.at(0), std::nullopt);
  EXPECT_EQ(past.up_to(0, 60), std::nullopt);
  EXPECT_EQ(past.around(0, 10), std::nullopt);
}

TEST(LoadPastTest, KnowsTheLastHourByMinute) {
  LoadPast past;
  for (std::int64_t i = 0; i < 100; ++i) {
    past.add(kNoon + i, Permille{i});
  }
  EXPECT_EQ(past.at(kNoon + 99), Permille{99});
  EXPECT_EQ(past.at(kNoon + 40), Permille{40});
  EXPECT_EQ(past.at(kNoon + 39), std::nullopt);
  EXPECT_EQ(past.at(kNoon + 100), std::nullopt);
  EXPECT_EQ(past.up_to(kNoon + 99, 10), (LoadPast::Span{Permille{94}, Permille{99}, Permille{90}}));
}

TEST(LoadPastTest, LeavesAGapWhereNothingWasMeasured) {
  LoadPast past;
  past.add(kNoon, Permille{100});
  past.add(kNoon + 10, Permille{300});
  EXPECT_EQ(past.at(kNoon + 5), std::nullopt);
  EXPECT_EQ(past.up_to(kNoon + 10, 11),
            (LoadPast::Span{Permille{200}, Permille{300}, Permille{100}}));
  EXPECT_EQ(past.up_to(kNoon + 9, 9), std::nullopt);
  past.add(kNoon + 1000, Permille{500});
  EXPECT_EQ(past.up_to(kNoon + 1000, 60)->least, Permille{500});
}

TEST(LoadPastTest, ForgetsAnOldRoundOfTheRing) {
  LoadPast past;
  for (std::int64_t i = 0; i < 60; ++i) {
    past.add(kNoon + i, Permille{100});
  }
  past.add(kNoon + 10 * LoadPast::kDays * LoadPast::kDay, Permille{200});
  const std::int64_t now = past.last_minute();
  EXPECT_EQ(past.up_to(now, 60)->mean, Permille{200});
  EXPECT_EQ(past.around(now - 7 * LoadPast::kDay, now - LoadPast::kDay), std::nullopt);
}

TEST(LoadPastTest, IgnoresWhatIsNotLater) {
  LoadPast past;
  past.add(kNoon, Permille{100});
  past.add(kNoon, Permille{900});
  past.add(kNoon - 1, Permille{900});
  EXPECT_EQ(past.up_to(kNoon, 60), (LoadPast::Span{Permille{100}, Permille{100}, Permille{100}}));
}

TEST(LoadPastTest, KnowsAWeekByQuarter) {
  LoadPast past;
  for (std::int64_t i = 0; i <= 8 * LoadPast::kDay; ++i) {
    past.add(kNoon + i, Permille{i / LoadPast::kDay * 100 + i % 15});
  }
  const std::int64_t now = past.last_minute();
  // The quarter of a week before began at 100 and had peaks 14 above.
  EXPECT_EQ(past.around(now - 7 * LoadPast::kDay, now - 7 * LoadPast::kDay + 14),
            (LoadPast::Span{Permille{107}, Permille{114}, Permille{107}}));
  // Two quarters that a span of ten minutes touches.
  EXPECT_EQ(past.around(now - LoadPast::kDay + 10, now - LoadPast::kDay + 20)->peak, Permille{714});
  EXPECT_EQ(past.around(now - 9 * LoadPast::kDay, now - 9 * LoadPast::kDay + 10), std::nullopt);
}

TEST(LoadPastTest, KeepsLoadsWithinTheirRange) {
  LoadPast past;
  past.add(kNoon, Permille{5000});
  past.add(kNoon + 1, Permille{-5});
  EXPECT_EQ(past.at(kNoon), Permille{1000});
  EXPECT_EQ(past.at(kNoon + 1), Permille{0});
}

}  // namespace
}  // namespace vmnuma
