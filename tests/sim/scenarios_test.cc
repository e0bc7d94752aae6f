// SPDX-License-Identifier: Apache-2.0
/// What each scenario is there to show.
#include "tests/sim/scenarios.h"

#include <algorithm>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vmnuma::tools {
namespace {

using placement::Bytes;
using placement::kGiB;
using placement::NodeId;

SimulationResult run(const std::string& name) {
  return run_to_end(find_scenario(name, kScenarioDirectory).value());
}

const VmResult& vm(const SimulationResult& result, const std::string& name) {
  return *std::find_if(result.vms.begin(), result.vms.end(),
                       [&](const VmResult& one) { return one.name == name; });
}

/// In whole per cent, rounded down.
std::int64_t pct(Percentage share) {
  return share.value / 1000;
}

std::set<NodeId> homes(const SimulationResult& result) {
  std::set<NodeId> nodes;
  for (const VmResult& one : result.vms) {
    nodes.insert(one.homes.begin(), one.homes.end());
  }
  return nodes;
}

std::int64_t all_moves(const SimulationResult& result) {
  return result.moves + result.swaps + result.locality_moves + result.long_term_moves;
}

TEST(ScenariosTest, ADozenVmsEndOnFourNodesWithTheirMemoryNear) {
  const SimulationResult result = run("default");
  EXPECT_EQ(homes(result).size(), 4U);
  EXPECT_GE(pct(result.imbalance.start), 30);  // one node is overloaded
  EXPECT_GE(pct(result.locality.end), 95);
  EXPECT_LT(all_moves(result), 12);
  for (const VmResult& one : result.vms) {
    EXPECT_GE(pct(one.used) + 5, pct(one.entitled)) << one.name;
  }
}

TEST(ScenariosTest, APileUpIsSpreadOutAndMemoryFollows) {
  const SimulationResult result = run("pile-up");
  EXPECT_EQ(homes(result).size(), 4U);
  EXPECT_EQ(result.moves, 3);
  EXPECT_GE(pct(result.locality.end), 95);
  EXPECT_EQ(pct(result.imbalance.end), 0);
}

TEST(ScenariosTest, ABootStormIsSpreadEvenly) {
  const SimulationResult result = run("boot-storm");
  std::map<NodeId, int> vms;
  for (const VmResult& one : result.vms) {
    ++vms[one.homes.at(0)];
  }
  for (std::int32_t node = 0; node < 4; ++node) {
    EXPECT_EQ(vms[NodeId{node}], 4) << node;
  }
  EXPECT_EQ(pct(result.owed), 0);
  EXPECT_GE(pct(result.locality.end), 95);
}

TEST(ScenariosTest, WhereNothingHelpsNothingIsMoved) {
  const SimulationResult result = run("overload");
  EXPECT_EQ(all_moves(result), 0);
}

TEST(ScenariosTest, ThreeVmsOnTwoNodesGetTwoThirdsEach) {
  const SimulationResult result = run("three-on-two");
  for (const VmResult& one : result.vms) {
    EXPECT_NEAR(static_cast<double>(one.used.value) / 1000, 66.7, 5) << one.name;
  }
}

TEST(ScenariosTest, SharesDecideAcrossNodes) {
  const SimulationResult result = run("shares");
  EXPECT_GE(pct(vm(result, "gold").used), 97);
  EXPECT_NEAR(static_cast<double>(pct(vm(result, "tin1").used)), 50, 3);
  EXPECT_NEAR(static_cast<double>(pct(vm(result, "tin2").used)), 50, 3);
}

TEST(ScenariosTest, AnExchangeIsFoundWhereNoMoveHelps) {
  const SimulationResult result = run("swap-only");
  // For load or, if that is due first, for fairness.
  EXPECT_EQ(result.swaps + result.long_term_moves, 1);
  EXPECT_EQ(result.moves, 0);
  EXPECT_EQ(pct(result.imbalance.end), 0);
  EXPECT_EQ(pct(result.locality.end), 100);
}

TEST(ScenariosTest, MemoryLargerThanANodeIsNotChasedAbout) {
  const SimulationResult result = run("memory-larger-than-node");
  EXPECT_EQ(vm(result, "huge").homes.size(), 1U);
  EXPECT_EQ(vm(result, "huge").moves, 0);
  EXPECT_GE(pct(vm(result, "huge").locality), 60);  // 32 of 48 GiB, less the reserve
  EXPECT_LT(result.moved, kGiB * 12);
}

TEST(ScenariosTest, AWideVmLivesOnNeighbours) {
  const SimulationResult result = run("wide-vm-on-a-ring");
  const std::vector<NodeId>& nodes = vm(result, "wide").homes;
  ASSERT_EQ(nodes.size(), 2U);
  EXPECT_EQ((nodes[0].value + nodes[1].value) % 2, 1) << nodes[0].value << ' ' << nodes[1].value;
}

TEST(ScenariosTest, AWideVmStaysInOnePackage) {
  const SimulationResult result = run("sub-numa");
  std::set<std::int32_t> packages;
  for (const NodeId node : vm(result, "wide").homes) {
    packages.insert(node.value / 4);
  }
  EXPECT_EQ(packages.size(), 1U);
}

TEST(ScenariosTest, CoresAreNotSacrificedToLocality) {
  const SimulationResult result = run("smt-trap");
  EXPECT_EQ(homes(result).size(), 2U);
  EXPECT_EQ(pct(result.owed), 0);
  EXPECT_EQ(pct(result.locality.end), 100);
}

TEST(ScenariosTest, BurstsAreNotFollowed) {
  EXPECT_LE(all_moves(run("noisy-neighbour")), 2);
}

TEST(ScenariosTest, AShortageThatChangesSidesIsNotFollowed) {
  EXPECT_LE(all_moves(run("thrash-trap")), 4);
}

TEST(ScenariosTest, DayAndNightAreMixed) {
  const SimulationResult result = run("diurnal");
  EXPECT_LT(result.owed.value, 1000);  // 1 %
  EXPECT_LE(all_moves(result), 6);
}

TEST(ScenariosTest, ArrivalsAvoidTheFullNodeAndTakeTheirMemoryAlong) {
  const SimulationResult result = run("incoming-on-full-node");
  for (int i = 0; i < 4; ++i) {
    EXPECT_NE(vm(result, "guest" + std::to_string(i)).homes.at(0), NodeId{0}) << i;
  }
  EXPECT_EQ(pct(result.owed), 0);
  EXPECT_EQ(pct(result.locality.end), 100);
}

TEST(ScenariosTest, BadLocalityIsMendedUnderLightLoadToo) {
  const SimulationResult result = run("light-load-bad-locality");
  EXPECT_EQ(pct(result.locality.end), 100);
  EXPECT_LT(result.lost.value, 10'000);  // 10 %; at first a third is lost
}

TEST(ScenariosTest, ANodeWithoutMemoryIsNoHome) {
  const SimulationResult result = run("memoryless-node");
  EXPECT_FALSE(homes(result).contains(NodeId{1}));
}

TEST(ScenariosTest, ANodeWithoutCpusIsNoHomeAndMemoryComesBackFromIt) {
  const SimulationResult result = run("cpuless-node");
  EXPECT_FALSE(homes(result).contains(NodeId{2}));
  EXPECT_EQ(pct(vm(result, "spilled").locality), 100);
}

TEST(ScenariosTest, LargerNodesTakeMore) {
  const SimulationResult result = run("uneven-nodes");
  EXPECT_EQ(pct(result.owed), 0);
  EXPECT_GE(pct(result.locality.end), 99);
}

TEST(ScenariosTest, WhatBelongsApartIsParted) {
  const SimulationResult result = run("anti-affinity");
  std::set<NodeId> nodes;
  for (int i = 0; i < 3; ++i) {
    nodes.insert(vm(result, "replica" + std::to_string(i)).homes.at(0));
  }
  EXPECT_EQ(nodes.size(), 3U);
}

TEST(ScenariosTest, WhatBelongsTogetherIsBroughtTogether) {
  const SimulationResult result = run("affinity-pair");
  EXPECT_EQ(vm(result, "app").homes, vm(result, "db").homes);
  EXPECT_EQ(result.locality_moves, 1);
}

TEST(ScenariosTest, BoundMemoryStays) {
  const SimulationResult result = run("strict-numatune");
  EXPECT_EQ(vm(result, "bound").homes, std::vector<NodeId>{NodeId{0}});
  EXPECT_EQ(pct(vm(result, "bound").locality), 100);
  EXPECT_EQ(pct(result.imbalance.end), 0);
}

TEST(ScenariosTest, WhatTheHostUsesItselfCounts) {
  const SimulationResult result = run("polling-threads");
  EXPECT_EQ(pct(result.imbalance.end), 0);
  EXPECT_EQ(result.moves, 1);
}

// ---- when things go wrong; that the journal ends closed and nothing is violated holds everywhere
// ----

TEST(ScenariosTest, VmsThatVanishLeaveTheOthersInOrder) {
  const SimulationResult result = run("hot-remove");
  EXPECT_EQ(pct(vm(result, "web4").locality), 100);
  EXPECT_EQ(pct(result.imbalance.end), 0);
}

TEST(ScenariosTest, UnderLightLoadVmsGoToTheirMemoryAndNotTheOtherWay) {
  const SimulationResult result = run("light-load-bad-locality");
  EXPECT_EQ(result.moved, Bytes{});
  EXPECT_EQ(result.locality_moves, 4);
  EXPECT_EQ(pct(result.locality.end), 100);
}

TEST(ScenariosTest, EachGuestCellsMemoryIsBroughtToItsOwnClient) {
  const SimulationResult result = run("guest-cells");
  EXPECT_GE(pct(result.locality.end), 98);
  EXPECT_LE(pct(result.lost), 10);
}

TEST(ScenariosTest, ADaemonThatDiedFinishesItsWork) {
  const SimulationResult result = run("daemon-restart");
  EXPECT_EQ(homes(result).size(), 4U);
  EXPECT_EQ(pct(result.locality.end), 100);
  EXPECT_EQ(pct(result.imbalance.end), 0);
}

TEST(ScenariosTest, AVmThatCannotBePinnedIsMovedOnceItCan) {
  const SimulationResult result = run("pin-refused");
  EXPECT_EQ(vm(result, "stubborn").homes, std::vector<NodeId>{NodeId{1}});
  EXPECT_EQ(result.moves, 1);
  EXPECT_GT(result.last_move_epoch, 55);
}

TEST(ScenariosTest, BusyPagesComeHomeLater) {
  const SimulationResult result = run("pages-busy");
  EXPECT_EQ(pct(vm(result, "busy").locality), 100);
}

TEST(ScenariosTest, ATransferThatFindsNoRoomIsFinishedLater) {
  const SimulationResult result = run("node-full");
  EXPECT_EQ(pct(vm(result, "mover").locality), 100);
}

TEST(ScenariosTest, ASlowLibvirtOnlyMakesMovesSlow) {
  const SimulationResult result = run("slow-libvirt");
  EXPECT_EQ(pct(result.imbalance.end), 0);
  EXPECT_EQ(pct(result.locality.end), 100);
}

TEST(ScenariosTest, WithoutReadingsNothingIsMoved) {
  const SimulationResult result = run("stale-sample");
  EXPECT_GE(result.last_move_epoch, 23);  // readings are missing from 3 to 22
  EXPECT_EQ(pct(result.imbalance.end), 0);
}

TEST(ScenariosTest, VmsOfANodeThatIsGoneAreTakenCareOf) {
  Scenario scenario = find_scenario("node-offline", kScenarioDirectory).value();
  scenario.epochs = 60;  // in the midst of it
  const SimulationResult result = run_to_end(scenario);
  EXPECT_FALSE(homes(result).contains(NodeId{1}));
  EXPECT_EQ(pct(result.owed), 0);
}

}  // namespace
}  // namespace vmnuma::tools
