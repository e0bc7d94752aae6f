// SPDX-License-Identifier: Apache-2.0
#include "balancer/optimal/owed_drops.h"

#include <gmock/gmock.h>

namespace vmnuma::balancer {
namespace {

using testing::ElementsAre;

constexpr CpuTime kSecond{1'000'000};

TEST(OwedDropsTest, IsWhatLeavingAloneBringsOnANodeWithoutSmt) {
  // 4 s for 3 + 2 + 1: 2 s are owed. Without the first 1 s is idle; without the others 1 s and 2 s
  // less are owed.
  const Supply supply{kSecond * 4, kSecond * 4, CpuTime{}, 25};
  const std::vector<Load> loads{
      {kSecond * 3, kSecond * 3, 1}, {kSecond * 2, kSecond * 2, 1}, {kSecond, kSecond, 1}};
  ASSERT_EQ(NodeLoad(supply, loads).owed(), kSecond * 2);
  EXPECT_THAT(drops_of(supply, loads, kSecond * 2), ElementsAre(kSecond * 2, kSecond * 2, kSecond));
}

TEST(OwedDropsTest, HoldsForEverySetThatMayLeaveAnSmtNode) {
  const Supply supply{kSecond * 4, kSecond * 8, kSecond, 25};
  const std::vector<Load> loads{{kSecond * 3, kSecond * 2, 100},
                                {kSecond * 2, kSecond * 2, 50},
                                {kSecond, kSecond, 300},
                                {kSecond * 4, kSecond * 3, 100}};
  const CpuTime owed = NodeLoad(supply, loads).owed();
  const std::vector<CpuTime> drops = drops_of(supply, loads, owed);
  for (std::size_t set = 0; set < 16; ++set) {
    std::vector<Load> stay;
    CpuTime least = owed;
    for (std::size_t i = 0; i < loads.size(); ++i) {
      if ((set >> i & 1U) != 0) {
        stay.push_back(loads[i]);
      } else {
        least -= drops[i];
      }
    }
    EXPECT_GE(NodeLoad(supply, stay).owed(), least) << "set " << set;
  }
}

TEST(OwedDropsTest, GivesManyTheirDemandAtMost) {
  const Supply supply{kSecond * 4, kSecond * 4, CpuTime{}, 25};
  const std::vector<Load> loads(20, {kSecond, kSecond / 2, 1});
  const CpuTime owed = NodeLoad(supply, loads).owed();
  for (const CpuTime drop : drops_of(supply, loads, owed)) {
    EXPECT_EQ(drop, std::min(kSecond, owed));
  }
}

}  // namespace
}  // namespace vmnuma::balancer
