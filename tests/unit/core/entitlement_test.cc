// SPDX-License-Identifier: Apache-2.0
#include "balancer/core/entitlement.h"

#include <gtest/gtest.h>

#include "tests/support/build_snapshot.h"

namespace vmnuma::balancer {
namespace {

using tests::kCpu;
using tests::SnapshotBuilder;

TEST(EntitlementTest, WhatOthersTakeFromANodeIsOwedToItsClients) {
  const Snapshot snapshot = SnapshotBuilder()
                                .node({.cores = 4, .others_pct = 200})
                                .node({.cores = 4})
                                .vm({.name = "a", .homes = {0}, .vcpus = 4})
                                .build();
  EXPECT_EQ(snapshot.clients[0].used, kCpu * 2);
  EXPECT_EQ(snapshot.clients[0].owed, kCpu * 2);
}

TEST(EntitlementTest, AVmThatCannotSpillIsEntitledToNoMoreThanANodeCanGive) {
  const auto owed_with = [](VmPolicy policy) {
    return SnapshotBuilder()
        .nodes(2, {.cores = 4})
        .vm({.name = "a", .homes = {0}, .vcpus = 6, .policy = std::move(policy)})
        .build()
        .clients[0]
        .owed;
  };
  EXPECT_EQ(owed_with({}), kCpu * 2);
  EXPECT_EQ(owed_with({.do_not_move = true}), CpuTime{});
  EXPECT_EQ(owed_with({.cpu_class = CpuClass::kLatency}), CpuTime{});
}

TEST(EntitlementTest, WaitingWhileCpusIdleIsNotOwed) {
  Snapshot snapshot =
      SnapshotBuilder().node({.cores = 4}).vm({.name = "a", .homes = {0}, .vcpus = 4}).build();
  snapshot.clients[0].used = kCpu * 3;  // it waited for a CPU's time, and one was idle as long
  share_out(snapshot, {});
  EXPECT_EQ(snapshot.clients[0].owed, CpuTime{});
  EXPECT_EQ(snapshot.nodes[0].owed, CpuTime{});
}

TEST(EntitlementTest, WaitingForCpusThatOthersUseIsOwedWhetherOrNotThatLasts) {
  Snapshot snapshot =
      SnapshotBuilder().nodes(2, {.cores = 4}).vm({.name = "a", .homes = {0}, .vcpus = 4}).build();
  snapshot.clients[0].used = kCpu * 3;
  snapshot.nodes[0].non_vm_now = kCpu;  // and nothing of it has lasted
  share_out(snapshot, {});
  EXPECT_EQ(snapshot.clients[0].owed, kCpu);
}

TEST(EntitlementTest, IdleTimeExcusesWaitingOnceAndForAllClientsAlike) {
  Snapshot snapshot = SnapshotBuilder()
                          .node({.cores = 4, .others_pct = 200})
                          .node({.cores = 4})
                          .vm({.name = "a", .homes = {0}, .vcpus = 2})
                          .vm({.name = "b", .homes = {0}, .vcpus = 2})
                          .build();
  // Four are wanted, two are left, and half of one of these was idle.
  snapshot.clients[0].used = kCpu * 3 / 4;
  snapshot.clients[1].used = kCpu * 3 / 4;
  share_out(snapshot, {});
  EXPECT_EQ(snapshot.clients[0].owed, kCpu);
  EXPECT_EQ(snapshot.clients[1].owed, kCpu);
}

TEST(EntitlementTest, SharingCoresIsOwedThoughThreadsAreIdle) {
  // Six busy vCPUs on four cores of two threads: two threads are idle, and help none of them.
  const Snapshot snapshot = SnapshotBuilder()
                                .nodes(2, {.cores = 4, .threads_per_core = 2})
                                .vm({.name = "a", .homes = {0}, .vcpus = 3})
                                .vm({.name = "b", .homes = {0}, .vcpus = 3})
                                .build();
  EXPECT_EQ(snapshot.clients[0].used, kCpu * 3);
  EXPECT_GT(snapshot.clients[0].owed, CpuTime{});
  EXPECT_GT(snapshot.clients[1].owed, CpuTime{});
}

VmPolicy on_nodes(std::vector<NodeId> nodes) {
  VmPolicy policy;
  policy.nodes = std::move(nodes);
  return policy;
}

TEST(EntitlementTest, VmsThatAreConfinedToNodesShareWhatTheseHave) {
  const VmPolicy policy = on_nodes({{0}, {1}});
  const Snapshot snapshot =
      SnapshotBuilder()
          .nodes(4, {.cores = 2})
          .vm({.name = "a", .homes = {0}, .vcpus = 2, .allowed = {0, 1}, .policy = policy})
          .vm({.name = "b", .homes = {0}, .vcpus = 2, .allowed = {0, 1}, .policy = policy})
          .vm({.name = "c", .homes = {1}, .vcpus = 2, .allowed = {0, 1}, .policy = policy})
          .vm({.name = "free", .homes = {2}, .vcpus = 2})
          .build();
  for (std::size_t client = 0; client < 3; ++client) {
    EXPECT_NEAR(static_cast<double>(snapshot.clients[client].entitled.value), 2'666'667, 1);
  }
  EXPECT_EQ(snapshot.clients[3].entitled, kCpu * 2);
}

TEST(EntitlementTest, WhatConfinedVmsLeaveGoesToOthers) {
  const Snapshot snapshot = SnapshotBuilder()
                                .nodes(2, {.cores = 2})
                                .vm({.name = "confined",
                                     .homes = {0},
                                     .vcpus = 1,
                                     .allowed = {0},
                                     .policy = on_nodes({{0}})})
                                .vm({.name = "free", .homes = {1}, .vcpus = 4})
                                .build();
  EXPECT_EQ(snapshot.clients[0].entitled, kCpu);
  EXPECT_EQ(snapshot.clients[1].entitled, kCpu * 3);
}

}  // namespace
}  // namespace vmnuma::balancer
