// SPDX-License-Identifier: Apache-2.0
#include "placement/forecast/known_load.h"

#include <gtest/gtest.h>

namespace vmnuma {
namespace {

constexpr std::int64_t kMidnight = 20'000 * LoadPast::kDay;

TEST(KnownLoadTest, SaysNothingWithinTheFirstHour) {
  KnownLoad load;
  EXPECT_EQ(load.quantile(0, kForecastShare), std::nullopt);
  for (std::int64_t minute = 0; minute < KnownLoad::kLeastMinutes - 1; ++minute) {
    load.add(kMidnight + minute, Permille{300});
  }
  EXPECT_EQ(load.quantile(load.past().last_minute(), kForecastShare), std::nullopt);
  load.add(kMidnight + KnownLoad::kLeastMinutes, Permille{300});
  EXPECT_TRUE(load.quantile(load.past().last_minute(), kForecastShare).has_value());
}

TEST(KnownLoadTest, ForecastsAConstantLoadWithinABucket) {
  for (const std::int64_t level : {0, 3, 500, 997, 1000}) {
    KnownLoad load;
    for (std::int64_t minute = 0; minute < 300; ++minute) {
      load.add(kMidnight + minute, Permille{level});
    }
    for (const Permille share : {Permille{50}, kForecastShare}) {
      const Permille forecast = *load.quantile(load.past().last_minute(), share);
      EXPECT_NEAR(static_cast<double>(forecast.value), static_cast<double>(level), 5);
    }
  }
}

TEST(KnownLoadTest, ExpectsAJobThatComesEveryDay) {
  KnownLoad load;
  const auto at = [](std::int64_t minute) {
    const std::int64_t of_day = minute % LoadPast::kDay;
    return Permille{of_day >= 120 && of_day < 150 ? 800 : 50};
  };
  for (std::int64_t minute = 0; minute < 5 * LoadPast::kDay + 115; ++minute) {
    load.add(kMidnight + minute, at(minute));
  }
  EXPECT_GE(*load.quantile(load.past().last_minute(), kForecastShare), Permille{790});
  for (std::int64_t minute = 5 * LoadPast::kDay + 115; minute < 5 * LoadPast::kDay + 200;
       ++minute) {
    load.add(kMidnight + minute, at(minute));
  }
  EXPECT_LE(*load.quantile(load.past().last_minute(), kForecastShare), Permille{100});
}

TEST(KnownLoadTest, ForecastsWhatIsUsualWhileTheVmIsOff) {
  KnownLoad load;
  for (std::int64_t minute = 0; minute < 1000; ++minute) {
    load.add(kMidnight + minute, Permille{minute % 10 == 0 ? 900 : 100});
  }
  const std::int64_t later = load.past().last_minute() + 600;
  EXPECT_NEAR(static_cast<double>(load.quantile(later, kForecastShare)->value), 900, 5);
  EXPECT_NEAR(static_cast<double>(load.quantile(later, Permille{500})->value), 100, 5);
}

TEST(KnownLoadTest, TheMeanOfWhatComesAndGoesIsItsAverageAndOfWhatStaysItsLevel) {
  KnownLoad comes_and_goes;
  KnownLoad stays;
  for (std::int64_t minute = 0; minute < 2400; ++minute) {
    comes_and_goes.add(kMidnight + minute, Permille{minute * 7919 % 13 < 6 ? 900 : 100});
    stays.add(kMidnight + minute, Permille{minute / 600 % 2 == 0 ? 900 : 100});
  }
  const std::int64_t last = stays.past().last_minute();
  const std::int64_t average = (6 * 900 + 7 * 100) / 13;
  EXPECT_NEAR(static_cast<double>(comes_and_goes.mean(last)->value), static_cast<double>(average),
              60);
  // A minute into another level that lasts for hours.
  stays.add(last + 1, Permille{900});
  stays.add(last + 2, Permille{900});
  EXPECT_GE(*stays.mean(last + 2), Permille{800});
  EXPECT_EQ(KnownLoad().mean(0), std::nullopt);
}

TEST(KnownLoadTest, IgnoresWhatIsNotLater) {
  KnownLoad load;
  load.add(kMidnight, Permille{100});
  load.add(kMidnight, Permille{900});
  load.add(kMidnight - 5, Permille{900});
  EXPECT_EQ(load.minutes(), 1);
}

}  // namespace
}  // namespace vmnuma
