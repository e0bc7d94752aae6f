// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/host/sim_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vmnuma::tools {
namespace {

using testing::ElementsAre;

/// Three nodes of 100, 50 and 100 pages; 2 is nearer to 0 than 1 is.
SimMemory three_nodes() {
  return SimMemory({100, 50, 100}, {10, 30, 20, 30, 10, 20, 20, 20, 10});
}
const std::vector<NodeIndex> kAll{0, 1, 2};

TEST(SimMemoryTest, PagesComeFromTheNodeAskedFor) {
  SimMemory memory = three_nodes();
  memory.add(1, 80, 0);
  memory.touch(1, 0, 30, 0, kAll);
  EXPECT_THAT(memory.counts(1), ElementsAre(30, 0, 0));
  EXPECT_EQ(memory.free(0), 70);
  EXPECT_EQ(memory.untouched_pages(1, 0), 50);
  EXPECT_EQ(memory.place(1, 29), NodeIndex{0});
  EXPECT_EQ(memory.place(1, 30), std::nullopt);
  EXPECT_EQ(memory.audit(), std::nullopt);
}

TEST(SimMemoryTest, WhatDoesNotFitComesFromTheNearestOfTheAllowed) {
  SimMemory memory = three_nodes();
  memory.add(1, 300, 0);
  memory.touch(1, 0, 110, 0, kAll);
  EXPECT_THAT(memory.counts(1), ElementsAre(100, 0, 10));
  memory.add(2, 300, 0);
  memory.touch(2, 0, 10, 0, {0, 1});
  EXPECT_THAT(memory.counts(2), ElementsAre(0, 10, 0));
  memory.touch(2, 0, 1000, 0, {0, 1});
  EXPECT_THAT(memory.counts(2), ElementsAre(0, 50, 0));
  EXPECT_EQ(memory.audit(), std::nullopt);
}

TEST(SimMemoryTest, HugePagesAreAPoolOfTheirOwn) {
  SimMemory memory({100, 100}, {10, 20, 20, 10}, {30, 10});
  memory.add(1, 35, 0, SimPool::kHuge);
  memory.touch(1, 0, 35, 0, {0, 1});
  EXPECT_THAT(memory.counts(1), ElementsAre(30, 5));
  EXPECT_EQ(memory.free(0, SimPool::kHuge), 0);
  EXPECT_EQ(memory.free(0), 100);
  for (std::int64_t page = 0; page < 5; ++page) {
    EXPECT_TRUE(memory.move(1, page, 1));
  }
  EXPECT_FALSE(memory.move(1, 5, 1));
  EXPECT_EQ(memory.audit(), std::nullopt);
  memory.remove(1);
  EXPECT_EQ(memory.free(1, SimPool::kHuge), 10);
  EXPECT_EQ(memory.audit(), std::nullopt);
}

TEST(SimMemoryTest, CellsAreEvenPartsInOrder) {
  SimMemory memory = three_nodes();
  memory.add(1, 10, 3);
  EXPECT_EQ(memory.first_page(1, 0), 0);
  EXPECT_EQ(memory.first_page(1, 1), 4);
  EXPECT_EQ(memory.first_page(1, 2), 7);
  EXPECT_EQ(memory.first_page(1, 3), 10);
  memory.touch(1, 1, 100, 2, kAll);
  EXPECT_THAT(memory.counts(1, 0), ElementsAre(0, 0, 0));
  EXPECT_THAT(memory.counts(1, 1), ElementsAre(0, 0, 3));
  EXPECT_EQ(memory.place(1, 3), std::nullopt);
  EXPECT_EQ(memory.place(1, 4), NodeIndex{2});
  EXPECT_TRUE(memory.move(1, 6, 0));
  EXPECT_THAT(memory.counts(1, 1), ElementsAre(1, 0, 2));
  EXPECT_EQ(memory.audit(), std::nullopt);
}

TEST(SimMemoryTest, APageMovesOnlyWhereThereIsRoom) {
  SimMemory memory = three_nodes();
  memory.add(1, 60, 0);
  memory.touch(1, 0, 50, 1, kAll);
  memory.touch(1, 0, 1, 0, kAll);
  EXPECT_FALSE(memory.move(1, 50, 1));  // full
  EXPECT_FALSE(memory.move(1, 51, 0));  // nowhere
  EXPECT_TRUE(memory.move(1, 0, 0));
  EXPECT_TRUE(memory.move(1, 50, 1));
  EXPECT_THAT(memory.counts(1), ElementsAre(1, 50, 0));
  EXPECT_EQ(memory.audit(), std::nullopt);
}

TEST(SimMemoryTest, AnOwnerThatEndsGivesEverythingBack) {
  SimMemory memory = three_nodes();
  memory.add(1, 60, 2);
  memory.touch(1, 0, 100, 0, kAll);
  memory.touch(1, 1, 100, 1, kAll);
  memory.remove(1);
  EXPECT_EQ(memory.free(0), 100);
  EXPECT_EQ(memory.free(1), 50);
  EXPECT_EQ(memory.audit(), std::nullopt);
}

TEST(SimMemoryTest, WhatIsTakenAwayComesBack) {
  SimMemory memory = three_nodes();
  memory.add(1, 60, 0);
  memory.touch(1, 0, 10, 0, kAll);
  memory.take_away(0);
  EXPECT_EQ(memory.free(0), 0);
  EXPECT_TRUE(memory.move(1, 0, 1));
  EXPECT_EQ(memory.free(0), 1);
  EXPECT_EQ(memory.audit(), std::nullopt);
  memory.give_back(0);
  EXPECT_EQ(memory.free(0), 91);
  EXPECT_EQ(memory.audit(), std::nullopt);
}

}  // namespace
}  // namespace vmnuma::tools
