// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/host/sim_caches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vmnuma::tools {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr CpuTime kWhile{100'000};

/// Two caches of one CPU each.
std::vector<Permille> on_two_caches(const std::vector<CacheUse>& threads) {
  return crowding(threads, {kWhile, kWhile});
}

TEST(SimCachesTest, AThreadWithACacheForItselfPaysNothing) {
  EXPECT_THAT(on_two_caches({{1, Permille{300}, {kWhile, CpuTime{}}},
                             {2, Permille{900}, {CpuTime{}, kWhile}}}),
              ElementsAre(Permille{0}, Permille{0}));
  EXPECT_THAT(on_two_caches({}), IsEmpty());
}

TEST(SimCachesTest, ThreadsOfOneVmCostEachOtherNothing) {
  const std::vector<CpuTime> both{kWhile / 2, kWhile / 2};
  EXPECT_THAT(on_two_caches({{1, Permille{500}, both}, {1, Permille{500}, both}}),
              ElementsAre(Permille{0}, Permille{0}));
}

TEST(SimCachesTest, WaitingGrowsByWhatOthersWaitOnTheSameCache) {
  const std::vector<CpuTime> both{kWhile / 2, kWhile / 2};
  EXPECT_THAT(on_two_caches({{1, Permille{200}, both}, {2, Permille{800}, both}}),
              ElementsAre(Permille{400}, Permille{100}));
  // The other is there half of its time.
  EXPECT_THAT(
      on_two_caches({{1, Permille{200}, both}, {2, Permille{800}, {kWhile / 2, CpuTime{}}}}),
      ElementsAre(Permille{200}, Permille{100}));
}

TEST(SimCachesTest, AThreadThatWaitsForNoMemoryCostsOthersNothing) {
  const std::vector<CpuTime> both{kWhile / 2, kWhile / 2};
  EXPECT_THAT(on_two_caches({{1, Permille{200}, both}, {2, Permille{0}, both}}),
              ElementsAre(Permille{0}, Permille{100}));
}

TEST(SimCachesTest, WaitingNeverMoreThanDoubles) {
  std::vector<CacheUse> threads{{0, Permille{1000}, {kWhile, CpuTime{}}}};
  threads.push_back({1, Permille{1000}, {kWhile, CpuTime{}}});
  EXPECT_THAT(on_two_caches(threads), ElementsAre(kMostCrowding, kMostCrowding));
}

TEST(SimCachesTest, AThreadThatDidNotRunPaysNothing) {
  EXPECT_THAT(on_two_caches({{1, Permille{300}, {CpuTime{}, CpuTime{}}},
                             {2, Permille{900}, {kWhile, CpuTime{}}}}),
              ElementsAre(Permille{0}, Permille{0}));
}

}  // namespace
}  // namespace vmnuma::tools
