// SPDX-License-Identifier: Apache-2.0
#include "stats/history/epoch_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/history/rows.h"

namespace vmnuma::stats::tests {
namespace {

using std::chrono::seconds;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Nodes 0 and 8; a VM with a client on the second.
Snapshot snapshot() {
  Snapshot snapshot;
  snapshot.epoch_length = CpuTime{2'000'000};
  snapshot.topology.nodes.resize(2);
  snapshot.topology.nodes[0].id = {0};
  snapshot.topology.nodes[1].id = {8};
  snapshot.nodes.resize(2);
  NodeState& node = snapshot.nodes[1];
  node.used = CpuTime{1};
  node.non_vm = CpuTime{2};
  node.capacity = CpuTime{3};
  node.demand = CpuTime{4};
  node.entitled = CpuTime{5};
  node.owed = CpuTime{6};
  node.load_average = Permille{7};
  node.vcpus = 8;
  node.free = Bytes{9};
  node.total = Bytes{10};
  node.threads = CpuTime{16};
  VmState vm;
  vm.id = vm_id(1);
  vm.name = "vm1";
  vm.client_count = 1;
  vm.weight = 300;
  vm.guest_os = "http://debian.org/debian/12";
  snapshot.vms = {vm};
  ClientState client;
  client.id = {vm_id(1), 3};
  client.vcpus = {4, 5};
  client.home = 1;
  client.used = CpuTime{11};
  client.ready = CpuTime{12};
  client.demand = CpuTime{13};
  client.entitled = CpuTime{14};
  client.owed = CpuTime{15};
  client.memory = {Bytes{100}, Bytes{900}};
  client.memory_known = true;
  client.memory_size = kMiB * 640;
  snapshot.clients = {client};
  return snapshot;
}

TEST(EpochRowsTest, TakesNodesAndClientsAsMeasured) {
  const EpochRows epoch = epoch_rows(snapshot(), at(seconds(6)));
  EXPECT_EQ(epoch.time, at(seconds(6)));
  EXPECT_EQ(epoch.epoch_length.value, 2'000'000);
  ASSERT_THAT(epoch.nodes, SizeIs(2));
  EXPECT_EQ(epoch.nodes[1], (NodeSampleRow{.node = {8},
                                           .used = CpuTime{1},
                                           .non_vm = CpuTime{2},
                                           .capacity = CpuTime{3},
                                           .demand = CpuTime{4},
                                           .entitled = CpuTime{5},
                                           .owed = CpuTime{6},
                                           .load_average = Permille{7},
                                           .vcpus = 8,
                                           .free = Bytes{9},
                                           .total = Bytes{10},
                                           .threads = CpuTime{16}}));
  ASSERT_THAT(epoch.clients, SizeIs(1));
  EXPECT_EQ(epoch.clients[0], (ClientSampleRow{.vm = vm_id(1),
                                               .vm_name = "vm1",
                                               .vm_memory_mib = 640,
                                               .vm_shares = 300,
                                               .guest_os = "http://debian.org/debian/12",
                                               .client = 3,
                                               .home = {8},
                                               .vcpus = 2,
                                               .used = CpuTime{11},
                                               .ready = CpuTime{12},
                                               .demand = CpuTime{13},
                                               .entitled = CpuTime{14},
                                               .owed = CpuTime{15},
                                               .memory = MemorySplit{Bytes{900}, Bytes{100}}}));
}

TEST(EpochRowsTest, LeavesOutWhatWasNotMeasured) {
  Snapshot with_gaps = snapshot();
  with_gaps.nodes[0].known = false;
  with_gaps.vms[0].fresh = false;
  const EpochRows epoch = epoch_rows(with_gaps, at(seconds(6)));
  ASSERT_THAT(epoch.nodes, SizeIs(1));
  EXPECT_EQ(epoch.nodes[0].node, NodeId{8});
  EXPECT_THAT(epoch.clients, IsEmpty());
}

TEST(EpochRowsTest, LeavesOutWhatIsHeldOrAssumed) {
  Snapshot assumed = snapshot();
  assumed.nodes[0].cpu_measured = false;
  assumed.nodes[1].memory_read = false;
  assumed.vms[0].cpu_measured = false;
  assumed.vms[0].figures.cpu_some = Permille{5};
  const EpochRows epoch = epoch_rows(assumed, at(seconds(6)));
  EXPECT_THAT(epoch.nodes, IsEmpty());
  EXPECT_THAT(epoch.clients, IsEmpty());
  EXPECT_THAT(epoch.vms, IsEmpty());
}

TEST(EpochRowsTest, TakesHowLongVmsWaitedWhereThatIsKnown) {
  Snapshot waiting = snapshot();
  EXPECT_THAT(epoch_rows(waiting, at(seconds(6))).vms, IsEmpty());
  waiting.vms[0].figures.memory_some = Permille{5};
  const EpochRows epoch = epoch_rows(waiting, at(seconds(6)));
  ASSERT_THAT(epoch.vms, SizeIs(1));
  EXPECT_EQ(epoch.vms[0], (VmSampleRow{vm_id(1), waiting.vms[0].figures}));
}

TEST(EpochRowsTest, SaysWhereMemoryAndHomeAreUnknown) {
  Snapshot unplaced = snapshot();
  unplaced.clients[0].home = kNoNode;
  EXPECT_EQ(epoch_rows(unplaced, at(seconds(6))).clients[0].home, NodeId{});
  EXPECT_EQ(epoch_rows(unplaced, at(seconds(6))).clients[0].memory, std::nullopt);
  unplaced.clients[0].home = 1;
  unplaced.clients[0].memory_known = false;
  EXPECT_EQ(epoch_rows(unplaced, at(seconds(6))).clients[0].memory, std::nullopt);
}

}  // namespace
}  // namespace vmnuma::stats::tests
