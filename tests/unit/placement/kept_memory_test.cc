// SPDX-License-Identifier: Apache-2.0
#include "placement/kept_memory.h"

#include <gtest/gtest.h>

namespace vmnuma {
namespace {

TEST(KeptMemoryTest, APromiseTakesRoomFromItsNodeOnly) {
  KeptMemory kept({kGiB * 4, kGiB * 4});
  EXPECT_TRUE(kept.keep({0}, kGiB * 3));
  EXPECT_FALSE(kept.keep({0}, kGiB * 2));
  EXPECT_TRUE(kept.keep({1}, kGiB * 4));
  EXPECT_TRUE(kept.keep({0}, kGiB));  // what was refused took nothing
}

TEST(KeptMemoryTest, AGroupTakesRoomFromItsNodesTogether) {
  KeptMemory kept({kGiB * 4, kGiB * 4, kGiB * 4});
  EXPECT_TRUE(kept.keep({0, 1}, kGiB * 6));
  EXPECT_EQ(kept.most({0}), kGiB * 2);
  EXPECT_EQ(kept.most({1}), kGiB * 2);
  EXPECT_EQ(kept.most({0, 1}), kGiB * 2);
  EXPECT_EQ(kept.most({0, 1, 2}), kGiB * 6);
}

TEST(KeptMemoryTest, WhatLiesOnSeveralNodesMakesRoomForWhatHasOne) {
  KeptMemory kept({kGiB * 4, kGiB * 4, kGiB * 4});
  EXPECT_TRUE(kept.keep({0, 1}, kGiB * 4));
  EXPECT_TRUE(kept.keep({1, 2}, kGiB * 4));
  EXPECT_TRUE(kept.keep({0}, kGiB * 4));  // they go to 1 and 2
  EXPECT_EQ(kept.most({0, 1, 2}), Bytes{});
}

TEST(KeptMemoryTest, ANodeWithoutCapacityKeepsNothing) {
  KeptMemory kept({-kGiB, kGiB});
  EXPECT_FALSE(kept.keep({0}, kMiB));
  EXPECT_TRUE(kept.keep({0}, Bytes{}));
  EXPECT_EQ(kept.most({0, 1}), kGiB);
}

}  // namespace
}  // namespace vmnuma
