// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/host/truth.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/scenarios.h"
#include "tools/sim/host/sim_host.h"

namespace vmnuma::tools {
namespace {

constexpr Microseconds kHostSecond{1'000'000};

/// Two VMs of 4 busy vCPUs on a node of 4 CPUs, for a second.
EpochFigures figures_with(const ScenarioVm& one) {
  Microseconds clock;
  SimHost host(small_host(1), 1, /*prefer_ht=*/false, clock);
  (void)host.start(one);
  (void)host.start(busy_vm("other", 4, 100));
  host.run(kHostSecond);
  return figures_of(host.take_truth());
}

TEST(TruthTest, WithoutAReservationEqualVmsAreEntitledToEqualShares) {
  const EpochFigures figures = figures_with(busy_vm("one", 4, 100));
  EXPECT_EQ(figures.vms[0].entitled, CpuTime{2'000'000});
  EXPECT_EQ(figures.vms[0].owed, CpuTime{});
}

TEST(TruthTest, AReservationIsEntitledToBeforeWeightsCountAndOwedIfTheKernelDoesNotGiveIt) {
  ScenarioVm one = busy_vm("one", 4, 100);
  one.policy.reservation_permille = 750;
  const EpochFigures figures = figures_with(one);
  EXPECT_EQ(figures.vms[0].entitled, CpuTime{3'000'000});
  EXPECT_EQ(figures.vms[0].served, CpuTime{2'000'000});
  EXPECT_EQ(figures.vms[0].owed, CpuTime{1'000'000});
}

TEST(TruthTest, WhatALimitTakesIsNeitherWantedNorOwed) {
  ScenarioVm one = busy_vm("one", 4, 100);
  one.limit_pct = 100;
  const EpochFigures figures = figures_with(one);
  EXPECT_EQ(figures.vms[0].wanted, CpuTime{1'000'000});
  EXPECT_EQ(figures.vms[0].served, CpuTime{1'000'000});
  EXPECT_EQ(figures.vms[0].owed, CpuTime{});
  EXPECT_EQ(figures.vms[1].served, CpuTime{3'000'000});
}

}  // namespace
}  // namespace vmnuma::tools
