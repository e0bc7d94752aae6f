// SPDX-License-Identifier: Apache-2.0
#include "migration/memory_parts.h"

#include <gtest/gtest.h>

#include "tests/unit/migration/page_sizes.h"

namespace vmnuma::migration {
namespace {

MemoryRange mapping(std::uint64_t start, Bytes length, std::vector<NodeBytes> resident,
                    std::string policy = {}) {
  return {.start = start,
          .length = length,
          .page_size = kPage,
          .huge_page_size = kBlock,
          .hugetlb = false,
          .shared = false,
          .policy = std::move(policy),
          .resident = std::move(resident)};
}

MemoryParts two_cells() {
  MemoryChange change;
  change.quotas = {{NodeId{0}, kMiB * 128}, {NodeId{1}, kMiB * 256}};
  change.cells = {{kMiB * 128, NodeId{0}}, {kMiB * 256, NodeId{1}}};
  return MemoryParts(change);
}

MemoryParts to_node_1() {
  MemoryChange change;
  change.quotas = {{NodeId{1}, kMiB}};
  return MemoryParts(change);
}

TEST(MemoryPartsTest, ACellsMappingBelongsOnItsNodeAndTheRestIsSharedOut) {
  MemoryParts parts = two_cells();
  const auto survey =
      parts.take({mapping(kRangeStart, kMiB * 128, {{NodeId{1}, kMiB * 128}}),
                  mapping(kRangeStart + 0x10000000, kMiB * 256, {{NodeId{1}, kMiB * 256}}),
                  mapping(kRangeStart + 0x40000000, kMiB * 8, {{NodeId{1}, kMiB * 8}})});
  ASSERT_EQ(survey.ranges.size(), 2U) << "the second cell is at home";
  EXPECT_EQ(survey.ranges[0].part, 1U);
  EXPECT_EQ(survey.ranges[1].part, 0U);
  EXPECT_TRUE(parts.is_home(2, NodeId{1}));
  EXPECT_FALSE(parts.is_home(2, NodeId{0}));
  EXPECT_TRUE(parts.is_home(0, NodeId{0}));
  EXPECT_EQ(parts.cells_unknown_because(), "");
  EXPECT_EQ(survey.total, kMiB * 392);
}

TEST(MemoryPartsTest, WhereTheCellsCannotBeToldAllMemoryIsOnePart) {
  MemoryParts parts = two_cells();
  const auto survey = parts.take({mapping(kRangeStart, kMiB * 384, {{NodeId{0}, kMiB * 384}})});
  ASSERT_EQ(survey.ranges.size(), 1U);
  EXPECT_EQ(survey.ranges[0].part, 0U);
  EXPECT_NE(parts.cells_unknown_because(), "");
  EXPECT_GT(parts.remaining(), kMiB * 200);
}

TEST(MemoryPartsTest, MappingsWithAPolicyOfTheirOwnAreLeftAlone) {
  MemoryParts parts = to_node_1();
  const auto survey =
      parts.take({mapping(kRangeStart, kMiB * 4, {{NodeId{0}, kMiB}}, "bind:0"),
                  mapping(kRangeStart + 0x1000000, kMiB * 4, {{NodeId{1}, kMiB}}, "bind:1")});
  EXPECT_TRUE(survey.ranges.empty());
  EXPECT_EQ(survey.bound_by_policy, kMiB);
  EXPECT_EQ(parts.remaining(), Bytes{});
}

TEST(MemoryPartsTest, AMappingIsAllOnANodeOnlyIfThatHasNearlyAllOfItAndItIsNoHome) {
  const auto all_pages_on = [](std::vector<NodeBytes> resident) {
    MemoryParts parts = to_node_1();
    return parts.take({mapping(kRangeStart, kMiB * 64, std::move(resident))})
        .ranges.at(0)
        .all_pages_on;
  };
  EXPECT_EQ(all_pages_on({{NodeId{0}, kMiB * 64}}), NodeId{0});
  EXPECT_EQ(all_pages_on({{NodeId{0}, kMiB * 63}}), NodeId{0});
  EXPECT_EQ(all_pages_on({{NodeId{0}, kMiB * 62}}), std::nullopt) << "holes";
  EXPECT_EQ(all_pages_on({{NodeId{0}, kMiB * 63}, {NodeId{1}, kMiB}}), std::nullopt);
}

TEST(MemoryPartsTest, ALaterSurveyReplacesWhatWasKnown) {
  MemoryParts parts = to_node_1();
  EXPECT_FALSE(parts.surveyed());
  (void)parts.take({mapping(kRangeStart, kMiB * 64, {{NodeId{0}, kMiB * 64}})});
  EXPECT_EQ(parts.remaining(), kMiB * 64);
  (void)parts.take({mapping(kRangeStart, kMiB * 64, {{NodeId{0}, kMiB}, {NodeId{1}, kMiB * 63}})});
  EXPECT_EQ(parts.remaining(), kMiB);
  EXPECT_TRUE(parts.surveyed());
}

}  // namespace
}  // namespace vmnuma::migration
