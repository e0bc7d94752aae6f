// SPDX-License-Identifier: Apache-2.0
#include "balancer/host/cpu_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vmnuma::balancer {
namespace {

TEST(CpuMapTest, HasOneBitACpuLowestFirst) {
  const auto map = make_cpu_map({CpuId{0}, CpuId{2}, CpuId{9}}, {CpuMap{0xff, 0xff}, 16});
  ASSERT_TRUE(map.has_value());
  EXPECT_THAT(*map, testing::ElementsAre(0x05, 0x02));
}

TEST(CpuMapTest, GivesItsCpusBack) {
  const std::vector<CpuId> cpus{CpuId{0}, CpuId{2}, CpuId{9}};
  EXPECT_EQ(cpus_in(*make_cpu_map(cpus, {CpuMap{0xff, 0xff}, 16})), cpus);
  EXPECT_THAT(cpus_in(CpuMap{0, 0}), testing::IsEmpty());
}

TEST(CpuMapTest, HasRoomForMoreThanAThousandCpus) {
  const auto map = make_cpu_map({CpuId{4095}}, {CpuMap(512, 0xff), 4096});
  ASSERT_TRUE(map.has_value());
  ASSERT_EQ(map->size(), 512U);
  EXPECT_EQ(map->back(), 0x80);
}

TEST(CpuMapTest, KeepsACpuThatIsOfflineBesideAnOnlineOne) {
  const auto map = make_cpu_map({CpuId{0}, CpuId{1}}, {CpuMap{0x05}, 3});
  ASSERT_TRUE(map.has_value());
  EXPECT_THAT(*map, testing::ElementsAre(0x03));
  EXPECT_THAT(online_part(*map, CpuMap{0x05}), testing::ElementsAre(0x01));
}

TEST(CpuMapTest, WhatHasOnlyOfflineCpusIsAllOnlineOnes) {
  const auto map = make_cpu_map({CpuId{1}}, {CpuMap{0x05}, 3});
  ASSERT_TRUE(map.has_value());
  EXPECT_THAT(*map, testing::ElementsAre(0x05));
}

TEST(CpuMapTest, RefusesACpuBeyondTheHost) {
  const auto map = make_cpu_map({CpuId{0}, CpuId{3}}, {CpuMap{0x05}, 3});
  ASSERT_FALSE(map.has_value());
  EXPECT_EQ(map.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(map.error().message, testing::HasSubstr("CPU 3"));
  EXPECT_FALSE(make_cpu_map({CpuId{8}}, {CpuMap{0xff}, 8}).has_value());
  EXPECT_FALSE(make_cpu_map({CpuId{2147483647}}, {CpuMap{0xff}, 8}).has_value());
  EXPECT_FALSE(make_cpu_map({CpuId{0}}, {}).has_value());
}

TEST(CpuMapTest, RefusesANegativeCpuAndAnEmptySet) {
  EXPECT_FALSE(make_cpu_map({CpuId{-1}}, {CpuMap{0xff}, 8}).has_value());
  EXPECT_FALSE(make_cpu_map({}, {CpuMap{0xff}, 8}).has_value());
}

}  // namespace
}  // namespace vmnuma::balancer
