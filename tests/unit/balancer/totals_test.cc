// SPDX-License-Identifier: Apache-2.0
#include "balancer/controller/totals.h"

#include <gtest/gtest.h>

#include "tests/unit/balancer/host_story.h"

namespace vmnuma::tests {
namespace {

using balancer::CpuTotal;
using balancer::Totals;
using migration::ActionState;

/// Two nodes, VM 1 on the first and VM 2 without a home.
Snapshot two_vms() {
  Snapshot snapshot;
  snapshot.topology = small_host(2);
  snapshot.nodes.resize(2);
  snapshot.nodes[0].capacity = CpuTime{4000};
  snapshot.nodes[0].non_vm = CpuTime{50};
  snapshot.nodes[1].capacity = CpuTime{3000};
  for (std::uint8_t number = 1; number <= 2; ++number) {
    VmState vm;
    vm.id = vm_id(number);
    vm.first_client = number - 1U;
    vm.client_count = 1;
    snapshot.vms.push_back(vm);
    ClientState client;
    client.id = {vm.id, 0};
    client.vm = number - 1U;
    client.used = CpuTime{100 * number};
    client.ready = CpuTime{10 * number};
    client.entitled = CpuTime{90 * number};
    client.owed = CpuTime{number};
    snapshot.clients.push_back(client);
  }
  snapshot.clients[0].home = 0;
  return snapshot;
}

TEST(TotalsTest, AddUpWhatEveryEpochShows) {
  Totals totals;
  totals.advance(two_vms());
  totals.advance(two_vms());
  const CpuTotal twice{CpuTime{200}, CpuTime{20}, CpuTime{180}, CpuTime{2}};
  EXPECT_EQ(totals.of(ClientId{vm_id(1), 0}), twice);
  EXPECT_EQ(totals.of(NodeId{0}).clients, twice);
  EXPECT_EQ(totals.of(NodeId{0}).capacity, CpuTime{8000});
  EXPECT_EQ(totals.of(NodeId{0}).non_vm, CpuTime{100});
  EXPECT_EQ(totals.of(ClientId{vm_id(2), 0}).used, CpuTime{400});
  EXPECT_EQ(totals.of(NodeId{1}).clients, CpuTotal{});  // VM 2 has no home
}

TEST(TotalsTest, TakeNothingFromStaleVmsAndUnknownNodes) {
  Totals totals;
  Snapshot snapshot = two_vms();
  snapshot.vms[0].fresh = false;
  snapshot.vms[1].measured = false;
  snapshot.nodes[1].known = false;
  totals.advance(snapshot);
  EXPECT_EQ(totals.of(ClientId{vm_id(1), 0}), CpuTotal{});
  EXPECT_EQ(totals.of(ClientId{vm_id(2), 0}), CpuTotal{});
  EXPECT_EQ(totals.of(NodeId{1}).capacity, CpuTime{});
}

TEST(TotalsTest, ForgetAClientThatIsGoneButNotItsNode) {
  Totals totals;
  totals.advance(two_vms());
  Snapshot empty = two_vms();
  empty.vms.clear();
  empty.clients.clear();
  totals.advance(empty);
  EXPECT_EQ(totals.of(ClientId{vm_id(1), 0}), CpuTotal{});
  EXPECT_EQ(totals.of(NodeId{0}).clients.used, CpuTime{100});
}

TEST(TotalsTest, CountActionsByReasonAndState) {
  Totals totals;
  totals.count_action(Reason::kLoadSwap, ActionState::kDone, Bytes{4096});
  totals.count_action(Reason::kLoadSwap, ActionState::kDone, Bytes{8192});
  totals.count_action(Reason::kLoadSwap, ActionState::kUndone, Bytes{});
  totals.add_lost(CpuTime{7});
  EXPECT_EQ(totals.actions(Reason::kLoadSwap, ActionState::kDone), 2);
  EXPECT_EQ(totals.actions(Reason::kLoadSwap, ActionState::kUndone), 1);
  EXPECT_EQ(totals.actions(Reason::kLoadMove, ActionState::kDone), 0);
  EXPECT_EQ(totals.moved(), Bytes{12288});
  EXPECT_EQ(totals.lost(), CpuTime{7});
}

}  // namespace
}  // namespace vmnuma::tests
