// SPDX-License-Identifier: Apache-2.0
#include "placement/capacity.h"

#include <gtest/gtest.h>

namespace vmnuma {
namespace {

// 10 cores with 20 threads, in units of one core.
constexpr Supply kTwentyThreads{CpuTime{10'000}, CpuTime{20'000}, CpuTime{}, 25};

Supply with_others(std::int64_t busy) {
  Supply supply = kTwentyThreads;
  supply.non_vm = CpuTime{busy};
  return supply;
}

TEST(CapacityTest, ServesDemandUpToTheCoresInFull) {
  EXPECT_EQ(service(kTwentyThreads, CpuTime{9'999}), CpuTime{9'999});
  EXPECT_EQ(service(kTwentyThreads, CpuTime{10'000}), CpuTime{10'000});
}

TEST(CapacityTest, CountsASecondThreadAsAQuarterOfACore) {
  // 16 busy threads: 10 cores and a quarter of 6.
  EXPECT_EQ(service(kTwentyThreads, CpuTime{16'000}), CpuTime{11'500});
}

TEST(CapacityTest, GivesNoMoreThanAllThreadsTogether) {
  EXPECT_EQ(service(kTwentyThreads, CpuTime{20'000}), CpuTime{12'500});
  EXPECT_EQ(service(kTwentyThreads, CpuTime{50'000}), CpuTime{12'500});
}

TEST(CapacityTest, ServesNoNegativeDemand) {
  EXPECT_EQ(service(kTwentyThreads, CpuTime{-1}), CpuTime{});
  EXPECT_EQ(service_beside_others(kTwentyThreads, CpuTime{-1}), CpuTime{});
}

TEST(CapacityTest, IsDemandUpToTheThreadsWhereThreadsAreAsGoodAsCores) {
  Supply supply = kTwentyThreads;
  supply.smt_gain_pct = 100;
  EXPECT_EQ(service(supply, CpuTime{19'000}), CpuTime{19'000});
  EXPECT_EQ(service(supply, CpuTime{21'000}), CpuTime{20'000});
}

TEST(CapacityTest, LeavesTheThreadsThatOthersDoNotUse) {
  EXPECT_EQ(threads_left(with_others(4'000)), CpuTime{16'000});
  EXPECT_EQ(threads_left(with_others(30'000)), CpuTime{});
}

TEST(CapacityTest, ServesInFullTogetherWithOthersWhileCoresAreFree) {
  EXPECT_EQ(service_beside_others(with_others(4'000), CpuTime{6'000}), CpuTime{6'000});
}

TEST(CapacityTest, SlowsAllThreadsDownAlikeWhereCoresAreShared) {
  // 4 + 12 busy threads are worth 11.5 cores; 12 / 16 of that is the clients'.
  EXPECT_EQ(service_beside_others(with_others(4'000), CpuTime{12'000}), CpuTime{8'625});
}

TEST(CapacityTest, IsWhatTheThreadsLeftAreWorth) {
  EXPECT_EQ(capacity(kTwentyThreads), CpuTime{12'500});
  // All 20 threads busy, worth 12.5; 16 of them are the clients'.
  EXPECT_EQ(capacity(with_others(4'000)), CpuTime{10'000});
  EXPECT_EQ(capacity(with_others(20'000)), CpuTime{});
}

TEST(CapacityTest, GrowsWithDemandAndShrinksWithOthers) {
  for (std::int64_t others = 0; others <= 22'000; others += 1'000) {
    CpuTime last;
    for (std::int64_t demand = 0; demand <= 25'000; demand += 500) {
      const CpuTime served = service_beside_others(with_others(others), CpuTime{demand});
      EXPECT_GE(served, last);
      EXPECT_LE(served, CpuTime{demand});
      EXPECT_GE(served, service_beside_others(with_others(others + 1'000), CpuTime{demand}));
      last = served;
    }
    EXPECT_EQ(last, capacity(with_others(others)));
  }
}

TEST(CapacityTest, IsNothingOnANodeWithoutCpus) {
  EXPECT_EQ(capacity(Supply{}), CpuTime{});
  EXPECT_EQ(service(Supply{}, CpuTime{5}), CpuTime{});
}

}  // namespace
}  // namespace vmnuma
