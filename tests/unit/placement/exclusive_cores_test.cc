// SPDX-License-Identifier: Apache-2.0
#include "placement/exclusive_cores.h"

#include <gtest/gtest.h>

#include "placement/initial.h"
#include "tests/support/build_snapshot.h"

namespace vmnuma {
namespace {

using tests::SnapshotBuilder;
using tests::VmSpec;

VmSpec exclusive(const std::string& name, NodeIndex home, std::int32_t vcpus) {
  VmSpec vm{.name = name, .homes = {home}, .vcpus = vcpus, .busy_pct = 10, .size_gib = 1};
  vm.policy.cpu_binding = CpuBinding::kExclusive;
  return vm;
}

TEST(ExclusiveCoresTest, FullCoresHoldAVcpuOnEachThread) {
  const Node node = tests::equal_nodes(1, 4, 2, 8).nodes[0];
  EXPECT_EQ(cores_for(CpuPolicy::kFullPCPUs, 4, node), 2);
  EXPECT_EQ(cores_for(CpuPolicy::kFullPCPUs, 5, node), 3);
  EXPECT_EQ(cores_for(CpuPolicy::kNone, 5, node), 3);
  EXPECT_EQ(cores_for(CpuPolicy::kSpreadByPCPUs, 5, node), 5);
  EXPECT_EQ(vcpus_per_core(CpuPolicy::kFullPCPUs, node), 2);
  EXPECT_EQ(vcpus_per_core(CpuPolicy::kSpreadByPCPUs, node), 1);
  EXPECT_EQ(vcpus_per_core(CpuPolicy::kFullPCPUs, Node{}), 1);
}

TEST(ExclusiveCoresTest, ACoreWithAnOfflineThreadHoldsFewer) {
  Node node = tests::equal_nodes(1, 4, 2, 8).nodes[0];
  node.cpus.pop_back();
  EXPECT_EQ(cores_for(CpuPolicy::kFullPCPUs, 4, node), 4);
}

TEST(ExclusiveCoresTest, OneCoreIsLeftForOthers) {
  const Snapshot snapshot = SnapshotBuilder()
                                .nodes(2, {.cores = 4, .memory_gib = 64})
                                .vm(exclusive("a", kNoNode, 3))
                                .vm(exclusive("b", kNoNode, 4))
                                .build();
  const Options options;
  const Arrangement arrangement(snapshot, options, Arrangement::Basis::kLoad);
  EXPECT_EQ(free_cores(arrangement, 0, kNoClient), 3);
  EXPECT_FALSE(lacks_cores(arrangement, 0, 0));
  EXPECT_TRUE(lacks_cores(arrangement, 1, 0));
}

TEST(ExclusiveCoresTest, WhatOthersHoldIsNotFree) {
  Snapshot snapshot = SnapshotBuilder()
                          .nodes(2, {.cores = 8, .memory_gib = 64})
                          .vm(exclusive("a", 0, 4))
                          .vm(exclusive("b", 0, 2))
                          .vm(exclusive("c", kNoNode, 4))
                          .build();
  snapshot.clients[0].exclusive_cores = 4;
  snapshot.clients[1].exclusive_cores = 0;  // asked and refused
  const Options options;
  Arrangement arrangement(snapshot, options, Arrangement::Basis::kLoad);
  EXPECT_EQ(free_cores(arrangement, 0, kNoClient), 3);
  EXPECT_EQ(free_cores(arrangement, 0, 0), 7);
  EXPECT_TRUE(lacks_cores(arrangement, 2, 0));
  // A client that comes to a node asks for them there.
  const Rehoming moved{0, 1};
  arrangement.apply({&moved, 1});
  EXPECT_EQ(free_cores(arrangement, 1, kNoClient), 3);
  EXPECT_FALSE(lacks_cores(arrangement, 2, 0));
}

TEST(ExclusiveCoresTest, ClientsThatComeAlongAndThatMakePlaceCount) {
  Snapshot snapshot = SnapshotBuilder()
                          .nodes(2, {.cores = 8, .memory_gib = 64})
                          .vm(exclusive("a", 0, 4))
                          .vm(exclusive("b", 0, 3))
                          .vm(exclusive("c", 1, 5))
                          .build();
  snapshot.clients[0].exclusive_cores = 4;
  snapshot.clients[1].exclusive_cores = 3;
  snapshot.clients[2].exclusive_cores = 5;
  const Options options;
  const Arrangement arrangement(snapshot, options, Arrangement::Basis::kLoad);
  const std::vector<Rehoming> swap{{0, 1}, {2, 0}};
  EXPECT_TRUE(lacks_cores(arrangement, 0, 1));
  EXPECT_FALSE(lacks_cores(arrangement, 0, 1, swap));
  EXPECT_TRUE(lacks_cores(arrangement, 2, 0, swap));  // b stays
  const std::vector<Rehoming> all{{0, 1}, {1, 1}, {2, 0}};
  EXPECT_FALSE(lacks_cores(arrangement, 0, 1, all));
  EXPECT_FALSE(lacks_cores(arrangement, 1, 1, all));
  EXPECT_FALSE(lacks_cores(arrangement, 2, 0, all));
  const std::vector<Rehoming> together{{0, 1}, {1, 1}};
  EXPECT_TRUE(lacks_cores(arrangement, 1, 1, together));
}

TEST(ExclusiveCoresTest, AVmStartsWhereItsCoresAre) {
  Snapshot snapshot = SnapshotBuilder()
                          .nodes(2, {.cores = 8, .memory_gib = 64})
                          .vm(exclusive("a", 0, 6))
                          .vm({.name = "busy", .homes = {1}, .vcpus = 8})
                          .vm(exclusive("c", kNoNode, 4))
                          .build();
  snapshot.clients[0].exclusive_cores = 6;
  const Options options;
  Arrangement arrangement(snapshot, options, Arrangement::Basis::kLoad);
  NodeIndex round_robin = kNoNode;
  const auto choices = choose_homes(arrangement, tests::client_of(snapshot, "c"), 1, round_robin);
  ASSERT_EQ(choices.size(), 1U);
  EXPECT_EQ(choices[0].home, 1U);
}

}  // namespace
}  // namespace vmnuma
