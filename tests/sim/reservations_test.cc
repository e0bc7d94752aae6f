// SPDX-License-Identifier: Apache-2.0
// Reserved room on a host that would need it, across restarts of the daemon.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/scenarios.h"

namespace vmnuma::tools {
namespace {

using testing::Contains;
using testing::Each;

constexpr std::int64_t kBeginUnixS = 1'735'689'600;

/// Two busy VMs on node 0 of two, of which the balancer moves one away.
Scenario pile_after_restart() {
  Scenario scenario;
  scenario.name = "reserved";
  scenario.epochs = 60;
  scenario.host = small_host(2);
  for (int i = 0; i < 2; ++i) {
    scenario.vms.push_back(busy_vm("vm" + std::to_string(i), 4, 100));
    scenario.vms.back().pinned_on = {NodeId{0}};
  }
  scenario.faults.push_back({15, FaultKind::kDaemonRestart, std::nullopt, std::nullopt, 1});
  return scenario;
}

std::vector<NodeId> homes(Simulation& simulation) {
  std::vector<NodeId> all;
  for (const VmResult& vm : simulation.result().vms) {
    all.insert(all.end(), vm.homes.begin(), vm.homes.end());
  }
  return all;
}

TEST(ReservationsSimTest, NoVmMovesThereUntilItIsOverAlsoAfterARestart) {
  Simulation simulation(pile_after_restart());
  run_until(simulation, 1);
  const auto host = simulation.ask(balancer::HostRequest{});
  ASSERT_TRUE(host) << host.error().message;
  balancer::ReserveRequest request;
  request.name = "tonight";
  request.vcpus = 1;
  request.nodes = {NodeId{1}};
  request.memory_bytes = std::get<balancer::HostView>(*host).nodes.at(1).largest_vm_bytes.value();
  request.until_unix_s = kBeginUnixS + 2 * 30;
  const auto reserved = simulation.ask(request);
  ASSERT_TRUE(reserved) << reserved.error().message;
  run_until(simulation, 29);
  EXPECT_THAT(homes(simulation), Each(NodeId{0}));
  run_until(simulation, 60);
  EXPECT_THAT(homes(simulation), Contains(NodeId{1}));
}

TEST(ReservationsSimTest, WithoutItTheyAreSpreadByThen) {
  Simulation simulation(pile_after_restart());
  run_until(simulation, 29);
  EXPECT_THAT(homes(simulation), Contains(NodeId{1}));
}

}  // namespace
}  // namespace vmnuma::tools
