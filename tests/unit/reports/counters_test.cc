// SPDX-License-Identifier: Apache-2.0
#include "stats/reports/counters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "placement/model/text.h"

namespace vmnuma::stats::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

VmId vm_id(std::uint8_t number) {
  VmId id;
  id.uuid.back() = number;
  return id;
}

// Nodes 0 and 2 with 16 CPUs each, epochs of 2 s; VM 1 with a client on each node.
class CountersTest : public ::testing::Test {
 protected:
  CountersTest() {
    snapshot_.epoch_length = CpuTime{2'000'000};
    snapshot_.topology.nodes.resize(2);
    snapshot_.topology.nodes[0].id = {0};
    snapshot_.topology.nodes[1].id = {2};
    snapshot_.nodes.resize(2);
    for (NodeState& node : snapshot_.nodes) {
      node.threads = CpuTime{32'000'000};
      node.capacity = CpuTime{20'000'000};
      node.total = kGiB * 128;
    }
    snapshot_.vms.push_back({.id = vm_id(1), .name = "web 1", .client_count = 2});
    for (std::int32_t index = 0; index < 2; ++index) {
      ClientState client;
      client.id = {vm_id(1), index};
      client.vcpus = {2 * index, 2 * index + 1};
      client.home = static_cast<std::size_t>(index);
      client.allowed = {0, 1};
      client.memory = {Bytes{}, Bytes{}};
      client.memory_known = true;
      snapshot_.clients.push_back(client);
    }
  }
  ReportInput input() const { return {snapshot_, groups_, counters_}; }
  ClientState& client(std::size_t index) { return snapshot_.clients[index]; }

  Snapshot snapshot_;
  std::map<VmId, Group> groups_{{vm_id(1), {.pid = 4711, .id = 13}}};
  std::map<ClientId, ClientCounters> counters_;
};

