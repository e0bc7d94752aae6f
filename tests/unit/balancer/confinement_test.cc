// SPDX-License-Identifier: Apache-2.0
/// VMs that their cgroup, or an administrator's pins, keep on CPUs that others have not.
#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/balancer/host_story.h"

namespace vmnuma::tests {
namespace {

using balancer::CommandReceived;
using balancer::ControllerSetup;
using balancer::Effects;
using balancer::Mode;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Of the given nodes' CPUs, 2n and 2n + 1.
std::vector<CpuId> cpus_of(const std::vector<std::int32_t>& nodes) {
  std::vector<CpuId> cpus;
  for (const std::int32_t node : nodes) {
    for (const CpuId cpu : node_cpus(node)) {
      cpus.push_back(cpu);
    }
  }
  return cpus;
}

/// Three nodes; node 2's CPUs are isolated.
class ConfinementTest : public testing::Test {
 protected:
  struct Heard {
    std::vector<migration::Order> orders;
    std::vector<std::string> log;
  };
  Heard live_through(int epochs) {
    Heard heard;
    for (int epoch = 0; epoch < epochs; ++epoch) {
      (void)host_.report_domains();
      const Effects effects = host_.epoch();
      heard.orders.insert(heard.orders.end(), effects.orders.begin(), effects.orders.end());
      for (const balancer::LogLine& line : effects.log) {
        heard.log.push_back(line.message);
      }
      host_.carry_out(effects);
    }
    return heard;
  }
  balancer::HostView view() {
    return std::get<balancer::HostView>(
        *host_.controller().on(CommandReceived{7, balancer::HostRequest{}}).replies.at(0).answer);
  }

  HostStory host_{3, Mode::kActive, [](ControllerSetup& setup) {
                    setup.topology.nodes[2].cpus.clear();
                    setup.topology.nodes[2].isolated_cpus = node_cpus(2);
                  }};
};

TEST_F(ConfinementTest, AVmThatMayUseAllCpusOfVmsIsPlaced) {
  host_.start(small_vm(1, "web1", 2), 0, 50);
  host_.set_allowed(1, cpus_of({0, 1, 2}));
  EXPECT_THAT(live_through(3).orders, Not(IsEmpty()));
}

TEST_F(ConfinementTest, AVmInACpusetOfItsOwnIsLeftAloneAndToldOnce) {
  host_.start(small_vm(1, "web1", 2), 0, 50);
  host_.set_allowed(1, node_cpus(2));
  const Heard heard = live_through(12);
  EXPECT_THAT(heard.orders, IsEmpty());
  EXPECT_EQ(std::count(heard.log.begin(), heard.log.end(),
                       "VM 'web1' is left alone: its cgroup lets it run on CPUs 4-5 only"),
            1);
  EXPECT_EQ(host_.home(1), -1);
  EXPECT_FALSE(view().vms.at(0).managed);
  EXPECT_EQ(view().vms.at(0).not_managed, "its cgroup lets it run on CPUs 4-5 only");
}

TEST_F(ConfinementTest, AVmConfinedToOneNodeLivesThereAndIsNotMovedAway) {
  host_.start(small_vm(1, "busy1", 2), 1, 100);
  host_.start(small_vm(2, "busy2", 2), 1, 100);
  host_.set_allowed(1, node_cpus(1));
  host_.set_allowed(2, node_cpus(1));
  EXPECT_THAT(live_through(12).orders, IsEmpty());
  EXPECT_EQ(host_.home(1), 1);
  EXPECT_EQ(host_.home(2), 1);
  EXPECT_EQ(view().nodes.at(1).vcpus, 4);
}

TEST_F(ConfinementTest, AVmThatIsConfinedWhileItRunsLeavesItsHomeAndComesBack) {
  host_.start(small_vm(1, "web1", 2), 0, 50);
  (void)live_through(3);
  EXPECT_EQ(host_.home(1), 0);
  host_.set_allowed(1, node_cpus(2));
  EXPECT_THAT(live_through(8).orders, IsEmpty());
  EXPECT_EQ(host_.home(1), -1);
  EXPECT_EQ(view().nodes.at(0).vcpus, 0);
  host_.set_allowed(1, cpus_of({0, 1, 2}));
  const Heard heard = live_through(6);
  EXPECT_THAT(heard.log,
              Contains("the cgroup of VM 'web1' no longer restricts its CPUs, managing it again"));
  EXPECT_EQ(host_.home(1), 0);
}

TEST_F(ConfinementTest, AMoveOfAConfinedVmIsRefusedWithTheReason) {
  host_.start(small_vm(1, "web1", 2), 0, 50);
  host_.set_allowed(1, node_cpus(0));
  (void)live_through(4);
  const Effects effects = host_.controller().on(
      CommandReceived{7, balancer::MoveRequest{.vm = "web1", .node = NodeId{1}, .client = {}}});
  ASSERT_FALSE(effects.replies.at(0).answer);
  EXPECT_THAT(effects.replies.at(0).answer.error().message,
              HasSubstr("its cgroup lets it run on CPUs 0-1 only"));
}

TEST_F(ConfinementTest, AVmPinnedToIsolatedCpusIsLeftAlone) {
  host_.start(small_vm(1, "realtime", 2), 0, 100);
  host_.pin(1, node_cpus(2));
  EXPECT_THAT(live_through(12).orders, IsEmpty());
  EXPECT_EQ(host_.pins(1), node_cpus(2));
}

TEST_F(ConfinementTest, NorIsAVmPinnedToIsolatedCpusBroughtHomeAfterARestart) {
  const auto remembers = [](ControllerSetup& setup) {
    setup.topology.nodes[2].cpus.clear();
    setup.topology.nodes[2].isolated_cpus = node_cpus(2);
    setup.remembered_homes = {{{vm_id(1), 0}, NodeId{0}}};
  };
  HostStory host(3, Mode::kActive, remembers);
  host.start(small_vm(1, "realtime", 2), 0, 100);
  host.pin(1, node_cpus(2));
  for (int epoch = 0; epoch < 12; ++epoch) {
    (void)host.report_domains();
    const Effects effects = host.epoch();
    EXPECT_THAT(effects.orders, IsEmpty());
    host.carry_out(effects);
  }
  EXPECT_EQ(host.pins(1), node_cpus(2));
}

TEST_F(ConfinementTest, StatusNamesTheCpusThatAreKeptFromVms) {
  (void)live_through(1);
  const auto status = std::get<balancer::StatusView>(
      *host_.controller().on(CommandReceived{7, balancer::StatusRequest{}}).replies.at(0).answer);
  EXPECT_EQ(status.isolated_cpus, node_cpus(2));
}

}  // namespace
}  // namespace vmnuma::tests
