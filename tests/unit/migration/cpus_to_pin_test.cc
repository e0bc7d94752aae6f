// SPDX-License-Identifier: Apache-2.0
#include "migration/cpus_to_pin.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vmnuma::migration {
namespace {

bool exists(CpuId cpu) {
  return cpu.value >= 0 && cpu.value < 4;
}
const std::vector<CpuId> kOnline{CpuId{0}, CpuId{2}};

TEST(CpusToPinTest, AnOfflineCpuIsPassedOnBesideAnOnlineOne) {
  const auto pin = cpus_to_pin({CpuId{0}, CpuId{1}}, exists, kOnline);
  ASSERT_TRUE(pin.has_value());
  EXPECT_THAT(pin->mask, testing::ElementsAre(CpuId{0}, CpuId{1}));
  EXPECT_THAT(pin->effective, testing::ElementsAre(CpuId{0}));
}

TEST(CpusToPinTest, OnlyOfflineCpusMeanAllOnlineOnes) {
  const auto pin = cpus_to_pin({CpuId{1}, CpuId{3}}, exists, kOnline);
  ASSERT_TRUE(pin.has_value());
  EXPECT_EQ(pin->mask, kOnline);
  EXPECT_EQ(pin->effective, kOnline);
}

TEST(CpusToPinTest, ACpuThatTheHostDoesNotHaveAndAnEmptySetAreRefused) {
  const std::vector<CpuId> refused[] = {{CpuId{0}, CpuId{4}}, {CpuId{-1}}, {}};
  for (const std::vector<CpuId>& cpus : refused) {
    const auto pin = cpus_to_pin(cpus, exists, kOnline);
    ASSERT_FALSE(pin.has_value());
    EXPECT_EQ(pin.error().code, ErrorCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace vmnuma::migration
