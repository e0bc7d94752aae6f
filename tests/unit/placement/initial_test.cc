// SPDX-License-Identifier: Apache-2.0
#include "placement/initial.h"

#include <algorithm>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/build_snapshot.h"

namespace vmnuma {
namespace {

using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::SizeIs;
using tests::SnapshotBuilder;
using tests::VmSpec;

VmSpec homeless(const std::string& name, std::int32_t vcpus = 2, std::size_t clients = 1) {
  return {.name = name,
          .homes = std::vector<NodeIndex>(clients, kNoNode),
          .vcpus = vcpus,
          .busy_pct = 50,
          .size_gib = 4,
          .measured = false};
}

/// The homes that all homeless VMs get, one VM after the other.
std::vector<NodeIndex> place_all(const Snapshot& snapshot, NodeIndex round_robin = kNoNode) {
  static const Options kDefaults;
  Arrangement arrangement(snapshot, kDefaults, Arrangement::Basis::kLoad);
  std::vector<NodeIndex> homes;
  for (const VmState& vm : snapshot.vms) {
    for (const HomeChoice& choice :
         choose_homes(arrangement, vm.first_client, vm.client_count, round_robin)) {
      homes.push_back(choice.home);
    }
  }
  return homes;
}

TEST(InitialTest, GoesRoundBetweenEqualNodes) {
  const Snapshot snapshot =
      SnapshotBuilder().nodes(3, {.cores = 100, .memory_gib = 1024}).vm(homeless("a", 1)).build();
  EXPECT_THAT(place_all(snapshot), ElementsAre(0));
  EXPECT_THAT(place_all(snapshot, 0), ElementsAre(1));
  EXPECT_THAT(place_all(snapshot, 1), ElementsAre(2));
  EXPECT_THAT(place_all(snapshot, 2), ElementsAre(0));
}

TEST(InitialTest, TheFirstHomeIsWhereLibvirtWasToldToStartIt) {
  Snapshot snapshot = SnapshotBuilder()
                          .nodes(3, {.cores = 4, .memory_gib = 16})
                          .vm({.name = "busy", .homes = {2}, .vcpus = 8})
                          .vm(homeless("a", 4))
                          .build();
  EXPECT_THAT(place_all(snapshot), ElementsAre(0));
  snapshot.vms[1].suggested = {2};
  EXPECT_THAT(place_all(snapshot), ElementsAre(2));
  snapshot.vms[1].suggested = {1, 2};
  EXPECT_THAT(place_all(snapshot), ElementsAre(1));
}

TEST(InitialTest, ClientsWithPagesOfDifferentSizesEachStartWhereTheirsAre) {
  Snapshot snapshot = SnapshotBuilder()
                          .node({.cores = 8, .memory_gib = 64})
                          .node({.cores = 8, .memory_gib = 3, .huge_gib = 8})
                          .vm(homeless("a", 2, /*clients=*/2))
                          .build();
  snapshot.vms[0].huge_page_size = kMiB * 2;
  EXPECT_THAT(place_all(snapshot), ElementsAre(1, 1));  // there are no others
  snapshot.clients[0].page_size = Bytes{};
  EXPECT_THAT(place_all(snapshot), ElementsAre(0, 1));
}

TEST(InitialTest, WhereThereIsNoRoomNoVmIsPlacedOnASuggestion) {
  Snapshot snapshot = SnapshotBuilder()
                          .nodes(2, {.cores = 4, .memory_gib = 16})
                          .vm({.name = "large", .homes = {1}, .memory_gib = {0, 14}})
                          .vm(homeless("a"))
                          .build();
  snapshot.vms[1].suggested = {1};
  EXPECT_THAT(place_all(snapshot), ElementsAre(0));
}

TEST(InitialTest, AClientStartsWhereItsMemoryMayLieWhateverElseSpeaksAgainstIt) {
  Snapshot snapshot = SnapshotBuilder()
                          .nodes(3, {.cores = 4, .memory_gib = 16})
                          .vm({.name = "large", .homes = {2}, .vcpus = 8, .memory_gib = {0, 0, 14}})
                          .vm(homeless("a", 2, /*clients=*/2))
                          .build();
  EXPECT_THAT(place_all(snapshot), ElementsAre(0, 1));
  snapshot.vms[1].suggested = {0};
  snapshot.clients[1].bound_to = {2};
  EXPECT_THAT(place_all(snapshot), ElementsAre(2, 0));
  snapshot.vms[1].suggested = {};
  snapshot.clients[1].allowed = {0, 1};  // the administrator's word comes first
  EXPECT_THAT(place_all(snapshot), ElementsAre(0, 1));
}

TEST(InitialTest, AVmStartsWhereItsHugePagesAre) {
  Snapshot snapshot = SnapshotBuilder()
                          .nodes(2, {.cores = 8, .memory_gib = 64})
                          .node({.cores = 8, .memory_gib = 16, .huge_gib = 8})
                          .vm({.name = "busy", .homes = {2}, .vcpus = 4})
                          .vm(homeless("a"))
                          .build();
  snapshot.vms[1].huge_page_size = kMiB * 2;
  snapshot.clients[1].memory_size = kGiB * 8;
  EXPECT_THAT(place_all(snapshot), ElementsAre(2));
  snapshot.clients[1].memory_size = kGiB * 9;
  EXPECT_THAT(place_all(snapshot), ElementsAre(0));
}

TEST(InitialTest, AVmWithDevicesStartsOnTheirNode) {
  Snapshot snapshot =
      SnapshotBuilder().nodes(3, {.cores = 8, .memory_gib = 64}).vm(homeless("a")).build();
  snapshot.vms[0].device_nodes = {2};
  EXPECT_THAT(place_all(snapshot), ElementsAre(2));
}

TEST(InitialTest, NearItsDevicesIsBetterThanFar) {
  Snapshot snapshot =
      SnapshotBuilder().nodes(4, {.cores = 8, .memory_gib = 64}).vm(homeless("a")).build();
  // The device's node has no room; node 3 is nearest to it.
  snapshot.nodes[2].free = Bytes{};
  snapshot.topology.distances = {10, 20, 30, 30, 20, 10, 30, 30, 30, 30, 10, 12, 30, 30, 12, 10};
  snapshot.vms[0].device_nodes = {2};
  EXPECT_THAT(place_all(snapshot), ElementsAre(3));
}

TEST(InitialTest, DevicesDoNotPullAVmWhereItWouldLoseCpuTime) {
  Snapshot snapshot = SnapshotBuilder()
                          .nodes(2, {.cores = 4, .memory_gib = 64})
                          .vm({.name = "busy", .homes = {1}, .vcpus = 8})
                          .vm(homeless("a", 4))
                          .build();
  snapshot.vms[1].device_nodes = {1};
  EXPECT_THAT(place_all(snapshot), ElementsAre(0));
}

TEST(InitialTest, OthersKeepOffTheNodesOfDevicesWhileThereIsRoom) {
  const auto storm = [](int vms) {
    SnapshotBuilder builder;
    builder.nodes(3, {.cores = 8, .memory_gib = 64})
        .vm({.name = "0-nic", .homes = {1}, .vcpus = 1, .busy_pct = 1});
    for (int i = 0; i < vms; ++i) {
      builder.vm(homeless("vm" + std::to_string(i), 1));
    }
    Snapshot snapshot = builder.build();
    snapshot.vms[0].device_nodes = {1};
    return place_all(snapshot);
  };
  EXPECT_THAT(storm(6), testing::Each(testing::Ne(1)));
  // Elsewhere their memory finds no room, or they would lose CPU time.
  EXPECT_THAT(storm(60), testing::Contains(1));
}

TEST(InitialTest, OfEqualNodesAVmStartsAtItsNetworkAdapter) {
  Snapshot snapshot =
      SnapshotBuilder().nodes(3, {.cores = 8, .memory_gib = 64}).vm(homeless("a")).build();
  snapshot.vms[0].wished_nodes = {2};
  EXPECT_THAT(place_all(snapshot), ElementsAre(2));
}

TEST(InitialTest, VmsOfOneNetworkAdapterDoNotPileUpAtIt) {
  SnapshotBuilder builder;
  builder.nodes(4, {.cores = 16, .memory_gib = 256});
  for (int i = 0; i < 30; ++i) {
    builder.vm(homeless("vm" + std::to_string(i)));
  }
  Snapshot snapshot = builder.build();
  for (auto& vm : snapshot.vms) {
    vm.wished_nodes = {1};
  }
  const std::vector<NodeIndex> homes = place_all(snapshot);
  for (NodeIndex node = 0; node < 4; ++node) {
    EXPECT_THAT(std::count(homes.begin(), homes.end(), node), testing::AllOf(Ge(7), Le(8)));
  }
}

TEST(InitialTest, SpreadsABootStormWithinOneVmANode) {
  for (const int nodes : {2, 3, 4, 8}) {
    SnapshotBuilder builder;
    builder.nodes(nodes, {.cores = 16, .memory_gib = 256});
    for (int i = 0; i < 30; ++i) {
      builder.vm(homeless("vm" + std::to_string(i)));
    }
    std::map<NodeIndex, int> count;
    for (const NodeIndex home : place_all(builder.build())) {
      ++count[home];
    }
    ASSERT_THAT(count, SizeIs(nodes));
    for (const auto& [node, vms] : count) {
      EXPECT_THAT(vms, Ge(30 / nodes)) << nodes << " nodes";
      EXPECT_THAT(vms, Le(30 / nodes + (30 % nodes > 0 ? 1 : 0))) << nodes << " nodes";
    }
  }
}

TEST(InitialTest, SpreadsAStormThatOvercommitsTheHost) {
  SnapshotBuilder builder;
  builder.nodes(4, {.cores = 4, .memory_gib = 16});
  for (int i = 0; i < 40; ++i) {
    builder.vm(homeless("vm" + std::to_string(i), 4));
  }
  const std::vector<NodeIndex> homes = place_all(builder.build());
  for (NodeIndex node = 0; node < 4; ++node) {
    EXPECT_EQ(std::count(homes.begin(), homes.end(), node), 10);
  }
}

TEST(InitialTest, SpreadsIdleVmsByVcpusWhileTheirLoadsDifferLittle) {
  const auto home_beside = [](std::int64_t busy_pct) {
    return place_all(SnapshotBuilder()
                         .nodes(2, {.cores = 2})
                         .vm({.name = "boots", .homes = {0}, .busy_pct = busy_pct})
                         .vm({.name = "i1", .homes = {1}, .busy_pct = 1})
                         .vm({.name = "i2", .homes = {1}, .busy_pct = 1})
                         .vm({.name = "new", .homes = {kNoNode}, .busy_pct = 1})
                         .build());
  };
  EXPECT_THAT(home_beside(30), ElementsAre(0));
  EXPECT_THAT(home_beside(60), ElementsAre(1));
}

TEST(InitialTest, LooksAtLoadNotAtTheNumberOfVms) {
  // Three idle VMs on node 0, one busy VM on node 1.
  const Snapshot snapshot = SnapshotBuilder()
                                .nodes(2, {.cores = 8})
                                .vm({.name = "i1", .homes = {0}, .vcpus = 2, .busy_pct = 1})
                                .vm({.name = "i2", .homes = {0}, .vcpus = 2, .busy_pct = 1})
                                .vm({.name = "i3", .homes = {0}, .vcpus = 2, .busy_pct = 1})
                                .vm({.name = "busy", .homes = {1}, .vcpus = 4})
                                .vm(homeless("new"))
                                .build();
  EXPECT_THAT(place_all(snapshot), ElementsAre(0));
}

TEST(InitialTest, AvoidsANodeThatItWouldOverload) {
  // 7 of 8 CPUs wanted on node 0, where all the free memory is; 4 new vCPUs count as 2.
  const Snapshot snapshot =
      SnapshotBuilder()
          .nodes(2, {.cores = 8})
          .vm({.name = "busy", .homes = {0}, .vcpus = 7})
          .vm({.name = "large", .homes = {1}, .vcpus = 2, .memory_gib = {0, 50}})
          .vm(homeless("new", 4))
          .build();
  EXPECT_THAT(place_all(snapshot), ElementsAre(1));
}

TEST(InitialTest, PrefersANodeWithRoomToAnIdleOne) {
  // 4 GiB do not fit node 0, which is idle.
  const Snapshot snapshot =
      SnapshotBuilder()
          .nodes(2, {.cores = 8})
          .vm({.name = "idle", .homes = {0}, .busy_pct = 0, .memory_gib = {60, 0}})
          .vm({.name = "busy", .homes = {1}, .vcpus = 8})
          .vm(homeless("new"))
          .build();
  EXPECT_THAT(place_all(snapshot), ElementsAre(1));
}

TEST(InitialTest, TakesPromisedMemoryForUsed) {
  // The VM on node 0 has touched 1 of its 62 GiB; one day it will touch all.
  const Snapshot snapshot =
      SnapshotBuilder()
          .nodes(2, {.cores = 8})
          .vm({.name = "lazy", .homes = {0}, .busy_pct = 0, .memory_gib = {1}, .size_gib = 62})
          .vm({.name = "busy", .homes = {1}, .vcpus = 4})
          .vm(homeless("new"))
          .build();
  EXPECT_THAT(place_all(snapshot), ElementsAre(1));
}

TEST(InitialTest, AGuaranteedVmsMemoryIsPromisedEvenWhereItCannotBeRead) {
  for (const MemoryClass memory_class : {MemoryClass::kBurstable, MemoryClass::kGuaranteed}) {
    VmPolicy policy;
    policy.memory_class = memory_class;
    Snapshot snapshot =
        SnapshotBuilder()
            .nodes(2, {.cores = 8})
            .vm({.name = "kept", .homes = {0}, .busy_pct = 0, .size_gib = 62, .policy = policy})
            .vm({.name = "busy", .homes = {1}, .vcpus = 4})
            .vm(homeless("new"))
            .build();
    snapshot.clients[0].memory_known = false;
    snapshot.clients[0].memory.assign(2, Bytes{});
    const NodeIndex expected = memory_class == MemoryClass::kGuaranteed ? 1 : 0;
    EXPECT_THAT(place_all(snapshot), ElementsAre(expected)) << name_of(memory_class);
  }
}

TEST(InitialTest, DoesNotPromiseMemoryTwice) {
  // 8 idle VMs of 30 GiB: two a node of 64, although none has touched anything.
  SnapshotBuilder builder;
  builder.nodes(4, {.cores = 64, .memory_gib = 64});
  for (int i = 0; i < 8; ++i) {
    VmSpec vm = homeless("vm" + std::to_string(i));
    vm.busy_pct = 0;
    vm.size_gib = 30;
    builder.vm(vm);
  }
  const std::vector<NodeIndex> homes = place_all(builder.build());
  for (NodeIndex node = 0; node < 4; ++node) {
    EXPECT_EQ(std::count(homes.begin(), homes.end(), node), 2);
  }
}

TEST(InitialTest, PlacesSomewhereWhereNothingFits) {
  VmSpec huge = homeless("huge");
  huge.size_gib = 500;
  EXPECT_THAT(place_all(SnapshotBuilder().nodes(2, {}).vm(huge).build()), SizeIs(1));
}

TEST(InitialTest, GoesWhereItsMemoryIsAlready) {
  // Bringing 8 GiB over costs more than what a slightly busier node loses.
  VmSpec vm = homeless("restarted");
  vm.memory_gib = {0, 8};
  const Snapshot snapshot = SnapshotBuilder()
                                .nodes(2, {.cores = 8})
                                .vm({.name = "other", .homes = {1}, .vcpus = 1})
                                .vm(vm)
                                .build();
  EXPECT_THAT(place_all(snapshot), ElementsAre(1));
}

TEST(InitialTest, NeverChoosesANodeThatCannotBeAHome) {
  SnapshotBuilder builder;
  builder.node({.cores = 0, .memory_gib = 512})
      .node({.cores = 64, .memory_gib = 0})
      .node({.cores = 2, .memory_gib = 4});
  builder.vm(homeless("a")).vm(homeless("b")).vm(homeless("c"));
  EXPECT_THAT(place_all(builder.build()), ElementsAre(2, 2, 2));
}

TEST(InitialTest, StaysInsideTheMask) {
  VmSpec vm = homeless("a");
  vm.allowed = {1};
  const Snapshot snapshot =
      SnapshotBuilder().nodes(2, {}).vm({.name = "busy", .homes = {1}, .vcpus = 4}).vm(vm).build();
  EXPECT_THAT(place_all(snapshot), ElementsAre(1));
}

TEST(InitialTest, ChoosesNoNodeWithoutReadings) {
  const Snapshot snapshot =
      SnapshotBuilder().node({.known = false}).node({.cores = 1}).vm(homeless("a")).build();
  EXPECT_THAT(place_all(snapshot), ElementsAre(1));
}

TEST(InitialTest, MakesNoNodeShortWhileAnotherHasNoReadings) {
  const auto homes_beside = [](std::int64_t busy_pct, bool all_known) {
    return place_all(SnapshotBuilder()
                         .node({.cores = 1, .known = all_known})
                         .node({.cores = 2})
                         .vm({.name = "busy", .homes = {1}, .vcpus = 2, .busy_pct = busy_pct})
                         .vm(homeless("a", 2))
                         .build());
  };
  EXPECT_THAT(homes_beside(40, /*all_known=*/false), ElementsAre(1));
  EXPECT_THAT(homes_beside(100, /*all_known=*/false), IsEmpty());
  EXPECT_THAT(homes_beside(100, /*all_known=*/true), SizeIs(1));
}

TEST(InitialTest, KeepsAHardGroupApartAndLeavesOutClientsThatItCannotPlace) {
  VmPolicy policy;
  policy.anti_affinity_group = "db";
  policy.anti_affinity_hard = true;
  SnapshotBuilder builder;
  builder.nodes(2, {.cores = 16});
  for (const char* name : {"a", "b", "c"}) {
    VmSpec vm = homeless(name);
    vm.policy = policy;
    builder.vm(vm);
  }
  EXPECT_THAT(place_all(builder.build()), ElementsAre(0, 1));
}

TEST(InitialTest, PutsClientsOfAVmOnDifferentNodesIfItsPolicySaysSo) {
  VmSpec vm = homeless("wide", 2, /*clients=*/2);
  vm.busy_pct = 5;
  vm.policy.max_per_node = 2;
  const auto homes = place_all(SnapshotBuilder().nodes(2, {.cores = 16}).vm(vm).build());
  EXPECT_THAT(homes, testing::UnorderedElementsAre(0, 1));
}

TEST(InitialTest, BringsASoftGroupTogetherWhereThereIsTime) {
  VmPolicy policy;
  policy.affinity_group = "web";
  SnapshotBuilder builder;
  builder.nodes(2, {.cores = 16});
  for (const char* name : {"a", "b", "c"}) {
    VmSpec vm = homeless(name, 4);
    vm.policy = policy;
    builder.vm(vm);
  }
  EXPECT_THAT(place_all(builder.build()), ElementsAre(0, 0, 0));
}

TEST(InitialTest, SpreadsTheClientsOfAWideVm) {
  const Snapshot snapshot =
      SnapshotBuilder().nodes(4, {.cores = 8}).vm(homeless("wide", 8, 4)).build();
  std::vector<NodeIndex> homes = place_all(snapshot);
  std::sort(homes.begin(), homes.end());
  EXPECT_THAT(homes, ElementsAre(0, 1, 2, 3));
}

TEST(InitialTest, PutsAWideVmOnNodesThatAreClose) {
  // 0 - 1 and 2 - 3 are pairs; node 0 is busy.
  Snapshot snapshot = SnapshotBuilder()
                          .nodes(4, {.cores = 8})
                          .vm({.name = "busy", .homes = {0}, .vcpus = 4})
                          .vm(homeless("wide", 8, 2))
                          .build();
  snapshot.topology.distances = {10, 12, 32, 32, 12, 10, 32, 32, 32, 32, 10, 12, 32, 32, 12, 10};
  std::vector<NodeIndex> homes = place_all(snapshot);
  std::sort(homes.begin(), homes.end());
  EXPECT_THAT(homes, ElementsAre(2, 3));
}

TEST(InitialTest, SharesANodeWhereThereAreMoreClientsThanNodes) {
  const Snapshot snapshot =
      SnapshotBuilder().nodes(2, {.cores = 8}).vm(homeless("wide", 4, 3)).build();
  EXPECT_THAT(place_all(snapshot), SizeIs(3));
}

TEST(InitialTest, BringsTheClientsOfACalmWideVmTogether) {
  const VmSpec calm{.name = "calm",
                    .homes = {kNoNode, kNoNode},
                    .vcpus = 4,
                    .busy_pct = 30,
                    .shares_memory = true};
  const Snapshot snapshot = SnapshotBuilder().nodes(2, {.cores = 4}).vm(calm).build();
  const std::vector<NodeIndex> homes = place_all(snapshot);
  ASSERT_THAT(homes, SizeIs(2));
  EXPECT_EQ(homes[0], homes[1]);
}

TEST(InitialTest, LeavesAVmWhereItsMemoryIsIfLoadsAreAboutEqual) {
  const VmSpec found{.name = "found", .homes = {kNoNode}, .vcpus = 2, .memory_gib = {0, 0, 8}};
  const Snapshot snapshot = SnapshotBuilder()
                                .nodes(3, {.cores = 16})
                                .vm({.name = "there", .homes = {2}, .vcpus = 2})
                                .vm(found)
                                .build();
  EXPECT_THAT(place_all(snapshot), ElementsAre(2));
}

TEST(InitialTest, PlacesOnlyClientsWithoutAHome) {
  Snapshot snapshot = SnapshotBuilder()
                          .nodes(2, {.cores = 5})
                          .vm({.name = "half", .homes = {0, kNoNode}, .vcpus = 4})
                          .build();
  const Options options;
  Arrangement arrangement(snapshot, options, Arrangement::Basis::kLoad);
  NodeIndex round_robin = kNoNode;
  const std::vector<HomeChoice> choices = choose_homes(arrangement, 0, 2, round_robin);
  ASSERT_THAT(choices, SizeIs(1));
  EXPECT_EQ(choices[0].client, 1);
  EXPECT_EQ(choices[0].home, 1);
  EXPECT_EQ(round_robin, 1);
  EXPECT_EQ(arrangement.home(1), 1);
  EXPECT_THAT(choose_homes(arrangement, 0, 2, round_robin), IsEmpty());
}

TEST(InitialTest, ExplainsEveryNodeItConsidered) {
  const Snapshot snapshot = SnapshotBuilder()
                                .nodes(2, {.cores = 8})
                                .vm({.name = "busy", .homes = {0}, .vcpus = 4})
                                .vm(homeless("new"))
                                .build();
  const Options options;
  Arrangement arrangement(snapshot, options, Arrangement::Basis::kLoad);
  NodeIndex round_robin = kNoNode;
  const std::vector<HomeChoice> choices = choose_homes(arrangement, 1, 1, round_robin);
  ASSERT_THAT(choices, SizeIs(1));
  ASSERT_THAT(choices[0].considered, SizeIs(2));
  EXPECT_EQ(choices[0].considered[0].node, 1);
  // 2 vCPUs at half: 1 of 8 CPUs there, 5 of 8 on the busy node.
  EXPECT_EQ(choices[0].considered[0].load_after, Permille{125});
  EXPECT_EQ(choices[0].considered[1].load_after, Permille{625});
  EXPECT_TRUE(choices[0].considered[0].fits);
}

}  // namespace
}  // namespace vmnuma
