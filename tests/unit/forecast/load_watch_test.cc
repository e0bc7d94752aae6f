// SPDX-License-Identifier: Apache-2.0
#include "stats/forecast/load_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vmnuma::stats {
namespace {

using testing::IsEmpty;

constexpr std::int64_t kMinute = 29'000'000;
constexpr CpuTime kSecond{1'000'000};

VmId id_of(std::uint8_t number) {
  VmId id;
  id.uuid[15] = number;
  return id;
}

/// An epoch of 20 s in which a VM with two vCPUs wants so much of their time.
Snapshot epoch_of(std::int64_t permille) {
  Snapshot snapshot;
  snapshot.epoch_length = kSecond * 20;
  snapshot.vms.push_back({.id = id_of(1), .name = "web", .client_count = 1});
  snapshot.vms[0].demand = snapshot.epoch_length * 2 * permille / 1000;
  snapshot.clients.push_back({.id = {id_of(1), 0}, .vcpus = {0, 1}});
  return snapshot;
}

class LoadWatchTest : public testing::Test {
 protected:
  LoadWatchTest() { watch_.set_predictors({histogram_predictor(), last_maximum_predictor()}); }

  /// Three epochs; what was told with the first of them, when the minute before was over.
  std::optional<LoadForecasts> minute(std::int64_t minute, std::int64_t permille) {
    const auto told = watch_.epoch(epoch_of(permille), minute * 60);
    EXPECT_EQ(watch_.epoch(epoch_of(permille), minute * 60 + 20), std::nullopt);
    EXPECT_EQ(watch_.epoch(epoch_of(permille), minute * 60 + 40), std::nullopt);
    return told;
  }

  LoadWatch watch_;
};

TEST_F(LoadWatchTest, MinutesAreLearntFromEpochsAndForecastsMadeWhenOneIsOver) {
  EXPECT_EQ(minute(kMinute, 300), std::nullopt);
  for (std::int64_t i = 1; i < 90; ++i) {
    EXPECT_TRUE(minute(kMinute + i, 300).has_value());
  }
  const LoadForecasts told = *minute(kMinute + 90, 300);
  ASSERT_TRUE(told.contains(id_of(1)));
  EXPECT_EQ(told.at(id_of(1)).mean, Permille{300});
  EXPECT_NEAR(static_cast<double>(told.at(id_of(1)).p95.value), 300, 5);
  EXPECT_EQ(watch_.forecasts(kMinute + 89), told);
}

TEST_F(LoadWatchTest, AVmThatTheHistoryKnowsIsForecastAtOnce) {
  VmLoads loads{
      .vm = id_of(1), .facts = {.name = "web", .vcpus = 2, .guest_os = {}}, .minutes = {}};
  for (std::int64_t i = 0; i < 100; ++i) {
    loads.minutes.push_back({kMinute + i, Permille{700}});
  }
  watch_.learn(loads);
  EXPECT_EQ(watch_.forecasts(kMinute + 99).at(id_of(1)).mean, Permille{700});
  EXPECT_EQ(minute(kMinute + 100, 700), std::nullopt);
  EXPECT_EQ(minute(kMinute + 101, 700)->at(id_of(1)).mean, Permille{700});
}

/// Takes down the VM that it is asked about.
Predictor curious(VmFacts& asked) {
  return {PredictorKind::kTrained,
          [&asked](const VmFacts& vm, const KnownLoad&, std::int64_t) -> std::optional<Permille> {
            asked = vm;
            return std::nullopt;
          }};
}

TEST_F(LoadWatchTest, PredictorsAreToldWhatAVmIsFromTheHistoryAndThenAsItIsNow) {
  VmFacts asked;
  watch_.set_predictors({curious(asked)});
  VmLoads loads{.vm = id_of(1),
                .facts = {.name = "web",
                          .vcpus = 4,
                          .memory_mib = 8192,
                          .shares = 50,
                          .guest_os = "http://debian.org/debian/11"},
                .minutes = {{kMinute, Permille{700}}}};
  watch_.learn(loads);
  (void)watch_.forecasts(kMinute);
  EXPECT_EQ(asked, loads.facts);
  Snapshot now = epoch_of(700);
  now.vms[0].weight = 300;
  now.vms[0].guest_os = "http://debian.org/debian/12";
  now.clients[0].memory_size = kGiB;
  EXPECT_EQ(watch_.epoch(now, (kMinute + 1) * 60), std::nullopt);
  (void)watch_.forecasts(kMinute);
  EXPECT_EQ(asked, (VmFacts{.name = "web",
                            .vcpus = 2,
                            .memory_mib = 1024,
                            .shares = 300,
                            .guest_os = "http://debian.org/debian/12"}));
}

TEST_F(LoadWatchTest, AMinuteOfWhichLessThanHalfWasMeasuredTeachesNothing) {
  for (std::int64_t i = 0; i < 90; ++i) {
    (void)minute(kMinute + i, 300);
  }
  EXPECT_TRUE(watch_.epoch(epoch_of(1000), (kMinute + 90) * 60).has_value());
  const auto told = watch_.epoch(epoch_of(300), (kMinute + 91) * 60);
  EXPECT_EQ(told->at(id_of(1)).mean, Permille{300});
}

TEST_F(LoadWatchTest, AVmThatWasNotSeenForEightDaysIsForgotten) {
  for (std::int64_t i = 0; i < 90; ++i) {
    (void)minute(kMinute + i, 300);
  }
  Snapshot nobody;
  nobody.epoch_length = kSecond * 20;
  const std::int64_t later = kMinute + 90 + LoadPast::kDays * LoadPast::kDay;
  EXPECT_TRUE(watch_.epoch(nobody, (later - 5) * 60)->contains(id_of(1)));
  EXPECT_THAT(*watch_.epoch(nobody, later * 60), IsEmpty());
}

TEST_F(LoadWatchTest, AVmThatWasNeverMeasuredForHalfAMinuteIsForgottenAtTheNext) {
  VmFacts asked;
  watch_.set_predictors({curious(asked)});
  EXPECT_EQ(watch_.epoch(epoch_of(300), kMinute * 60), std::nullopt);
  Snapshot nobody;
  nobody.epoch_length = kSecond * 20;
  EXPECT_TRUE(watch_.epoch(nobody, (kMinute + 1) * 60).has_value());
  EXPECT_EQ(asked, VmFacts{});
  (void)watch_.forecasts(kMinute + 1);
  EXPECT_EQ(asked, VmFacts{});
}

TEST_F(LoadWatchTest, AfterAClockWasFarAheadAVmIsLearntAnew) {
  for (std::int64_t i = 0; i < 90; ++i) {
    (void)minute(kMinute + LoadPast::kDay + i, 900);
  }
  (void)minute(kMinute, 300);
  EXPECT_THAT(watch_.forecasts(kMinute), IsEmpty());
  for (std::int64_t i = 1; i <= 90; ++i) {
    (void)minute(kMinute + i, 300);
  }
  EXPECT_EQ(watch_.forecasts(kMinute + 89).at(id_of(1)).mean, Permille{300});
}

TEST_F(LoadWatchTest, AClockThatGoesBackByAFewMinutesCostsNothing) {
  for (std::int64_t i = 0; i < 90; ++i) {
    (void)minute(kMinute + i, 300);
  }
  EXPECT_EQ(minute(kMinute + 80, 300)->at(id_of(1)).mean, Permille{300});
}

}  // namespace
}  // namespace vmnuma::stats
