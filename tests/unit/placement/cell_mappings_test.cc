// SPDX-License-Identifier: Apache-2.0
#include "placement/cell_mappings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vmnuma {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(CellMappingsTest, CellsOfDifferentSizeAreToldBySize) {
  const auto found = mappings_of_cells({kGiB, kGiB * 2},
                                       {{0x1000, kMiB}, {0x100000, kGiB}, {0x90000000, kGiB * 2}});
  ASSERT_TRUE(found);
  EXPECT_THAT(*found, ElementsAre(1, 2));
}

TEST(CellMappingsTest, OfEqualCellsTheFirstLiesHighest) {
  // As QEMU 7.2 maps three backends of 64 MiB, whether anonymous or memfd.
  const auto found = mappings_of_cells({kMiB * 64, kMiB * 64, kMiB * 64},
                                       {{0x7f0f2ba00000, kMiB * 64},
                                        {0x7f0f2fc00000, kMiB * 64},
                                        {0x7f0f33e00000, kMiB * 64},
                                        {0x7f0f38000000, kMiB * 64 - kKiB * 4}});
  ASSERT_TRUE(found);
  EXPECT_THAT(*found, ElementsAre(2, 1, 0));
}

TEST(CellMappingsTest, TheOrderOfTheMappingsDoesNotMatter) {
  const auto found = mappings_of_cells({kGiB, kGiB * 2, kGiB},
                                       {{0x90000000, kGiB}, {0x0, kGiB * 2}, {0x10000000, kGiB}});
  ASSERT_TRUE(found);
  EXPECT_THAT(*found, ElementsAre(0, 1, 2));
}

TEST(CellMappingsTest, ACellWithoutMemoryHasNone) {
  const auto found = mappings_of_cells({kGiB, {}}, {{0x90000000, kGiB}, {0x0, {}}});
  ASSERT_TRUE(found);
  EXPECT_THAT(*found, ElementsAre(0, kNoMapping));
}

TEST(CellMappingsTest, TooManyOrTooFewOfASizeAreAmbiguous) {
  const std::vector<MappedMemory> three{{0, kGiB}, {0x80000000, kGiB}, {0x100000000, kGiB}};
  const auto more = mappings_of_cells({kGiB, kGiB}, three);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(more.error().message, HasSubstr("1024 MiB: 3 mappings for 2 guest NUMA cells"));
  EXPECT_FALSE(mappings_of_cells({kGiB, kGiB, kGiB, kGiB}, three));
  EXPECT_FALSE(mappings_of_cells({kMiB}, {}));
}

TEST(CellMappingsTest, WithoutCellsThereIsNothingToTell) {
  const auto found = mappings_of_cells({}, {{0, kGiB}});
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->empty());
}

}  // namespace
}  // namespace vmnuma
