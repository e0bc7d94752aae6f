// SPDX-License-Identifier: Apache-2.0
#include "placement/group_loss.h"

#include <gtest/gtest.h>

namespace vmnuma::placement {
namespace {

constexpr CpuTime kEpoch{2'000'000};
constexpr std::int64_t kVcpus = 4;
constexpr std::int64_t kWeightPct = 10;

TEST(GroupLossTest, APairLosesTheWeightOfTheSmallerOnesVcpus) {
  EXPECT_EQ(loss_of_pair_apart(kEpoch, kVcpus, kWeightPct, 2), CpuTime{800'000});
  EXPECT_EQ(loss_of_pair_together(kEpoch, kVcpus, kWeightPct), CpuTime{800'000});
}

TEST(GroupLossTest, AScatteredGroupLosesWhatAPairDoesForEachClientButOne) {
  for (std::int64_t clients = 2; clients <= 32; clients *= 2) {
    const std::int64_t pairs = clients * (clients - 1) / 2;
    const CpuTime one =
        loss_of_pair_apart(kEpoch, kVcpus, kWeightPct, static_cast<std::size_t>(clients));
    EXPECT_EQ(one * pairs, CpuTime{800'000} * (clients - 1));
  }
}

TEST(GroupLossTest, AGroupWithoutPairsDividesNothingByZero) {
  EXPECT_EQ(loss_of_pair_apart(kEpoch, kVcpus, kWeightPct, 0), CpuTime{800'000});
}

}  // namespace
}  // namespace vmnuma::placement
