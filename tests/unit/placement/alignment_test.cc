// SPDX-License-Identifier: Apache-2.0
#include "placement/alignment.h"

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "placement/arrangement.h"
#include "tests/support/build_snapshot.h"

namespace vmnuma {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using tests::kCpu;
using tests::SnapshotBuilder;

/// A VM of 4 vCPUs with a device on node 1, at `home`.
Snapshot with_device(NodeIndex home, const VmPolicy& policy) {
  Snapshot snapshot = SnapshotBuilder()
                          .nodes(3, {.cores = 8})
                          .vm({.name = "a", .homes = {home}, .vcpus = 4, .policy = policy})
                          .build();
  snapshot.vms.front().device_nodes = {1};
  return snapshot;
}

VmPolicy best_effort() {
  VmPolicy policy;
  policy.topology_policy = TopologyPolicy::kBestEffort;
  return policy;
}

CpuTime lost(const Snapshot& snapshot) {
  const Options options;
  return lost_to_far_devices(snapshot, snapshot.clients.front(), snapshot.clients.front().home,
                             options);
}

TEST(AlignmentTest, AVmLosesTimeAwayFromItsDevicesWhereItsPolicyAsksForThem) {
  // 10 % of 4 vCPUs.
  EXPECT_EQ(lost(with_device(0, best_effort())), kCpu * 4 / 10);
  EXPECT_EQ(lost(with_device(1, best_effort())), CpuTime{});
  EXPECT_EQ(lost(with_device(kNoNode, best_effort())), CpuTime{});
  EXPECT_EQ(lost(with_device(0, VmPolicy{})), CpuTime{});
}

TEST(AlignmentTest, OnAHostWithMoreNodesThanAllowedNothingIsLost) {
  VmPolicy policy = best_effort();
  policy.max_allowable_numa_nodes = 2;
  EXPECT_EQ(lost(with_device(0, policy)), CpuTime{});
  policy.max_allowable_numa_nodes = 3;
  EXPECT_GT(lost(with_device(0, policy)), CpuTime{});
}

TEST(AlignmentTest, TheArrangementCountsIt) {
  const Options options;
  const Snapshot away = with_device(0, best_effort());
  const Arrangement now(away, options, Arrangement::Basis::kDemand);
  const Snapshot near = with_device(1, best_effort());
  EXPECT_GE(now.lost() - Arrangement(near, options, Arrangement::Basis::kDemand).lost(),
            kCpu * 4 / 10);
  EXPECT_GE(now.effect_of(std::array{Rehoming{0, 1}}).gain, kCpu * 4 / 10);
}

VmDescription described(std::int32_t vcpus) {
  VmDescription vm;
  for (std::int32_t vcpu = 0; vcpu < vcpus; ++vcpu) {
    vm.vcpus.push_back(vcpu);
  }
  vm.memory = vm.max_memory = kGiB;
  vm.pci_devices = {{"0000:3b:00.0", NodeId{1}}};
  vm.policy = best_effort();
  return vm;
}

TEST(AlignmentTest, SaysWhatIsNotTogether) {
  const auto away = alignment_of(with_device(0, best_effort()), 0, described(4));
  ASSERT_TRUE(away);
  EXPECT_FALSE(away->is_aligned());
  EXPECT_THAT(away->homes, ElementsAre(0));
  EXPECT_THAT(away->far_device_nodes, ElementsAre(1));
  const auto near = alignment_of(with_device(1, best_effort()), 0, described(4));
  ASSERT_TRUE(near);
  EXPECT_TRUE(near->is_aligned());
  EXPECT_THAT(near->far_device_nodes, IsEmpty());
}

TEST(AlignmentTest, CountsNodesAndMemoryThatAreTooManyOrElsewhere) {
  VmDescription vm = described(4);
  vm.pci_devices.clear();
  const Snapshot apart = SnapshotBuilder()
                             .nodes(3, {.cores = 8})
                             .vm({.name = "a",
                                  .homes = {0, 2},
                                  .vcpus = 2,
                                  .memory_gib = {1, 1, 0},
                                  .policy = best_effort()})
                             .build();
  const auto alignment = alignment_of(apart, 0, vm);
  ASSERT_TRUE(alignment);
  EXPECT_EQ(alignment->fewest_nodes, 1);
  EXPECT_THAT(alignment->homes, ElementsAre(0, 2));
  EXPECT_EQ(alignment->elsewhere, kGiB * 2);
  EXPECT_EQ(alignment->resident, kGiB * 4);
  EXPECT_TRUE(alignment->has_memory_elsewhere());
}

TEST(AlignmentTest, WithoutAPolicyThereIsNothingToSay) {
  EXPECT_EQ(alignment_of(with_device(0, VmPolicy{}), 0, described(4)), std::nullopt);
  EXPECT_EQ(alignment_of(with_device(kNoNode, best_effort()), 0, described(4)), std::nullopt);
}

}  // namespace
}  // namespace vmnuma
