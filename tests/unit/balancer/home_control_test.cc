// SPDX-License-Identifier: Apache-2.0
/// Homes and pins over the life of a daemon: hosts with one possible home, nodes that go and come
/// back, restarts, and pins of others.
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/balancer/host_story.h"

namespace vmnuma::tests {
namespace {

using balancer::CommandReceived;
using balancer::ControllerSetup;
using balancer::Effects;
using balancer::Mode;
using migration::Order;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

/// What was ordered, remembered and told.
struct Heard {
  std::vector<Order> orders;
  std::vector<balancer::HomeDecided> homes;
  std::vector<std::string> log;
};

Heard live_through(HostStory& host, int epochs) {
  Heard heard;
  const auto listen = [&](const Effects& effects) {
    heard.orders.insert(heard.orders.end(), effects.orders.begin(), effects.orders.end());
    heard.homes.insert(heard.homes.end(), effects.homes.begin(), effects.homes.end());
    for (const balancer::LogLine& line : effects.log) {
      heard.log.push_back(line.message);
    }
  };
  for (int epoch = 0; epoch < epochs; ++epoch) {
    listen(host.report_domains());
    const Effects effects = host.epoch();
    listen(effects);
    host.carry_out(effects);
  }
  return heard;
}

void expect_rest(HostStory& host, int epochs) {
  const Heard heard = live_through(host, epochs);
  EXPECT_THAT(heard.orders, IsEmpty());
  EXPECT_THAT(heard.homes, IsEmpty());
  EXPECT_THAT(heard.log, IsEmpty());
}

Effects change_topology(HostStory& host, const Topology& topology) {
  return host.recorder().pass(host.controller(), balancer::TopologyChanged{topology});
}

/// The host of `nodes` nodes of which these CPUs are missing.
Topology without(std::int32_t nodes, const std::vector<CpuId>& cpus) {
  Topology topology = small_host(nodes);
  for (Node& node : topology.nodes) {
    std::erase_if(node.cpus, [&](const Cpu& cpu) {
      return std::find(cpus.begin(), cpus.end(), cpu.id) != cpus.end();
    });
  }
  return topology;
}

std::vector<CpuId> all_cpus(std::int32_t nodes) {
  std::vector<CpuId> cpus;
  for (std::int32_t cpu = 0; cpu < 2 * nodes; ++cpu) {
    cpus.push_back(CpuId{cpu});
  }
  return cpus;
}

// ---- one possible home ----

struct OneHome {
  const char* name;
  std::int32_t nodes;
  std::function<void(Topology&)> change;
};

class OneHomeTest : public testing::TestWithParam<OneHome> {
 protected:
  HostStory host_{GetParam().nodes, Mode::kActive,
                  [](ControllerSetup& setup) { GetParam().change(setup.topology); }};
};

TEST_P(OneHomeTest, NothingIsPlacedPinnedOrWritten) {
  host_.start(small_vm(1, "free", 2), 0, 80);
  host_.start(small_vm(2, "whole-host", 2), 0, 80);
  host_.pin(2, all_cpus(GetParam().nodes));
  host_.start(small_vm(3, "whole-node", 2), 0, 10);
  host_.pin(3, node_cpus(0));
  expect_rest(host_, 20);
  for (std::uint8_t number = 1; number <= 3; ++number) {
    EXPECT_EQ(host_.home(number), 0);
  }
  EXPECT_THAT(host_.pins(1), IsEmpty());
}

TEST_P(OneHomeTest, StatusSaysSoAndTheFiguresAreShown) {
  host_.start(small_vm(1, "web1", 2), 0, 50);
  (void)live_through(host_, 3);
  const auto ask = [&](const balancer::Command& command) {
    return *host_.controller().on(CommandReceived{7, command}).replies.at(0).answer;
  };
  EXPECT_EQ(std::get<balancer::StatusView>(ask(balancer::StatusRequest{})).nothing_to_balance,
            "nothing to balance: only node 0 has both memory and CPUs that VMs may use");
  const auto view = std::get<balancer::HostView>(ask(balancer::HostRequest{}));
  const balancer::VmClientView& client = view.vms.at(0).clients.at(0);
  EXPECT_EQ(client.home, NodeId{0});
  EXPECT_EQ(client.used_ms, 2000);
  EXPECT_EQ(view.nodes.at(0).used_ms, 2000);
}

TEST_P(OneHomeTest, AVmThatIsPinnedToAPartIsReportedOnceAndLeftAlone) {
  host_.start(small_vm(1, "web1", 2), 0, 80);
  host_.pin(1, {CpuId{1}});
  EXPECT_THAT(live_through(host_, 3).log, SizeIs(1));
  expect_rest(host_, 10);
}

TEST_P(OneHomeTest, AVmThatAsksForCoresOfItsOwnGetsThemAndThenThereIsRest) {
  VmDescription vm = small_vm(1, "web1", 1);
  vm.own_policy = {{"cpu_binding", "exclusive"}};
  host_.start(vm, 0, 80);
  host_.start(small_vm(2, "web2", 1), 0, 80);
  (void)live_through(host_, 8);
  EXPECT_EQ(host_.pins(1), std::vector{CpuId{0}});
  EXPECT_EQ(host_.pins(2), std::vector{CpuId{1}});
  expect_rest(host_, 20);
  host_.pin(1, {});
  EXPECT_THAT(live_through(host_, 8).orders, SizeIs(1));
  EXPECT_EQ(host_.pins(1), std::vector{CpuId{0}});
  expect_rest(host_, 20);
}

INSTANTIATE_TEST_SUITE_P(Hosts, OneHomeTest,
                         testing::Values(OneHome{"OneNode", 1, [](Topology&) {}},
                                         OneHome{"NodeWithoutCpus", 2,
                                                 [](Topology& topology) {
                                                   topology.nodes[1].cpus.clear();
                                                 }},
                                         OneHome{"ConfinedSlice", 4,
                                                 [](Topology& topology) {
                                                   for (std::size_t node = 1; node < 4; ++node) {
                                                     topology.nodes[node].cpus.clear();
                                                   }
                                                 }}),
                         [](const auto& instance) { return std::string(instance.param.name); });

TEST(HomeControlTest, WhereANodeHasOnlyCpusVmsArePinnedToTheirMemory) {
  HostStory host(2, Mode::kActive,
                 [](ControllerSetup& setup) { setup.topology.nodes[1].memory = {}; });
  host.start(small_vm(1, "web1", 2), 0, 50);
  (void)live_through(host, 4);
  EXPECT_EQ(host.home(1), 0);
  EXPECT_EQ(host.pins(1), node_cpus(0));
}

TEST(HomeControlTest, ARestartOnAHostWithOneHomeFindsNothingToDo) {
  HostStory host(1, Mode::kActive, [](ControllerSetup& setup) {
    setup.remembered_homes[{vm_id(1), 0}] = NodeId{0};
  });
  host.start(small_vm(1, "web1", 2), 0, 80);
  host.pin(1, node_cpus(0));
  expect_rest(host, 10);
}

// ---- nodes that go and come back ----

/// A VM at home on node 2, by our own order.
HostStory at_home_on_node_2() {
  HostStory host(4, Mode::kActive);
  host.start(small_vm(1, "web1", 1), 2, 50);
  host.set_own_policy(1, {{"nodes", "2"}});
  (void)live_through(host, 8);
  host.set_own_policy(1, {});
  (void)live_through(host, 2);
  EXPECT_EQ(host.home(1), 2);
  EXPECT_EQ(host.pins(1), node_cpus(2));
  return host;
}

TEST(HomeControlTest, AVmWhoseNodeGoesOfflineIsPlacedElsewhere) {
  HostStory host = at_home_on_node_2();
  (void)change_topology(host, without(4, node_cpus(2)));
  const Heard heard = live_through(host, 8);
  EXPECT_THAT(heard.orders, SizeIs(1));
  EXPECT_THAT(heard.log, Each(Not(HasSubstr("externally"))));
  EXPECT_NE(host.home(1), 2);
  EXPECT_EQ(host.pins(1), node_cpus(host.home(1)));
  expect_rest(host, 20);
  (void)change_topology(host, small_host(4));
  EXPECT_THAT(live_through(host, 20).log, Each(Not(HasSubstr("externally"))));
}

TEST(HomeControlTest, AVmThatWasFoundOnANodeThatGoesOfflineIsPlacedElsewhere) {
  HostStory host(4, Mode::kActive);
  host.start(small_vm(1, "web1", 2), 2, 50);
  host.pin(1, node_cpus(2));
  (void)live_through(host, 8);
  EXPECT_EQ(host.home(1), 2);
  (void)change_topology(host, without(4, node_cpus(2)));
  (void)live_through(host, 8);
  EXPECT_NE(host.home(1), 2);
  EXPECT_EQ(host.pins(1), node_cpus(host.home(1)));
}

TEST(HomeControlTest, ANodeThatWentOfflineWhileTheDaemonDidNotRunIsNoExternalPin) {
  HostStory host(4, Mode::kActive, [](ControllerSetup& setup) {
    setup.topology = without(4, node_cpus(2));
    setup.remembered_homes[{vm_id(1), 0}] = NodeId{2};
  });
  host.start(small_vm(1, "web1", 2), 2, 50);
  host.pin(1, node_cpus(2));
  const Heard heard = live_through(host, 8);
  EXPECT_THAT(heard.orders, SizeIs(1));
  EXPECT_THAT(heard.log, Each(Not(HasSubstr("externally"))));
  EXPECT_EQ(host.pins(1), node_cpus(host.home(1)));
  expect_rest(host, 20);
}

TEST(HomeControlTest, AVmThatOthersPinnedToCpusThatVmsMayNotUseIsLeftAlone) {
  HostStory host(4, Mode::kActive,
                 [](ControllerSetup& setup) { setup.topology = without(4, node_cpus(2)); });
  host.start(small_vm(1, "web1", 2), 2, 50);
  host.pin(1, node_cpus(2));
  EXPECT_THAT(live_through(host, 8).orders, IsEmpty());
  EXPECT_EQ(host.pins(1), node_cpus(2));
}

TEST(HomeControlTest, OneCpuThatGoesOfflineAndComesBackChangesNoPins) {
  HostStory host = at_home_on_node_2();
  for (const Topology& topology : {without(4, {CpuId{5}}), small_host(4)}) {
    (void)change_topology(host, topology);
    expect_rest(host, 20);
    EXPECT_EQ(host.pins(1), node_cpus(2));
  }
}

TEST(HomeControlTest, AVmThatWasPinnedWhileACpuWasOfflineGetsItWhenItIsBack) {
  HostStory host = at_home_on_node_2();
  host.pin(1, {});
  (void)change_topology(host, without(4, {CpuId{5}}));
  host.set_own_policy(1, {{"nodes", "2"}});
  (void)live_through(host, 8);
  EXPECT_EQ(host.pins(1), std::vector{CpuId{4}});
  (void)change_topology(host, small_host(4));
  EXPECT_THAT(live_through(host, 8).log, Each(Not(HasSubstr("externally"))));
  EXPECT_EQ(host.home(1), 2);
  EXPECT_EQ(host.pins(1), node_cpus(2));
  expect_rest(host, 20);
}

TEST(HomeControlTest, TheLastNodeButOneGoesAndComesBack) {
  HostStory host(2, Mode::kActive);
  for (std::uint8_t number = 1; number <= 2; ++number) {
    host.start(small_vm(number, "vm" + std::to_string(number), 1), number - 1, 50);
  }
  (void)live_through(host, 8);
  (void)change_topology(host, without(2, node_cpus(1)));
  host.start(small_vm(3, "vm3", 1), 0, 10);
  const Heard heard = live_through(host, 20);
  EXPECT_THAT(heard.homes, IsEmpty());
  EXPECT_THAT(heard.log, Each(Not(HasSubstr("externally"))));
  expect_rest(host, 10);
  (void)change_topology(host, small_host(2));
  EXPECT_THAT(live_through(host, 30).log, Each(Not(HasSubstr("externally"))));
  for (std::uint8_t number = 1; number <= 3; ++number) {
    EXPECT_EQ(host.pins(number), node_cpus(host.home(number)));
  }
  expect_rest(host, 20);
}

TEST(HomeControlTest, TheSameTopologyAgainIsNoNews) {
  HostStory host = at_home_on_node_2();
  EXPECT_THAT(change_topology(host, small_host(4)).log, IsEmpty());
}

// ---- restarts and modes ----

TEST(HomeControlTest, ARestartRemembersNoHomeThatIsKnown) {
  for (const bool is_known : {true, false}) {
    HostStory host(4, Mode::kActive, [&](ControllerSetup& setup) {
      setup.remembered_homes[{vm_id(1), 0}] = NodeId{is_known ? 2 : 1};
    });
    host.start(small_vm(1, "web1", 2), 2, 50);
    host.pin(1, node_cpus(2));
    EXPECT_THAT(host.report_domains().homes, SizeIs(is_known ? 0 : 2));  // forget, and the new one
    EXPECT_EQ(host.home(1), 2);
  }
}

TEST(HomeControlTest, AHomeIsShownAsAssumedInDryRunUnlessTheVmIsPinnedThere) {
  HostStory host(4, Mode::kDryRun);
  host.start(small_vm(1, "web1", 2), 1, 50);
  host.start(small_vm(2, "web2", 2), 1, 50);
  host.pin(2, node_cpus(3));
  (void)live_through(host, 8);
  const auto assumed = [&host] {
    const auto answer = host.controller().answer(balancer::HostRequest{});
    std::vector<bool> clients;
    for (const balancer::VmView& vm : std::get<balancer::HostView>(*answer).vms) {
      EXPECT_GE(vm.clients.at(0).home.value, 0);
      clients.push_back(vm.clients.at(0).home_assumed);
    }
    return clients;
  };
  EXPECT_THAT(assumed(), testing::ElementsAre(true, false));
  balancer::ConfigChanged config;
  config.mode = Mode::kActive;
  (void)host.recorder().pass(host.controller(), config);
  (void)live_through(host, 8);
  EXPECT_THAT(assumed(), testing::ElementsAre(false, false));
}

TEST(HomeControlTest, HomesAssumedInDryRunAreNotTakenForExternalPinsLater) {
  HostStory host(4, Mode::kDryRun);
  host.start(small_vm(1, "web1", 2), 1, 50);
  (void)live_through(host, 8);
  EXPECT_GE(host.home(1), 0);
  balancer::ConfigChanged config;
  config.mode = Mode::kActive;
  (void)host.recorder().pass(host.controller(), config);
  const Heard heard = live_through(host, 8);
  EXPECT_THAT(heard.log, Each(Not(HasSubstr("externally"))));
  EXPECT_EQ(host.pins(1), node_cpus(host.home(1)));
}

TEST(HomeControlTest, PinsOfAnOrderFromBeforeADryRunAreNotTakenForExternalOnes) {
  for (const bool ends_in_dry_run : {false, true}) {
    HostStory host(4, Mode::kActive);
    host.start(small_vm(1, "web1", 2), 1, 50);
    (void)live_through(host, 12);
    const std::int32_t before = host.home(1);
    const std::int32_t after = (before + 1) % 4;
    const Effects move = host.recorder().pass(
        host.controller(), CommandReceived{1, balancer::MoveRequest{"web1", NodeId{after}, {}}});
    ASSERT_THAT(move.orders, SizeIs(1));
    balancer::ConfigChanged config;
    config.mode = Mode::kDryRun;
    (void)host.recorder().pass(host.controller(), config);
    (void)live_through(host, 8);  // the order waits
    if (ends_in_dry_run) {
      (void)host.finish(move.orders.front(), migration::ActionState::kDone, "as ordered");
    }
    config.mode = Mode::kActive;
    (void)host.recorder().pass(host.controller(), config);
    EXPECT_EQ(host.home(1), after);
    host.pin(1, node_cpus(after));
    host.set_memory(1, after);
    if (!ends_in_dry_run) {
      (void)host.finish(move.orders.front(), migration::ActionState::kDone, "as ordered");
    }
    EXPECT_THAT(live_through(host, 8).log, Each(Not(HasSubstr("externally"))));
    EXPECT_EQ(host.home(1), after);
  }
}

// ---- pins of others ----

TEST(HomeControlTest, AnAdministratorWhoRemovesPinsAgainAndAgainPrevails) {
  for (const bool repairs : {false, true}) {
    HostStory host(4, Mode::kActive, [&](ControllerSetup& setup) { setup.repairs_pins = repairs; });
    host.start(small_vm(1, "web1", 2), 1, 50);
    int orders = 0;
    for (int i = 0; i < 20; ++i) {
      orders += static_cast<int>(live_through(host, 6).orders.size());
      host.pin(1, {});
    }
    EXPECT_EQ(orders, 4);  // the first placement, and three more
    expect_rest(host, 10);
  }
}

TEST(HomeControlTest, PinsThatWereRemovedLongAgoDoNotMakeAVmExternalForEver) {
  for (const bool repairs : {false, true}) {
    HostStory host(4, Mode::kActive, [&](ControllerSetup& setup) { setup.repairs_pins = repairs; });
    host.start(small_vm(1, "web1", 2), 1, 50);
    for (int i = 0; i < 5; ++i) {
      (void)live_through(host, 6);
      host.pin(1, {});
    }
    EXPECT_THAT(live_through(host, 20).orders, IsEmpty());
    EXPECT_THAT(host.pins(1), IsEmpty());
    const Heard heard = live_through(host, 2000);  // more than an hour
    EXPECT_THAT(heard.orders, SizeIs(1));
    EXPECT_THAT(heard.log, testing::Contains(HasSubstr("no longer pinned externally")));
    EXPECT_EQ(host.pins(1), node_cpus(host.home(1)));
  }
}

TEST(HomeControlTest, AVmThatWasLeftToOthersLivesWhereTheyPinItToAWholeNode) {
  HostStory host(4, Mode::kActive);
  host.start(small_vm(1, "web1", 2), 1, 50);
  host.pin(1, {CpuId{0}, CpuId{2}});
  (void)live_through(host, 4);
  host.pin(1, node_cpus(3));
  const Heard heard = live_through(host, 2);
  EXPECT_EQ(host.home(1), 3);
  EXPECT_EQ(host.pins(1), node_cpus(3));
}

TEST(HomeControlTest, APluggedVcpuWithLibvirtsDefaultPinIsPinnedHome) {
  for (const bool repairs : {false, true}) {
    HostStory host(4, Mode::kActive, [&](ControllerSetup& setup) { setup.repairs_pins = repairs; });
    VmDescription vm = small_vm(1, "web1", 1);
    vm.default_pin = node_cpus(0);
    host.start(vm, 2, 50);
    host.pin(1, node_cpus(2));
    (void)live_through(host, 8);
    ASSERT_EQ(host.home(1), 2);
    host.plug_vcpu(1);
    EXPECT_EQ(host.last_pin(1), node_cpus(0));
    const Heard heard = live_through(host, 8);
    EXPECT_THAT(heard.log, Each(Not(HasSubstr("externally"))));
    EXPECT_EQ(host.home(1), 2);
    EXPECT_EQ(host.last_pin(1), node_cpus(2));
    expect_rest(host, 10);
  }
}

TEST(HomeControlTest, AVmThatMustNotMoveKeepsItsHomeWhenAVcpuIsPluggedAlthoughItsNodeIsFull) {
  for (const bool may_move : {true, false}) {
    HostStory host(4, Mode::kActive);
    host.start(small_vm(1, "web1", 1), 2, 50);
    host.pin(1, node_cpus(2));
    if (!may_move) {
      host.set_own_policy(1, {{"do_not_move", "true"}});
    }
    (void)live_through(host, 8);
    ASSERT_EQ(host.home(1), 2);
    host.set_memory(1, 3);  // none of it is at home
    host.set_free(2, Bytes{});
    (void)live_through(host, 2);
    host.plug_vcpu(1);
    const Heard heard = live_through(host, 10);
    EXPECT_THAT(heard.log, testing::Contains(HasSubstr("has new vCPUs")));
    EXPECT_EQ(host.home(1) == 2, !may_move);
    EXPECT_TRUE(host.all_pinned(1));
    EXPECT_EQ(host.last_pin(1), node_cpus(host.home(1)));
    expect_rest(host, 10);
  }
}

TEST(HomeControlTest, WithoutRebalancingAVmWithANewVcpuIsLeftAtHome) {
  for (const bool may_move : {true, false}) {
    HostStory host(4, Mode::kActive);
    host.start(small_vm(1, "web1", 1), 2, 50);
    host.pin(1, node_cpus(2));
    if (!may_move) {
      host.set_own_policy(1, {{"do_not_move", "true"}});
    }
    (void)live_through(host, 8);
    balancer::ConfigChanged config;
    config.mode = Mode::kActive;
    config.options.rebalance_enable = 0;
    (void)host.recorder().pass(host.controller(), config);
    host.plug_vcpu(1);
    expect_rest(host, 10);
    EXPECT_EQ(host.home(1), 2);
  }
}

TEST(HomeControlTest, AVmWhoseVcpusAreSplitOtherwiseIsNotPinnedByOthers) {
  HostStory host(4, Mode::kActive);
  host.start(small_vm(1, "wide", 4), 0, 50);  // on nodes of two cores: two clients
  (void)live_through(host, 8);
  host.set_own_policy(1, {{"prefer_ht", "true"}, {"max_per_client", "1"}});
  (void)live_through(host, 8);
  host.set_own_policy(1, {});
  EXPECT_THAT(live_through(host, 12).log, Each(Not(HasSubstr("externally"))));
}

}  // namespace
}  // namespace vmnuma::tests
