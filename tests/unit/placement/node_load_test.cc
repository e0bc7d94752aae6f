// SPDX-License-Identifier: Apache-2.0
#include "placement/node_load.h"

#include <gtest/gtest.h>

namespace vmnuma {
namespace {

// Times in thousandths of a core for an epoch of 1000 us, weights as the ledger gives them.
constexpr Supply kFourCores{CpuTime{4000}, CpuTime{4000}, CpuTime{}, 25};
constexpr Supply kTenCoresSmt{CpuTime{10'000}, CpuTime{20'000}, CpuTime{}, 25};

Load load(std::int64_t demand, std::int64_t entitled, std::int64_t weight = 100'000) {
  return {CpuTime{demand}, CpuTime{entitled}, weight};
}

void expect_near(CpuTime actual, std::int64_t expected) {
  EXPECT_NEAR(static_cast<double>(actual.value), static_cast<double>(expected), 3);
}

TEST(NodeLoadTest, OwesNothingWhereCoresServeAll) {
  EXPECT_EQ(NodeLoad(kFourCores, {load(2000, 2000), load(2000, 2000)}).owed(), CpuTime{});
  EXPECT_EQ(NodeLoad(kFourCores, {}).owed(), CpuTime{});
}

TEST(NodeLoadTest, SharesByWeightInsideTheNode) {
  // 4000 for two that want 4000 each, weights 1 : 3: they run 1000 and 3000.
  const NodeLoad node(kFourCores, {load(4000, 4000, 100'000), load(4000, 4000, 300'000)});
  expect_near(node.owed(), 3000 + 1000);
  const Pace pace = node.pace_after({});
  expect_near(pace.given(load(4000, 4000, 100'000)), 1000);
  expect_near(pace.given(load(4000, 4000, 300'000)), 3000);
}

TEST(NodeLoadTest, CapsWhatIsOwedByTheEntitlement) {
  // Both get 2000. The first is entitled to no more.
  const NodeLoad node(kFourCores, {load(4000, 1500), load(4000, 2600)});
  expect_near(node.owed(), 600);
}

TEST(NodeLoadTest, LeavesModestClientsTheirDemand) {
  // 500 is less than a third of 4000; the others share 3500.
  const NodeLoad node(kFourCores, {load(500, 500), load(4000, 4000), load(4000, 4000)});
  expect_near(node.owed(), 2 * (4000 - 1750));
}

TEST(NodeLoadTest, SlowsAllThreadsOfSharedCoresAlike) {
  // 16 threads busy on 10 cores: worth 11.5, efficiency 0.71875. Both run all they want.
  const NodeLoad node(kTenCoresSmt, {load(8000, 8000, 100'000), load(8000, 8000, 900'000)});
  expect_near(node.owed(), 2 * (8000 - 5750));
}

TEST(NodeLoadTest, OwesNothingOnSharedCoresBeyondWhatAClientIsEntitledTo) {
  // The same node: 5750 each; one is entitled to 5000, the other to 6000.
  const NodeLoad node(kTenCoresSmt, {load(8000, 5000), load(8000, 6000)});
  expect_near(node.owed(), 250);
}

TEST(NodeLoadTest, SharesThreadsByWeightWhenAllAreBusy) {
  // 20 threads are worth 12.5 cores, 0.625 each. Level: 4000 met, the other two run 8000.
  const NodeLoad node(kTenCoresSmt, {load(4000, 4000), load(12'000, 8000), load(12'000, 4000)});
  // Run 4000, 8000, 8000; worth 2500, 5000, 5000; owed 1500, 3000, 0.
  expect_near(node.owed(), 4500);
}

TEST(NodeLoadTest, CountsWhatOthersTake) {
  Supply supply = kFourCores;
  supply.non_vm = CpuTime{1000};
  EXPECT_EQ(NodeLoad(supply, {load(3000, 3000)}).owed(), CpuTime{});
  expect_near(NodeLoad(supply, {load(4000, 4000)}).owed(), 1000);
  supply.non_vm = CpuTime{4000};
  expect_near(NodeLoad(supply, {load(500, 400)}).owed(), 400);
}

TEST(NodeLoadTest, TellsWhatAnExchangeWouldChange) {
  const Load a = load(3000, 3000);
  const Load b = load(2500, 2500);
  const Load c = load(1000, 1000);
  const NodeLoad node(kFourCores, {a, b, c});
  // Met: c's 1000; a and b share 3000.
  expect_near(node.owed(), 2500);
  expect_near(node.owed({.out = {a}, .in = {}}), 0);
  expect_near(node.owed({.out = {c}, .in = {}}), 1500);
  expect_near(node.owed({.out = {}, .in = {c}}), 3000 + 2500 - 2000);
  expect_near(node.owed({.out = {a, b}, .in = {load(3500, 3500)}}), 500);
  expect_near(node.owed({.out = {a, b, c}, .in = {}}), 0);
  expect_near(node.owed({.out = {c}, .in = {load(200, 200), load(300, 300), load(4000, 4000)}}),
              2 * 3000 + 4000 - 3 * 1167 - 500);
}

TEST(NodeLoadTest, BecomesWhatItWasAskedAbout) {
  const Load a = load(3000, 3000);
  const Load b = load(2500, 2500, 50'000);
  NodeLoad node(kFourCores, {a, b, load(1000, 900)});
  const Exchange exchange{.out = {a}, .in = {load(2000, 1800), load(100, 100)}};
  const CpuTime asked = node.owed(exchange);
  node.apply(exchange);
  expect_near(node.owed(), asked.value);
  EXPECT_EQ(node.demand(), CpuTime{5600});
  EXPECT_EQ(node.entitled(), CpuTime{5300});
  const NodeLoad anew(kFourCores, {b, load(1000, 900), load(2000, 1800), load(100, 100)});
  EXPECT_EQ(node.owed(), anew.owed());
}

TEST(NodeLoadTest, EqualLoadsComeAndGoOneByOne) {
  const Load one = load(1000, 900);
  NodeLoad node(kFourCores, {one, one, load(500, 500)});
  for (int i = 0; i < 6; ++i) {
    node.apply({.out = {}, .in = {one}});
  }
  // 500 are met; eight share 3500.
  EXPECT_EQ(node.demand(), CpuTime{8500});
  EXPECT_EQ(node.entitled(), CpuTime{7700});
  expect_near(node.owed(), 7700 - 500 - 3500);
  expect_near(node.owed({.out = {one, one}, .in = {load(200, 100)}}), 6 * (900 - 550));
  for (int i = 0; i < 7; ++i) {
    node.apply({.out = {one}, .in = {}});
  }
  EXPECT_EQ(node.demand(), CpuTime{1500});
  EXPECT_EQ(node.owed(), NodeLoad(kFourCores, {one, load(500, 500)}).owed());
}

TEST(NodeLoadTest, StaysInRangeForTheLargestNodesAndWeights) {
  // 512 cores for 60 s; weights from the smallest share of a VM to the largest.
  const CpuTime cores{512 * 60'000'000LL};
  const Load small{cores, cores, 1};
  const Load large{cores, cores, 10'000'000};
  const NodeLoad node({cores, cores, CpuTime{}, 25}, {small, large});
  // 1 : 10 million of 3.072e10 leaves the small one 3072 us.
  EXPECT_NEAR(static_cast<double>(node.pace_after({}).given(small).value), 3072, 3072 / 100);
  EXPECT_NEAR(static_cast<double>(node.owed().value), static_cast<double>(cores.value), 20);
}

TEST(NodeLoadTest, HasNothingToShareOnANodeWithoutCpus) {
  const NodeLoad node(Supply{}, {load(1000, 700)});
  EXPECT_EQ(node.owed(), CpuTime{700});
  EXPECT_EQ(node.capacity(), CpuTime{});
}

TEST(NodeLoadTest, IgnoresClientsThatWantNothing) {
  const NodeLoad node(kFourCores, {load(0, 0), load(5000, 5000)});
  expect_near(node.owed(), 1000);
  expect_near(node.owed({.out = {load(0, 0)}, .in = {}}), 1000);
}

}  // namespace
}  // namespace vmnuma
