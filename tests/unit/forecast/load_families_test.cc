// SPDX-License-Identifier: Apache-2.0
#include "tests/support/load_families.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace vmnuma::tests {
namespace {

TEST(LoadFamiliesTest, AreTheSameEveryTimeAndDifferAmongVms) {
  for (const LoadFamily family : kValuesOf<LoadFamily>) {
    const GeneratedVm vm = generate_load(family, 0, 7);
    ASSERT_EQ(vm.load.size(), 7U * 24 * 60);
    EXPECT_EQ(vm.load, generate_load(family, 0, 7).load);
    EXPECT_NE(vm.load, generate_load(family, 1, 7).load);
    const auto [least, most] = std::minmax_element(vm.load.begin(), vm.load.end());
    EXPECT_GE(least->value, 0);
    EXPECT_LE(most->value, 1000);
    EXPECT_GT(most->value, least->value);
  }
}

TEST(LoadFamiliesTest, AWeekendIsQuietInTheWeeklyOne) {
  const GeneratedVm vm = generate_load(LoadFamily::kWeekly, 0, 7);
  const auto day = [&](std::ptrdiff_t number) {
    const auto begin = vm.load.begin() + number * 1440;
    return std::max_element(begin, begin + 1440)->value;
  };
  EXPECT_LT(day(5) * 2, day(0));
  EXPECT_LT(day(6) * 2, day(4));
}

TEST(LoadFamiliesTest, AnHourlyJobRunsEveryHour) {
  const GeneratedVm vm = generate_load(LoadFamily::kBatch, 0, 2);
  for (std::ptrdiff_t hour = 1; hour < 47; ++hour) {
    const auto begin = vm.load.begin() + hour * 60;
    EXPECT_GT(std::max_element(begin, begin + 60)->value, 400) << "hour " << hour;
    EXPECT_LT(std::min_element(begin, begin + 60)->value, 100) << "hour " << hour;
  }
}

}  // namespace
}  // namespace vmnuma::tests
