// SPDX-License-Identifier: Apache-2.0
#include "migration/page_window.h"

#include <cerrno>

#include <gtest/gtest.h>

#include "tests/support/property.h"
#include "tests/unit/migration/page_sizes.h"

namespace vmnuma::migration {
namespace {

MemoryRange range_of(std::uint64_t start, Bytes length) {
  return {.start = start,
          .length = length,
          .page_size = kPage,
          .huge_page_size = kBlock,
          .hugetlb = false,
          .shared = false,
          .policy = {},
          .resident = {}};
}

TEST(WindowAddressesTest, EndAtABlocksBorder) {
  const MemoryRange range = range_of(kRangeStart + 4096, kMiB * 8);
  const auto addresses = window_addresses(range, {}, kMiB * 4);
  ASSERT_FALSE(addresses.empty());
  EXPECT_EQ(addresses.front(), kRangeStart + 4096);
  EXPECT_EQ(addresses.back(), kRangeStart + 4 * 1024 * 1024 - 4096);
}

TEST(WindowAddressesTest, AreAtLeastOnePage) {
  MemoryRange range = range_of(kRangeStart, kGiB * 2);
  range.page_size = kGiB;
  range.huge_page_size = {};
  EXPECT_EQ(window_addresses(range, {}, kMiB), std::vector<std::uint64_t>{kRangeStart});
}

TEST(WindowAddressesTest, AreNoneAtTheEnd) {
  EXPECT_TRUE(window_addresses(range_of(kRangeStart, kMiB), kMiB, kMiB).empty());
}

RC_GTEST_PROP(WindowAddressesTest, CoverARangeOnce, ()) {
  const MemoryRange range =
      range_of(kRangeStart + static_cast<std::uint64_t>(*rc::gen::inRange(0, 1024)) * 4096,
               kPage * *rc::gen::inRange(1, 3000));
  Bytes offset;
  std::uint64_t expected = range.start;
  for (;;) {
    const Bytes size = kPage * *rc::gen::inRange(1, 2000);
    const auto addresses = window_addresses(range, offset, size);
    if (addresses.empty()) {
      break;
    }
    RC_ASSERT(addresses.size() <= static_cast<std::size_t>(size.value / kPage.value));
    for (const std::uint64_t address : addresses) {
      RC_ASSERT(address == expected);
      expected += 4096;
    }
    offset += kPage * static_cast<std::int64_t>(addresses.size());
  }
  RC_ASSERT(expected == range.start + static_cast<std::uint64_t>(range.length.value));
}

std::vector<PageUnit> read(const MemoryRange& range, const std::vector<int>& statuses,
                           bool look = true) {
  const auto addresses =
      window_addresses(range, {}, kPage * static_cast<std::int64_t>(statuses.size()));
  return read_window(range, addresses, statuses, look);
}

TEST(ReadWindowTest, AUniformBlockIsOneUnit) {
  const auto units = read(range_of(kRangeStart, kBlock), std::vector<int>(512, 3));
  ASSERT_EQ(units.size(), 1U);
  EXPECT_EQ(units[0], (PageUnit{kRangeStart, kBlock, NodeId{3}, {}, true}));
}

TEST(ReadWindowTest, ABlockWithAPageElsewhereIsPages) {
  std::vector<int> statuses(512, 3);
  statuses[511] = 1;
  const auto units = read(range_of(kRangeStart, kBlock), statuses);
  EXPECT_EQ(units.size(), 512U);
  EXPECT_EQ(units.back().from, NodeId{1});
}

TEST(ReadWindowTest, ABlockWithAHoleIsPages) {
  std::vector<int> statuses(512, 3);
  statuses[100] = -ENOENT;
  EXPECT_EQ(read(range_of(kRangeStart, kBlock), statuses).size(), 511U);
}

TEST(ReadWindowTest, AnUnalignedStretchIsPages) {
  EXPECT_EQ(read(range_of(kRangeStart + 4096, kBlock), std::vector<int>(511, 3)).size(), 511U);
}

TEST(ReadWindowTest, EveryPageIsAUnitWhenNotLookingForHugeOnes) {
  const auto units = read(range_of(kRangeStart, kBlock), std::vector<int>(512, 3), /*look=*/false);
  EXPECT_EQ(units.size(), 512U);
}

TEST(ReadWindowTest, ScatteredAddressesAreNoBlock) {
  const MemoryRange range = range_of(kRangeStart, kMiB * 8);
  std::vector<std::uint64_t> addresses;
  for (std::uint64_t i = 0; i < 512; ++i) {
    addresses.push_back(kRangeStart + i * 8192);
  }
  EXPECT_EQ(read_window(range, addresses, std::vector<int>(512, 0), true).size(), 512U);
}

RC_GTEST_PROP(ReadWindowTest, UnitsAddUpToTheWindowsPagesThatArePresent, ()) {
  const MemoryRange range = range_of(
      kRangeStart + static_cast<std::uint64_t>(*rc::gen::inRange(0, 512)) * 4096, kMiB * 6);
  const auto addresses = window_addresses(range, {}, kMiB * 6);
  std::vector<int> statuses;
  while (statuses.size() < addresses.size()) {
    const int status = *rc::gen::element(0, 1, -EFAULT);
    const auto run = *rc::gen::inRange<std::size_t>(1, 1500);
    statuses.insert(statuses.end(), std::min(run, addresses.size() - statuses.size()), status);
  }
  Bytes sum;
  for (const PageUnit& unit : read_window(range, addresses, statuses, true)) {
    sum += unit.size;
  }
  RC_ASSERT(sum == kPage * std::count_if(statuses.begin(), statuses.end(),
                                         [](int status) { return status >= 0; }));
}

TEST(UnseenBlocksTest, AreWholeBlocksWithoutAPage) {
  const MemoryRange range = range_of(kRangeStart + 4096, kMiB * 8);
  const auto addresses = window_addresses(range, {}, kMiB * 8);
  std::vector<int> statuses(addresses.size(), -EFAULT);
  statuses[511 + 512 + 7] = 0;  // in the second whole block
  EXPECT_EQ(unseen_blocks(range, addresses, statuses),
            (std::vector<std::uint64_t>{kRangeStart + 2097152, kRangeStart + 3 * 2097152}));
}

TEST(UnseenBlocksTest, AreNoneWithoutTransparentHugePages) {
  MemoryRange range = range_of(kRangeStart, kMiB * 4);
  range.huge_page_size = {};
  const auto addresses = window_addresses(range, {}, kMiB * 4);
  EXPECT_TRUE(unseen_blocks(range, addresses, std::vector<int>(1024, -EFAULT)).empty());
}

TEST(PagesOfBlockTest, AreAllOfThem) {
  const auto pages = pages_of_block(range_of(kRangeStart, kBlock), kRangeStart + 2097152);
  EXPECT_EQ(pages.size(), 512U);
  EXPECT_EQ(pages.front(), kRangeStart + 2097152);
  EXPECT_EQ(pages.back(), kRangeStart + 2097152 + 511 * 4096);
}

TEST(RestOfBlockTest, IsEveryPageButTheFirst) {
  const auto rest = rest_of_block({kRangeStart, kBlock, NodeId{0}, NodeId{1}, true}, kPage);
  ASSERT_EQ(rest.size(), 511U);
  EXPECT_EQ(rest.front(), (PageUnit{kRangeStart + 4096, kPage, NodeId{0}, NodeId{1}, false}));
  EXPECT_EQ(rest.back().address, kRangeStart + 511 * 4096);
}

}  // namespace
}  // namespace vmnuma::migration
