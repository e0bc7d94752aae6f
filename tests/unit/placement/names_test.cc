// SPDX-License-Identifier: Apache-2.0
#include "placement/base/names.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "placement/base/result.h"
#include "placement/model/domain.h"
#include "placement/model/forecast.h"
#include "placement/model/plan.h"

namespace vmnuma {
namespace {

template <class Enum>
class NamesTest : public testing::Test {};

using Enumerations = testing::Types<CpuBinding, CpuClass, CpuPolicy, DeviceLocality, ErrorCode,
                                    Guard, MemoryClass, MemoryMode, NumatuneMode, PlacementStrategy,
                                    PredictorKind, Reason, TopologyPolicy, TopologyScope>;
TYPED_TEST_SUITE(NamesTest, Enumerations);

TYPED_TEST(NamesTest, EveryNameGivesItsValueBackAndNoTwoAreEqual) {
  std::set<std::string_view> names;
  for (const TypeParam value : kValuesOf<TypeParam>) {
    EXPECT_EQ(value_named<TypeParam>(name_of(value)), value);
    EXPECT_TRUE(names.insert(name_of(value)).second) << name_of(value);
  }
  EXPECT_FALSE(names.contains("unknown"));
}

TYPED_TEST(NamesTest, WhatIsNoNameIsNoValue) {
  for (const std::string_view text : {"", "unknown", "kSoft", "soft "}) {
    EXPECT_EQ(value_named<TypeParam>(text), std::nullopt) << text;
  }
}

TEST(NameOfTest, AnIntegerThatIsNoEnumeratorIsUnknown) {
  EXPECT_EQ(name_of(static_cast<MemoryMode>(3)), "unknown");
  EXPECT_EQ(name_of(static_cast<MemoryMode>(-1)), "unknown");
}

TEST(ChoicesTest, ChoicesAreASentence) {
  EXPECT_EQ(kChoices<MemoryMode>, "soft, mask or hands-off");
  EXPECT_EQ(kChoices<TopologyScope>, "vm or client");
}

}  // namespace
}  // namespace vmnuma
