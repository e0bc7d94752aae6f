// SPDX-License-Identifier: Apache-2.0
#include "migration/page_scan.h"

#include <cerrno>
#include <set>

#include <gtest/gtest.h>

#include "migration/pacing.h"
#include "tests/unit/migration/page_sizes.h"

namespace vmnuma::migration {
namespace {

PartRange small_pages(Bytes length, std::uint64_t start = kRangeStart) {
  PartRange range;
  range.memory = {.start = start,
                  .length = length,
                  .page_size = kPage,
                  .huge_page_size = {},
                  .hugetlb = false,
                  .shared = false,
                  .policy = {},
                  .resident = {}};
  range.resident = length;
  return range;
}

PartRange perhaps_huge(Bytes length) {
  PartRange range = small_pages(length);
  range.memory.huge_page_size = kBlock;
  return range;
}

/// Every page of the window is on node 0.
std::vector<PageUnit> read_all_on_0(PageScan& scan) {
  scan.window().statuses.assign(scan.window().addresses.size(), 0);
  return scan.read();
}

TEST(PageScanTest, BeginsWithTheLargestMappingAndShowsEveryPageOnce) {
  PageScan scan({small_pages(kMiB * 3), small_pages(kMiB * 130, kRangeStart + 0x40000000)});
  std::set<std::uint64_t> shown;
  std::size_t count = 0;
  while (scan.next_window()) {
    if (count == 0) {
      EXPECT_EQ(scan.range().memory.length, kMiB * 130);
    }
    shown.insert(scan.window().addresses.begin(), scan.window().addresses.end());
    count += scan.window().addresses.size();
    EXPECT_LE(kPage * static_cast<std::int64_t>(scan.window().addresses.size()), kLargestChunk);
    (void)read_all_on_0(scan);
  }
  EXPECT_EQ(count, 133U * 256);
  EXPECT_EQ(shown.size(), count);
}

TEST(PageScanTest, AMappingOfWhichAllWasFoundIsNotSearchedOn) {
  PartRange range = small_pages(kMiB * 1024);
  range.resident = kMiB * 64;
  PageScan scan({range});
  Bytes asked;
  while (scan.next_window()) {
    asked += kPage * static_cast<std::int64_t>(scan.window().addresses.size());
    (void)read_all_on_0(scan);
  }
  EXPECT_EQ(asked, kMiB * 64);
}

TEST(PageScanTest, WhereBlocksWereHugePagesOnlyTheirEndsAreAskedAbout) {
  PageScan scan({perhaps_huge(kMiB * 64)});
  ASSERT_TRUE(scan.next_window());
  (void)read_all_on_0(scan);
  scan.record_blocks(/*whole=*/4, /*small=*/0);
  ASSERT_TRUE(scan.next_window());
  EXPECT_TRUE(scan.window().sampled);
  EXPECT_EQ(scan.window().addresses.size(), 28U * 2);
}

TEST(PageScanTest, AMappingThatWasAllOnOneNodeIsAssumedToBeOnceItsBlocksAreNoHugePages) {
  PartRange range = perhaps_huge(kMiB * 64);
  range.all_pages_on = NodeId{0};
  PageScan scan({range});
  ASSERT_TRUE(scan.next_window());
  EXPECT_FALSE(scan.window().assumed);
  (void)read_all_on_0(scan);
  scan.record_blocks(/*whole=*/0, /*small=*/4);
  ASSERT_TRUE(scan.next_window());
  EXPECT_TRUE(scan.window().assumed);
  for (const PageUnit& unit : read_all_on_0(scan)) {
    EXPECT_TRUE(unit.assumed);
  }
}

TEST(PageScanTest, WhatWasNotCertainIsAskedAboutAgainPageByPage) {
  PageScan scan({perhaps_huge(kMiB * 8)});
  ASSERT_TRUE(scan.next_window());
  const std::vector<PageUnit> units = read_all_on_0(scan);
  ASSERT_EQ(units.size(), 4U);
  scan.ask_again(units[2]);
  ASSERT_TRUE(scan.next_window());
  EXPECT_EQ(scan.window().addresses.size(), 512U);
  EXPECT_EQ(scan.window().addresses.front(), units[2].address);
  EXPECT_FALSE(scan.window().look_for_huge);
}

TEST(PageScanTest, HugePagesLargerThanAWindowOtherwiseIsAreRecognised) {
  PartRange range = perhaps_huge(kMiB * 2048);
  range.memory.start += 0x1000000;  // the mapping begins within a block
  range.memory.page_size = kKiB * 64;
  range.memory.huge_page_size = kMiB * 512;
  PageScan scan({range});
  ASSERT_TRUE(scan.next_window());
  EXPECT_EQ(read_all_on_0(scan).size(), (512U - 16) * 16);  // up to the first whole block
  ASSERT_TRUE(scan.next_window());
  const std::vector<PageUnit> units = read_all_on_0(scan);
  ASSERT_EQ(units.size(), 1U);
  EXPECT_TRUE(units[0].may_be_huge);
  scan.ask_again(units[0]);
  ASSERT_TRUE(scan.next_window());
  EXPECT_EQ(scan.window().addresses.size(), 512U * 16);
  (void)read_all_on_0(scan);
  scan.record_blocks(/*whole=*/1, /*small=*/0);
  ASSERT_TRUE(scan.next_window());
  EXPECT_TRUE(scan.window().sampled);
  EXPECT_EQ(scan.window().addresses.size(), 2U);
}

TEST(PageScanTest, FailedPagesAreTriedInThreeLaterRoundsAndLookedAtOnceMore) {
  PageScan scan({small_pages(kMiB)});
  ASSERT_EQ(scan.next_window(), Microseconds{});
  const PageUnit failing = read_all_on_0(scan).at(7);
  ASSERT_TRUE(scan.try_later(failing, Leftover::kBusy));
  for (const std::int64_t wait : {100'000, 200'000, 400'000}) {
    ASSERT_EQ(scan.next_window(), Microseconds{wait});
    EXPECT_TRUE(scan.window().is_retry());
    EXPECT_FALSE(scan.is_last_look());
    EXPECT_EQ(scan.window().addresses, std::vector{failing.address});
    ASSERT_TRUE(scan.try_later(failing, Leftover::kBusy));
  }
  ASSERT_EQ(scan.next_window(), Microseconds{});
  EXPECT_TRUE(scan.is_last_look());
  EXPECT_FALSE(scan.next_window());
}

TEST(PageScanTest, NoMoreThan65536PagesAreRememberedForAnotherTry) {
  PageScan scan({small_pages(kMiB)});
  ASSERT_TRUE(scan.next_window());
  const PageUnit unit = read_all_on_0(scan).front();
  for (int i = 0; i < 65536; ++i) {
    ASSERT_TRUE(scan.try_later(unit, Leftover::kBusy));
  }
  EXPECT_FALSE(scan.try_later(unit, Leftover::kBusy));
}

TEST(PageScanTest, AMappingIsGivenUpAfterEightCallsInVainInARow) {
  PageScan scan({small_pages(kMiB)});
  ASSERT_TRUE(scan.next_window());
  for (int i = 0; i < 7; ++i) {
    scan.record_call({}, /*in_vain=*/true);
  }
  scan.record_call(kPage, /*in_vain=*/false);
  for (int i = 0; i < 8; ++i) {
    EXPECT_FALSE(scan.given_up());
    scan.record_call({}, /*in_vain=*/true);
  }
  EXPECT_TRUE(scan.given_up());
}

TEST(PageScanTest, AMappingOfWhichMuchWasNotFoundIsSearchedForHiddenHugePages) {
  PageScan scan({perhaps_huge(kMiB * 8)});
  ASSERT_TRUE(scan.next_window());
  scan.window().statuses.assign(scan.window().addresses.size(), -EFAULT);
  EXPECT_FALSE(scan.find_hidden()) << "a hole looks the same";
  (void)scan.read();
  ASSERT_TRUE(scan.next_window());
  scan.window().statuses.assign(scan.window().addresses.size(), -EFAULT);
  EXPECT_TRUE(scan.find_hidden());
  EXPECT_EQ(scan.window().hidden.size(), 4U);
  EXPECT_EQ(scan.window().hidden_unit, kBlock);
}

}  // namespace
}  // namespace vmnuma::migration
