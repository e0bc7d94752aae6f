// SPDX-License-Identifier: Apache-2.0
#include "balancer/host/cpu_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vmnuma::balancer {
namespace {

TEST(CpuMapTest, HasOneBitACpuLowestFirst) {
  EXPECT_THAT(map_of({CpuId{0}, CpuId{2}, CpuId{9}}, 16), testing::ElementsAre(0x05, 0x02));
  EXPECT_THAT(map_of({}, 9), testing::ElementsAre(0x00, 0x00));
}

TEST(CpuMapTest, GivesItsCpusBack) {
  const std::vector<CpuId> cpus{CpuId{0}, CpuId{2}, CpuId{9}};
  EXPECT_EQ(cpus_in(map_of(cpus, 16)), cpus);
  EXPECT_THAT(cpus_in(CpuMap{0, 0}), testing::IsEmpty());
}

TEST(CpuMapTest, HasRoomForMoreThanAThousandCpus) {
  const CpuMap map = map_of({CpuId{4095}}, 4096);
  ASSERT_EQ(map.size(), 512U);
  EXPECT_EQ(map.back(), 0x80);
}

}  // namespace
}  // namespace vmnuma::balancer
