// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/sim_cpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vmnuma::tools {
namespace {

using placement::CpuTime;
using testing::ElementsAre;

constexpr CpuTime kWhile{100'000};

TEST(SimCpusTest, EverybodyGetsWhatItWantsWhereThereIsEnough) {
  const NodeShares shares = share_node(2, 2, kWhile, CpuTime{}, {{1, kWhile}, {1, kWhile / 2}});
  EXPECT_THAT(shares.ran, ElementsAre(kWhile, kWhile / 2));
  EXPECT_EQ(shares.busy, CpuTime{150'000});
  EXPECT_EQ(shares.served, CpuTime{150'000});
}

TEST(SimCpusTest, AShortageIsSharedByWeight) {
  const NodeShares shares = share_node(1, 1, kWhile, CpuTime{}, {{300, kWhile}, {100, kWhile}});
  EXPECT_THAT(shares.ran, ElementsAre(CpuTime{75'000}, CpuTime{25'000}));
}

TEST(SimCpusTest, NobodyGetsMoreThanOneCpuWhateverItsWeight) {
  const NodeShares shares =
      share_node(2, 2, kWhile, CpuTime{}, {{1000, kWhile * 2}, {1, kWhile}, {1, kWhile}});
  EXPECT_THAT(shares.ran, ElementsAre(kWhile, kWhile / 2, kWhile / 2));
}

TEST(SimCpusTest, NobodyWaitsWhileACpuIsIdle) {
  const NodeShares shares =
      share_node(2, 2, kWhile, CpuTime{}, {{1000, kWhile / 10}, {1, kWhile}, {1, kWhile}});
  EXPECT_EQ(shares.busy, kWhile * 2);
}

TEST(SimCpusTest, OthersComeFirst) {
  const NodeShares shares = share_node(2, 2, kWhile, kWhile, {{1, kWhile}, {1, kWhile}});
  EXPECT_EQ(shares.others, kWhile);
  EXPECT_THAT(shares.ran, ElementsAre(kWhile / 2, kWhile / 2));
  EXPECT_EQ(share_node(2, 2, kWhile, kWhile * 5, {}).others, kWhile * 2);
}

TEST(SimCpusTest, ThreadsOfOneCoreGetLessDone) {
  // 4 threads on 2 cores: 2 cores and a quarter of each second thread.
  const NodeShares shares =
      share_node(2, 4, kWhile, CpuTime{}, {{1, kWhile}, {1, kWhile}, {1, kWhile}, {1, kWhile}});
  EXPECT_EQ(shares.busy, kWhile * 4);
  EXPECT_EQ(shares.served, CpuTime{250'000});
}

TEST(SimCpusTest, ANodeWithoutThreadsIsIdle) {
  const NodeShares shares = share_node(2, 2, kWhile, CpuTime{}, {});
  EXPECT_EQ(shares.busy, CpuTime{});
  EXPECT_TRUE(shares.ran.empty());
}

}  // namespace
}  // namespace vmnuma::tools