TEST_F(CountersTest, ANodesTimesAreInMillisecondsAndItsMemoryInKb) {
  NodeState& node = snapshot_.nodes[1];
  node.used = CpuTime{90'400};
  node.non_vm = CpuTime{5'000};  // 95.4 ms together
  node.entitled = CpuTime{299'500};
  node.owed = CpuTime{1'499};
  node.load_average = Permille{129};
  node.vcpus = 2;
  node.free = kKiB * 118910736 + Bytes{1023};
  EXPECT_EQ(pnode_rows(snapshot_)[1], (PnodeRow{.node = 2,
                                                .used_ms = 95,
                                                .idle_ms = 31905,
                                                .entitled_ms = 300,
                                                .owed_ms = 1,
                                                .load_average_pct = 12,
                                                .vcpus = 2,
                                                .free_kb = 118910736,
                                                .total_kb = 134217728,
                                                .non_vm_ms = 5}));
}

TEST_F(CountersTest, WhatWasNotMeasuredOnANodeIsAbsent) {
  snapshot_.topology.nodes[1].memory = kGiB * 64;
  snapshot_.nodes[1].vcpus = 3;
  snapshot_.nodes[1].cpu_measured = false;
  EXPECT_EQ(pnode_rows(snapshot_)[1],
            (PnodeRow{.node = 2, .vcpus = 3, .free_kb = 0, .total_kb = 134217728}));
  snapshot_.nodes[1].memory_read = false;
  EXPECT_EQ(pnode_rows(snapshot_)[1], (PnodeRow{.node = 2, .vcpus = 3, .total_kb = 67108864}));
  snapshot_.nodes.clear();  // before the first epoch
  EXPECT_EQ(pnode_rows(snapshot_)[1], (PnodeRow{.node = 2, .total_kb = 67108864}));
}

TEST_F(CountersTest, UsedAndIdleAreTheNodesCpusForTheEpoch) {
  for (const std::int64_t used : {0L, 1L, 499L, 500L, 1'000'499L, 31'999'999L, 32'000'000L}) {
    snapshot_.nodes[0].used = CpuTime{used};
    const PnodeRow row = pnode_rows(snapshot_)[0];
    EXPECT_EQ(row.used_ms.value() + row.idle_ms.value(), 16 * 2000) << used;
    EXPECT_GE(row.idle_ms, 0) << used;
  }
}

TEST_F(CountersTest, UsedIsNeverMoreThanThereIs) {
  snapshot_.nodes[0].used = CpuTime{31'000'000};
  snapshot_.nodes[0].non_vm = CpuTime{2'000'000};
  EXPECT_EQ(pnode_rows(snapshot_)[0].used_ms, 32000);
  EXPECT_EQ(pnode_rows(snapshot_)[0].idle_ms, 0);
}

TEST_F(CountersTest, ANodeWithoutCpusUsesNoneAndHasNoLoad) {
  snapshot_.nodes[0].threads = CpuTime{};
  snapshot_.nodes[0].capacity = CpuTime{};
  EXPECT_EQ(pnode_rows(snapshot_)[0].load_average_pct, std::nullopt);
  snapshot_.nodes[0].non_vm = CpuTime{500};
  EXPECT_EQ(pnode_rows(snapshot_)[0].used_ms, 0);
  EXPECT_EQ(pnode_rows(snapshot_)[0].idle_ms, 0);
}

TEST_F(CountersTest, AClientIsNamedByItsProcessAndItsDomain) {
  const auto rows = client_rows(input());
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[1].key, (ClientKey{"vm.4711", 13, 1, "web 1", to_text(vm_id(1))}));
  EXPECT_EQ(rows[1].home, 2);
  EXPECT_EQ(rows[1].affinity, "0x5");
  EXPECT_EQ(rows[1].worlds, 2);
  EXPECT_EQ(rows[1].vmm_worlds, 2);
}

// QEMU's main thread, an I/O thread and vhost's: 4 vCPUs and 5 others.
TEST_F(CountersTest, WorldsAreAllThreadsAndThoseOfNoClientAreTheFirstOnes) {
  groups_[vm_id(1)].threads = 9;
  EXPECT_EQ(client_rows(input())[0].worlds, 7);
  EXPECT_EQ(client_rows(input())[0].vmm_worlds, 2);
  EXPECT_EQ(client_rows(input())[1].worlds, 2);
  groups_[vm_id(1)].threads = 3;  // a vCPU was unplugged since
  EXPECT_EQ(client_rows(input())[0].worlds, 2);
  groups_[vm_id(1)].threads.reset();
  EXPECT_EQ(client_rows(input())[0].worlds, std::nullopt);
  EXPECT_EQ(client_rows(input())[1].worlds, 2);
}

// The figures of a public sample row: 97.57 % and 92 %.
TEST_F(CountersTest, LocalityIsRoundedDown) {
  client(1).memory = {kKiB * 407552, kKiB * 16369664};
  counters_[client(1).id].local_memory_sum = 929;
  counters_[client(1).id].all_memory_sum = 1000;
  const ClientRow row = client_rows(input())[1];
  EXPECT_EQ(row.local_kb, 16369664);
  EXPECT_EQ(row.remote_kb, 407552);
  EXPECT_EQ(row.current_local_pct, 97);
  EXPECT_EQ(row.cumulative_local_pct, 92);
}

TEST_F(CountersTest, NoMemoryIsZeroPerCentLocal) {
  EXPECT_EQ(client_rows(input())[0].current_local_pct, 0);
  EXPECT_EQ(client_rows(input())[0].cumulative_local_pct, std::nullopt);
}

TEST_F(CountersTest, UnknownMemoryIsNotShown) {
  client(0).memory = {kGiB, kGiB};
  client(0).memory_known = false;
  const ClientRow row = client_rows(input())[0];
  EXPECT_EQ(row.local_kb, std::nullopt);
  EXPECT_EQ(row.remote_kb, std::nullopt);
  EXPECT_EQ(row.current_local_pct, std::nullopt);
  for (const CnodeRow& on_node : cnode_rows(input(), NodeStays())) {
    EXPECT_EQ(on_node.memory_kb.has_value(), on_node.key.client == 1);
    EXPECT_EQ(on_node.time_pct, std::nullopt);  // it has not lived yet
    EXPECT_EQ(on_node.average_epochs, std::nullopt);
  }
}

TEST_F(CountersTest, TheMemoryOfAClientWithoutAHomeIsNeitherLocalNorRemote) {
  client(1).memory = {kKiB, kKiB * 3};
  client(0).home = kNoNode;
  client(0).memory = {kKiB, kKiB};
  const ClientRow row = client_rows(input())[0];
  EXPECT_EQ(row.home, std::nullopt);
  EXPECT_EQ(row.local_kb, std::nullopt);
  EXPECT_EQ(row.remote_kb, std::nullopt);
  EXPECT_EQ(row.current_local_pct, std::nullopt);
  const auto global = global_rows(input());
  EXPECT_EQ(global[2], (GlobalRow{"localMemory", 3}));
  EXPECT_EQ(global[3], (GlobalRow{"remoteMemory", 1}));
}

TEST_F(CountersTest, AVmWithoutAGroupIsLeftOut) {
  groups_.clear();
  EXPECT_THAT(client_rows(input()), IsEmpty());
  EXPECT_THAT(migration_rows(input()), IsEmpty());
  EXPECT_THAT(cnode_rows(input(), NodeStays()), IsEmpty());
}

TEST_F(CountersTest, MigrationsAreTheClientsCounters) {
  const Migrations moves{.balance = 1,
                         .locality = 3,
                         .long_term = 4,
                         .load_swap = 6,
                         .locality_swap = 7,
                         .page_rate = 8};
  counters_[client(1).id] = {.moves = moves, .local_memory_sum = 9, .all_memory_sum = 10};
  const auto rows = migration_rows(input());
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[0], (MigrationRow{.key = rows[0].key, .moves = {}}));
  EXPECT_EQ(rows[1], (MigrationRow{rows[1].key, moves}));
}

TEST_F(CountersTest, CnodeSharesOutTimeAndMemory) {
  NodeStays stays;
  for (int i = 0; i < 9; ++i) {  // 6 epochs on node 0 in two stays, 3 on node 2
    client(0).home = i < 3 || i > 5 ? 0 : 1;
    stays.advance(snapshot_);
  }
  client(0).memory = {kKiB * 30, kKiB * 10};
  client(0).moving = true;
  const auto rows = cnode_rows(input(), stays);
  ASSERT_THAT(rows, SizeIs(4));
  EXPECT_EQ(rows[0], (CnodeRow{rows[0].key, 0, 6, 66, 30, 75, 3, 1}));
  EXPECT_EQ(rows[1], (CnodeRow{rows[0].key, 2, 3, 33, 10, 25, 3, 0}));
  EXPECT_EQ(rows[2].key.client, 1);
}

TEST_F(CountersTest, CnodeLeavesOutNodesThatAreNothingToTheClient) {
  snapshot_.clients.pop_back();
  client(0).allowed = {0};
  EXPECT_THAT(cnode_rows(input(), NodeStays()), SizeIs(1));
  client(0).memory[1] = kKiB;  // forbidden, but there
  EXPECT_THAT(cnode_rows(input(), NodeStays()), SizeIs(2));
}

TEST_F(CountersTest, GlobalAddsUpTheClients) {
  client(0).memory = {kKiB * 10, kKiB * 20};
  client(1).memory = {kKiB * 3, kKiB * 4};
  counters_[client(0).id].moves.load_swap = 5;
  counters_[client(1).id].moves.load_swap = 6;
  EXPECT_THAT(global_rows(input()),
              ElementsAre(GlobalRow{"nodes", 2}, GlobalRow{"clients", 2},
                          GlobalRow{"localMemory", 14}, GlobalRow{"remoteMemory", 23},
                          GlobalRow{"balanceMig", 0}, GlobalRow{"loadMig", std::nullopt},
                          GlobalRow{"localityMig", 0}, GlobalRow{"longTermMig", 0},
                          GlobalRow{"monitorMig", std::nullopt}, GlobalRow{"loadSwap", 11},
                          GlobalRow{"localitySwap", 0}, GlobalRow{"pageMigRate", 0}));
}

TEST_F(CountersTest, AnEmptyHostHasEmptyTables) {
  const Snapshot nothing;
  const ReportInput input{nothing, {}, {}};
  EXPECT_THAT(pnode_rows(nothing), IsEmpty());
  EXPECT_THAT(client_rows(input), IsEmpty());
  EXPECT_THAT(migration_rows(input), IsEmpty());
}

TEST(AffinityMaskTest, HasABitForEveryNodeNumber) {
  EXPECT_EQ(affinity_mask({}), "0x0");
  EXPECT_EQ(affinity_mask({{0}}), "0x1");
  EXPECT_EQ(affinity_mask({{0}, {1}}), "0x3");
  EXPECT_EQ(affinity_mask({{8}, {3}}), "0x108");
  EXPECT_EQ(affinity_mask({{63}}), "0x8000000000000000");
  EXPECT_EQ(affinity_mask({{0}, {64}}), "0x10000000000000001");
  EXPECT_EQ(affinity_mask({{1023}}), "0x8" + std::string(255, '0'));
  EXPECT_EQ(affinity_mask({{-1}}), "0x0");
}

}  // namespace
}  // namespace vmnuma::stats::tests
