// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/host/sim_load_balancer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/scenarios.h"
#include "tools/sim/host/sim_host.h"

namespace vmnuma::tools {
namespace {

using testing::ElementsAre;

constexpr CpuTime kTick{200'000};

class SimLoadBalancerTest : public testing::Test {
 protected:
  /// Nodes of 4 CPUs.
  explicit SimLoadBalancerTest(std::int32_t nodes = 2)
      : host_(small_host(nodes), 1, /*prefer_ht=*/false, clock_) {
    for (NodeIndex node = 0; node < static_cast<NodeIndex>(nodes); ++node) {
      all_.push_back(node);
    }
  }
  void add(NodeIndex node, std::int64_t pct, CpuTime waited = {}, NodeIndex prefers = kNoNode) {
    threads_.push_back({node, kTick * pct / 100, waited, all_, prefers});
  }
  void pass(int times = 1) {
    for (int i = 0; i < times; ++i) {
      std::vector<CpuTime> busy(all_.size());
      for (const FloatingThread& thread : threads_) {
        if (thread.node != kNoNode) {
          busy[thread.node] += thread.wants;
        }
      }
      balancer_.pass(kTick, host_.topology(), std::move(busy), threads_);
    }
  }
  [[nodiscard]] std::vector<int> threads_on() const {
    std::vector<int> count(all_.size());
    for (const FloatingThread& thread : threads_) {
      ++count[thread.node];
    }
    return count;
  }

  Microseconds clock_;
  SimHost host_;
  SimLoadBalancer balancer_{1};
  std::vector<NodeIndex> all_;
  std::vector<FloatingThread> threads_;
};

TEST_F(SimLoadBalancerTest, ThreadsThatStartTogetherSpread) {
  for (int i = 0; i < 8; ++i) {
    add(kNoNode, 0);
  }
  pass();
  EXPECT_THAT(threads_on(), ElementsAre(4, 4));
}

TEST_F(SimLoadBalancerTest, NoThreadMovesWhereNoneWaitsAndNodesAreEven) {
  for (int i = 0; i < 8; ++i) {
    add(i % 2 == 0 ? 0 : 1, 100);
  }
  pass(1000);
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(threads_[static_cast<std::size_t>(i)].node, i % 2 == 0 ? 0U : 1U) << i;
  }
}

TEST_F(SimLoadBalancerTest, NodesAreEvenedOutByTheirIdleCpus) {
  for (int i = 0; i < 8; ++i) {
    add(0, 100);
  }
  pass();
  EXPECT_THAT(threads_on(), ElementsAre(4, 4));
}

TEST_F(SimLoadBalancerTest, AThreadThatWaitsIsPulledToAnIdleCpuOnceItHasWaitedForAWhile) {
  // Not uneven enough to be evened out: 3.2 and 2.4 of 4 CPUs.
  for (const NodeIndex node : {0U, 0U, 0U, 0U, 1U, 1U, 1U}) {
    add(node, 80);
  }
  threads_[0].waited = CpuTime{7'000};  // a domain of 8 CPUs is looked at every 8 ms
  pass();
  EXPECT_EQ(threads_[0].node, 0U);
  threads_[0].waited = CpuTime{8'000};
  pass();
  EXPECT_EQ(threads_[0].node, 1U);
  EXPECT_EQ(threads_[0].waited, CpuTime{});
}

TEST_F(SimLoadBalancerTest, OneThatLeavesWhereItPrefersToBeIsPulledLater) {
  for (const NodeIndex node : {0U, 0U, 0U, 0U, 1U, 1U, 1U}) {
    add(node, 80, CpuTime{}, node);
  }
  threads_[0].waited = CpuTime{31'000};
  pass();
  EXPECT_EQ(threads_[0].node, 0U);
  threads_[0].waited = CpuTime{32'000};
  pass();
  EXPECT_EQ(threads_[0].node, 1U);
}

TEST_F(SimLoadBalancerTest, AThreadGoesBackWhereItPrefersToBeOrChangesPlaces) {
  add(0, 100, CpuTime{}, 1);
  pass();
  EXPECT_EQ(threads_[0].node, 1U);
  threads_.clear();
  for (int i = 0; i < 8; ++i) {
    add(i < 4 ? 0 : 1, 100, CpuTime{}, i < 4 ? 1 : 0);
  }
  pass();
  EXPECT_EQ(threads_[0].node, 1U);
  EXPECT_EQ(threads_[7].node, 0U);
  EXPECT_THAT(threads_on(), ElementsAre(4, 4));
}

TEST_F(SimLoadBalancerTest, BusyNodesAreEvenedOutOnlyFromTimeToTime) {
  for (int i = 0; i < 14; ++i) {
    add(i < 9 ? 0 : 1, 100);  // 9 and 5 on 4 CPUs each
  }
  pass();                                        // 8 CPUs look every 128 ms
  EXPECT_THAT(threads_on(), ElementsAre(8, 6));  // 8 is less than 17 % more than 7
  threads_.clear();
  for (int i = 0; i < 9; ++i) {
    add(i < 5 ? 0 : 1, 100);
  }
  pass(100);
  EXPECT_THAT(threads_on(), ElementsAre(5, 4));
}

TEST_F(SimLoadBalancerTest, AThreadRunsOnlyWhereItMay) {
  const std::vector<NodeIndex> only{0};
  for (int i = 0; i < 8; ++i) {
    add(0, 100, kTick, 1);
    threads_.back().nodes = only;
  }
  pass(10);
  EXPECT_THAT(threads_on(), ElementsAre(8, 0));
}

}  // namespace
}  // namespace vmnuma::tools
