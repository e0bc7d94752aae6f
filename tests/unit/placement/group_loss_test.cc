// SPDX-License-Identifier: Apache-2.0
#include "placement/group_loss.h"

#include <gtest/gtest.h>

namespace vmnuma {
namespace {

constexpr CpuTime kEpoch{2'000'000};
constexpr std::int64_t kVcpus = 4;
constexpr std::int64_t kWeightPct = 10;
constexpr CpuTime kInFull{800'000};

CpuTime of_scattered(std::int64_t clients) {
  return loss_of_pair_apart(kEpoch, kVcpus, kWeightPct, static_cast<std::size_t>(clients)) *
         (clients * (clients - 1) / 2);
}

TEST(GroupLossTest, PairsOfASmallGroupLoseTheWeightOfTheSmallerOnesVcpus) {
  for (std::int64_t clients = 0; clients <= static_cast<std::int64_t>(kMostInFull); ++clients) {
    EXPECT_EQ(of_scattered(clients), kInFull * (clients * (clients - 1) / 2));
  }
  EXPECT_EQ(loss_of_pair_together(kEpoch, kVcpus, kWeightPct), kInFull);
}

TEST(GroupLossTest, WhatALargeGroupLosesGrowsWithItsClients) {
  for (std::int64_t clients = 4; clients <= 64; clients *= 2) {
    EXPECT_EQ(of_scattered(clients), kInFull * 3 * (clients - 1) / 2);
  }
}

}  // namespace
}  // namespace vmnuma
