// SPDX-License-Identifier: Apache-2.0
#include "migration/page_queue.h"

#include <gtest/gtest.h>

#include "tests/support/property.h"
#include "tests/unit/migration/page_sizes.h"

namespace vmnuma::migration {
namespace {

PageUnit page(std::uint64_t number, std::int32_t from = 0) {
  PageUnit unit;
  unit.address = kRangeStart + number * 4096;
  unit.size = kPage;
  unit.from = NodeId{from};
  return unit;
}

PageUnit block(std::uint64_t number) {
  PageUnit unit = page(number * 512);
  unit.size = kBlock;
  unit.may_be_huge = true;
  return unit;
}

std::vector<PageUnit> pages(std::uint64_t count) {
  std::vector<PageUnit> units;
  for (std::uint64_t i = 0; i < count; ++i) {
    units.push_back(page(i));
  }
  return units;
}

Bytes left_because(const PageQueue::NotQueued& not_queued, Leftover reason) {
  return not_queued.left[static_cast<std::size_t>(reason)];
}

class PageQueueTest : public testing::Test {
 protected:
  [[nodiscard]] PageQueue::Mapping mapping(bool given_up = false) {
    return {.destinations = destinations_, .pool = {}, .block = kBlock, .given_up = given_up};
  }

  Destinations destinations_{{{NodeId{1}, kMiB}}, {{NodeId{0}, kMiB * 64}}};
  PageQueue queue_;
};

TEST_F(PageQueueTest, WhatGoesIsQueuedAndCountedAsIfItWereThere) {
  (void)queue_.add(pages(10), mapping());
  EXPECT_EQ(queue_.planned(), kPage * 10);
  EXPECT_EQ(destinations_.remaining(), kMiB * 64 - kPage * 10);
}

TEST_F(PageQueueTest, PagesAtHomeAreNotQueued) {
  (void)queue_.add({page(0, 1), page(1, 1)}, mapping());
  EXPECT_TRUE(queue_.empty());
}

TEST_F(PageQueueTest, TakesWhatFitsAndAtLeastOneUnit) {
  (void)queue_.add({block(0), block(1), block(2)}, mapping());
  EXPECT_EQ(queue_.take(kBlock * 2).size(), 2U);
  EXPECT_EQ(queue_.take(kPage).size(), 1U);
  EXPECT_TRUE(queue_.empty());
}

TEST_F(PageQueueTest, PagesOfOneCallGoToOneNode) {
  Destinations two({{NodeId{1}, kMiB}, {NodeId{2}, kMiB}}, {{NodeId{0}, kMiB * 2}});
  const PageQueue::Mapping mapping{
      .destinations = two, .pool = {}, .block = kPage, .given_up = false};
  (void)queue_.add(pages(64), mapping);
  while (!queue_.empty()) {
    const std::vector<PageUnit> call = queue_.take(kMiB * 64);
    for (const PageUnit& unit : call) {
      EXPECT_EQ(unit.to, call.front().to);
    }
    EXPECT_EQ(call.size(), 32U);
  }
}

TEST_F(PageQueueTest, PagesWhoseHomeIsFullWaitUntilItIsPlannedAgain) {
  destinations_.block(NodeId{1}, Bytes{});
  (void)queue_.add(pages(3), mapping());
  EXPECT_TRUE(queue_.empty());
  EXPECT_TRUE(queue_.waits_for_room());
  destinations_.reopen();
  (void)queue_.plan_again(mapping());
  EXPECT_FALSE(queue_.waits_for_room());
  EXPECT_EQ(queue_.planned(), kPage * 3);
}

TEST_F(PageQueueTest, PagesThatNoHomeTakesAreLeftForItsReason) {
  (void)queue_.add(pages(3), mapping());
  destinations_.close(NodeId{1}, Bytes{}, Leftover::kNotAllowed);
  const auto not_queued = queue_.plan_again(mapping());
  EXPECT_EQ(left_because(not_queued, Leftover::kNotAllowed), kPage * 3);
  EXPECT_EQ(queue_.planned(), Bytes{});
  EXPECT_EQ(destinations_.remaining(), kMiB * 64);
}

TEST_F(PageQueueTest, OfAMappingThatIsGivenUpPagesAreLeftAsPinned) {
  const auto not_queued = queue_.add(pages(3), mapping(/*given_up=*/true));
  EXPECT_EQ(left_because(not_queued, Leftover::kPinned), kPage * 3);
  EXPECT_TRUE(queue_.empty());
}

TEST_F(PageQueueTest, APageThatWasNotAskedAboutIsAskedAboutBeforeItIsLeft) {
  PageUnit sampled = block(0);
  sampled.sampled = true;
  PageUnit assumed = page(512);
  assumed.assumed = true;
  const auto not_queued = queue_.add({sampled, assumed}, mapping(/*given_up=*/true));
  EXPECT_EQ(not_queued.to_ask_about, (std::vector{sampled, assumed}));
  EXPECT_EQ(left_because(not_queued, Leftover::kPinned), Bytes{});
}

RC_GTEST_PROP(PageQueueProperty, WhatIsPlannedIsQueuedOrTakenAndNotSettled, ()) {
  Destinations destinations({{NodeId{1}, kMiB}}, {{NodeId{0}, kMiB * 64}});
  const PageQueue::Mapping mapping{
      .destinations = destinations, .pool = {}, .block = kBlock, .given_up = false};
  PageQueue queue;
  std::vector<PageUnit> taken;
  std::uint64_t next = 0;
  for (const int what : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 6))) {
    if (what == 0) {
      (void)queue.add({page(next), page(next + 1)}, mapping);
      next += 2;
    } else if (what == 1 && !queue.empty()) {
      for (const PageUnit& unit : queue.take(kPage * 3)) {
        taken.push_back(unit);
      }
    } else if (what == 2 && !taken.empty()) {
      queue.settle(taken.back());
      taken.pop_back();
    } else if (what == 3) {
      queue.put_back(taken);
      taken.clear();
    } else if (what == 4) {
      destinations.block(NodeId{1}, Bytes{});
      (void)queue.plan_again(mapping);
    } else if (what == 5) {
      destinations.reopen();
      (void)queue.plan_again(mapping);
    }
    Bytes planned = queue.empty() ? Bytes{} : queue.size_of_next(kMiB * 64);
    for (const PageUnit& unit : taken) {
      planned += unit.size;
    }
    RC_ASSERT(queue.planned() == planned);
  }
}

}  // namespace
}  // namespace vmnuma::migration
