// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/host/sim_cpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vmnuma::tools {
namespace {

using testing::ElementsAre;

constexpr CpuTime kPeriod{100'000};

TEST(SimCpusTest, EveryThreadGetsWhatItWantsWhereThereIsEnough) {
  const NodeShares shares = share_node(2, 2, kPeriod, CpuTime{}, {{1, kPeriod}, {1, kPeriod / 2}});
  EXPECT_THAT(shares.ran, ElementsAre(kPeriod, kPeriod / 2));
  EXPECT_EQ(shares.busy, CpuTime{150'000});
  EXPECT_EQ(shares.served, CpuTime{150'000});
}

TEST(SimCpusTest, AShortageIsSharedByWeight) {
  const NodeShares shares = share_node(1, 1, kPeriod, CpuTime{}, {{300, kPeriod}, {100, kPeriod}});
  EXPECT_THAT(shares.ran, ElementsAre(CpuTime{75'000}, CpuTime{25'000}));
}

TEST(SimCpusTest, NoThreadGetsMoreThanOneCpuWhateverItsWeight) {
  const NodeShares shares =
      share_node(2, 2, kPeriod, CpuTime{}, {{1000, kPeriod * 2}, {1, kPeriod}, {1, kPeriod}});
  EXPECT_THAT(shares.ran, ElementsAre(kPeriod, kPeriod / 2, kPeriod / 2));
}

TEST(SimCpusTest, NoThreadWaitsWhileACpuIsIdle) {
  const NodeShares shares =
      share_node(2, 2, kPeriod, CpuTime{}, {{1000, kPeriod / 10}, {1, kPeriod}, {1, kPeriod}});
  EXPECT_EQ(shares.busy, kPeriod * 2);
}

TEST(SimCpusTest, OthersComeFirst) {
  const NodeShares shares = share_node(2, 2, kPeriod, kPeriod, {{1, kPeriod}, {1, kPeriod}});
  EXPECT_EQ(shares.others, kPeriod);
  EXPECT_THAT(shares.ran, ElementsAre(kPeriod / 2, kPeriod / 2));
  EXPECT_EQ(share_node(2, 2, kPeriod, kPeriod * 5, {}).others, kPeriod * 2);
}

TEST(SimCpusTest, ThreadsOfOneCoreGetLessDone) {
  // 4 threads on 2 cores: 2 cores and a quarter of each second thread.
  const NodeShares shares = share_node(2, 4, kPeriod, CpuTime{},
                                       {{1, kPeriod}, {1, kPeriod}, {1, kPeriod}, {1, kPeriod}});
  EXPECT_EQ(shares.busy, kPeriod * 4);
  EXPECT_EQ(shares.served, CpuTime{250'000});
}

TEST(SimCpusTest, ANodeWithoutThreadsIsIdle) {
  const NodeShares shares = share_node(2, 2, kPeriod, CpuTime{}, {});
  EXPECT_EQ(shares.busy, CpuTime{});
  EXPECT_TRUE(shares.ran.empty());
}

// ---- queueing ----

TEST(QueueingTest, ThreadsThatFitAtAnyMomentDoNotQueue) {
  EXPECT_EQ(queueing(4, kPeriod, {kPeriod / 2, kPeriod / 2, kPeriod / 2, kPeriod / 2}), CpuTime{});
  EXPECT_EQ(queueing(4, kPeriod, {kPeriod, kPeriod, kPeriod, kPeriod, kPeriod, kPeriod}),
            CpuTime{});
  EXPECT_EQ(queueing(4, kPeriod, {}), CpuTime{});
}

TEST(QueueingTest, TwoHalvesOfACpuMeetHalfOfTheTimeOneOfThemRuns) {
  // Both want it for a quarter of the time, and then one of them waits.
  EXPECT_NEAR(static_cast<double>(queueing(1, kPeriod, {kPeriod / 2, kPeriod / 2}).value), 25'000,
              1);
}

TEST(QueueingTest, WhatDoesNotFitInTheMeanIsNotQueueing) {
  // Three halves on one CPU: 2 wait with chance 1/8, 1 with chance 3/8, which is 0.625; 0.5 of it
  // does not fit.
  EXPECT_NEAR(
      static_cast<double>(queueing(1, kPeriod, {kPeriod / 2, kPeriod / 2, kPeriod / 2}).value),
      12'500, 1);
}

TEST(QueueingTest, TenThreadsAtFourFifthsOnEightCpusQueueForHalfACpu) {
  // P(9 of 10) + 2 P(10 of 10) = 0.2684 + 2 x 0.1074.
  const std::vector<CpuTime> wants(10, kPeriod * 4 / 5);
  EXPECT_NEAR(static_cast<double>(queueing(8, kPeriod, wants).value), 48'318, 10);
}

// ---- threads that may not run everywhere ----

/// 2 cores with 2 threads each: CPUs 0 and 2 are core 0, CPUs 1 and 3 core 1.
const std::vector<std::int32_t> kCores{0, 1, 0, 1};

ThreadDemand thread_on(std::vector<std::size_t> cpus, CpuTime wants = kPeriod,
                       std::int64_t weight = 1) {
  return {weight, wants, std::move(cpus)};
}

TEST(ShareCpusTest, ThreadsShareTheCpuThatTheyArePinnedTo) {
  const NodeShares shares =
      share_cpus(kCores, kPeriod, CpuTime{}, {thread_on({0}), thread_on({0}), thread_on({1})});
  EXPECT_EQ(shares.ran, (std::vector{CpuTime{50'000}, CpuTime{50'000}, kPeriod}));
  EXPECT_EQ(shares.served_of, shares.ran);
  EXPECT_EQ(shares.busy, CpuTime{200'000});
}

TEST(ShareCpusTest, SharesFollowTheWeights) {
  const NodeShares shares =
      share_cpus(kCores, kPeriod, CpuTime{}, {thread_on({0}, kPeriod, 3), thread_on({0})});
  EXPECT_NEAR(static_cast<double>(shares.ran[0].value), 75'000, 2'000);
  EXPECT_EQ(shares.ran[0] + shares.ran[1], kPeriod);
}

TEST(ShareCpusTest, ThreadsOfOneCoreAreWorthLess) {
  const NodeShares shares = share_cpus(kCores, kPeriod, CpuTime{},
                                       {thread_on({0, 2}), thread_on({0, 2}), thread_on({1, 3})});
  EXPECT_EQ(shares.ran, (std::vector{kPeriod, kPeriod, kPeriod}));
  // Two threads of a core together are worth 1.25 cores.
  EXPECT_EQ(shares.served_of, (std::vector{CpuTime{62'500}, CpuTime{62'500}, kPeriod}));
}

TEST(ShareCpusTest, AThreadThatMayRunAnywhereGoesWhereACoreIdles) {
  for (const ThreadDemand& anywhere : {thread_on({0, 1, 2, 3}), thread_on({})}) {
    const NodeShares shares = share_cpus(kCores, kPeriod, CpuTime{}, {thread_on({0, 2}), anywhere});
    EXPECT_EQ(shares.served_of, (std::vector{kPeriod, kPeriod}));
  }
}

TEST(ShareCpusTest, OthersComeFirstAndAreNotMoreThanThereIs) {
  const NodeShares shares = share_cpus(kCores, kPeriod, CpuTime{300'000}, {thread_on({0})});
  EXPECT_EQ(shares.others, CpuTime{300'000});
  EXPECT_EQ(shares.others + shares.ran[0], shares.busy);
  EXPECT_LE(shares.busy, CpuTime{400'000});
  EXPECT_EQ(share_cpus(kCores, kPeriod, CpuTime{900'000}, {}).others, CpuTime{400'000});
}

TEST(ShareCpusTest, NoThreadRunsLongerThanItWants) {
  const NodeShares shares =
      share_cpus(kCores, kPeriod, CpuTime{}, {thread_on({0}, CpuTime{1'234}), thread_on({0})});
  EXPECT_EQ(shares.ran, (std::vector{CpuTime{1'234}, CpuTime{98'766}}));
}

}  // namespace
}  // namespace vmnuma::tools
