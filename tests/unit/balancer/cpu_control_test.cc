// SPDX-License-Identifier: Apache-2.0
/// CPUs within a node: which VM gets which, what others see of it, and how it ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "balancer/controller/controller.h"
#include "placement/model/text.h"
#include "tests/unit/balancer/expect_replays.h"
#include "tests/unit/balancer/host_story.h"

namespace vmnuma::tests {
namespace {

using balancer::AnnounceRequest;
using balancer::CommandReceived;
using balancer::Effects;
using balancer::ExplainRequest;
using balancer::ExplainView;
using balancer::Mode;
using balancer::Originals;
using balancer::ReleaseRequest;
using migration::Order;
using migration::PinChange;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const std::vector<CpuId> kFirst{CpuId{0}};
const std::vector<CpuId> kSecond{CpuId{1}};

/// Node 0 has the cores 0 and 1; VMs have one vCPU and may use node 0 only.
class CpuControlTest : public testing::Test {
 protected:
  explicit CpuControlTest(const std::function<void(balancer::ControllerSetup&)>& change = {},
                          Mode mode = Mode::kActive)
      : host_(2, mode, change) {}

  static VmDescription vm(std::uint8_t number, std::vector<PolicySetting> policy = {}) {
    VmDescription made = small_vm(number, "vm" + std::to_string(number), 1);
    made.own_policy = std::move(policy);
    made.own_policy.push_back({"nodes", "0"});
    return made;
  }
  static VmDescription exclusive_vm(std::uint8_t number) {
    return vm(number, {{"cpu_binding", "exclusive"}});
  }
  void epochs(int count) {
    for (int i = 0; i < count; ++i) {
      (void)host_.report_domains();
      Effects effects = host_.epoch();
      for (const Order& order : effects.orders) {
        orders_.push_back(order);
      }
      for (const balancer::HomeDecided& home : effects.homes) {
        homes_[home.client] = home.home;
      }
      host_.carry_out(effects);
    }
  }
  ExplainView explain(const std::string& name) {
    Effects effects = host_.controller().on(CommandReceived{7, ExplainRequest{name}});
    return std::get<ExplainView>(*effects.replies.at(0).answer);
  }
  [[nodiscard]] std::vector<Order> assignments() const {
    std::vector<Order> found;
    for (const Order& order : orders_) {
      if (order.reason == Reason::kCpuAssignment) {
        found.push_back(order);
      }
    }
    return found;
  }

  HostStory host_;
  std::vector<Order> orders_;
  std::map<ClientId, NodeId> homes_;
};

TEST_F(CpuControlTest, WithoutPoliciesEveryVmHasItsNodeWhole) {
  host_.start(vm(1), 0, 50);
  host_.start(vm(2), 0, 50);
  epochs(8);
  EXPECT_EQ(host_.pins(1), node_cpus(0));
  EXPECT_THAT(assignments(), IsEmpty());
  EXPECT_THAT(host_.controller().cpu_subsets(), IsEmpty());
  EXPECT_EQ(explain("vm1").clients.at(0).cpus, "");
}

TEST_F(CpuControlTest, NoneArePinnedWhileTheBalancerOnlyWatches) {
  const auto set_enabled = [this](std::int64_t value) {
    (void)host_.controller().on(
        CommandReceived{7, balancer::OptionsSetRequest{"Numa.RebalanceEnable", value, false}});
  };
  host_.start(vm(1), 0, 50);
  epochs(4);
  set_enabled(0);
  host_.set_own_policy(1, exclusive_vm(1).own_policy);
  epochs(3);
  EXPECT_THAT(assignments(), IsEmpty());
  set_enabled(1);
  epochs(3);
  EXPECT_THAT(assignments(), SizeIs(1));
}

TEST_F(CpuControlTest, AVmThatWantsACoreGetsItAndOthersKeepOff) {
  host_.start(vm(1), 0, 50);
  epochs(4);
  EXPECT_EQ(host_.pins(1), node_cpus(0));
  host_.start(exclusive_vm(2), 0, 50);
  epochs(3);
  EXPECT_EQ(host_.pins(2), kFirst);
  EXPECT_EQ(host_.pins(1), kSecond);
  // The other stayed at home: an order of its own, without memory.
  ASSERT_THAT(assignments(), SizeIs(1));
  const migration::VmChange change = assignments().front().changes.at(0);
  EXPECT_EQ(change.vm, vm_id(1));
  EXPECT_THAT(change.homes, ElementsAre(migration::HomeChange{0, NodeId{0}, NodeId{0}}));
  EXPECT_THAT(change.memory.quotas, IsEmpty());
  EXPECT_THAT(change.pins,
              ElementsAre(PinChange{PinChange::Thread::kVcpu, 0, node_cpus(0), kSecond},
                          PinChange{PinChange::Thread::kEmulator, 0, {}, kSecond}));
  EXPECT_EQ(explain("vm1").clients.at(0).cpus, "1");
  EXPECT_EQ(explain("vm2").clients.at(0).cpus, "0");
  // And nothing more is done.
  epochs(20);
  EXPECT_THAT(assignments(), SizeIs(1));
  EXPECT_EQ(host_.home(1), 0);
  EXPECT_EQ(host_.home(2), 0);
}

TEST_F(CpuControlTest, TheEmulatorKeepsOffCoresOfOthersButNotItsOwn) {
  host_.start(exclusive_vm(2), 0, 50);
  epochs(3);
  ASSERT_THAT(orders_, SizeIs(1));
  EXPECT_THAT(orders_.front().changes.at(0).pins,
              Contains(PinChange{PinChange::Thread::kEmulator, 0, {}, node_cpus(0)}));
}

TEST_F(CpuControlTest, WhatIsGivenBackOthersGetAgain) {
  host_.start(vm(1), 0, 50);
  host_.start(exclusive_vm(2), 0, 50);
  epochs(4);
  EXPECT_EQ(host_.pins(1), kSecond);
  host_.stop(2);
  epochs(3);
  EXPECT_EQ(host_.pins(1), node_cpus(0));
  EXPECT_THAT(host_.controller().cpu_subsets(), IsEmpty());
}

TEST_F(CpuControlTest, AChangedPolicyChangesThePins) {
  host_.start(vm(1), 0, 50);
  host_.start(exclusive_vm(2), 0, 50);
  epochs(4);
  host_.set_own_policy(2, {{"nodes", "0"}});
  epochs(3);
  EXPECT_EQ(host_.pins(1), node_cpus(0));
  EXPECT_EQ(host_.pins(2), node_cpus(0));
}

TEST_F(CpuControlTest, AVmThatIsRefusedIsToldWhyAndHasTheRest) {
  host_.start(exclusive_vm(1), 0, 50);
  epochs(3);
  host_.start(exclusive_vm(2), 0, 50);
  epochs(3);
  EXPECT_EQ(host_.pins(1), kFirst);
  EXPECT_EQ(host_.pins(2), kSecond);
  EXPECT_EQ(explain("vm1").clients.at(0).no_own_cores, "");
  EXPECT_THAT(explain("vm2").clients.at(0).no_own_cores,
              HasSubstr("asks for 1 cores of its own, and node 0 has 0 left to give away"));
}

TEST_F(CpuControlTest, AnIdleExclusiveCoreCountsAsNoCapacity) {
  host_.start(exclusive_vm(1), 0, 0);
  epochs(4);
  const Snapshot& snapshot = host_.controller().snapshot();
  // Two cores for 2 s, of which one is set aside.
  EXPECT_EQ(snapshot.nodes[0].set_aside.value, 2'000'000);
  EXPECT_EQ(snapshot.nodes[0].capacity.value, 2'000'000);
  EXPECT_EQ(snapshot.nodes[1].capacity.value, 4'000'000);
  EXPECT_EQ(snapshot.nodes[0].non_vm.value, 0);
}

TEST_F(CpuControlTest, WhatItUsesOfItsCoreIsNotSetAside) {
  host_.start(exclusive_vm(1), 0, 75);
  epochs(6);
  EXPECT_EQ(host_.controller().snapshot().nodes[0].set_aside.value, 500'000);
}

TEST_F(CpuControlTest, AVmThatOthersPinIsLeftAlone) {
  host_.start(exclusive_vm(1), 0, 50);
  epochs(6);
  host_.pin(1, node_cpus(0));
  epochs(4);
  EXPECT_THAT(host_.controller().snapshot().vms.at(0).stale_because,
              HasSubstr("pinned to CPUs other than 0, which it was given"));
  EXPECT_EQ(host_.pins(1), node_cpus(0));
  EXPECT_THAT(assignments(), IsEmpty());
  // As given, it is managed again.
  host_.pin(1, kFirst);
  epochs(4);
  EXPECT_TRUE(host_.controller().snapshot().vms.at(0).fresh);
}

TEST_F(CpuControlTest, AReleasedVmGetsBackWhatWasFoundAndOthersItsCore) {
  host_.start(vm(1), 0, 50);
  host_.start(exclusive_vm(2), 0, 50);
  epochs(6);
  host_.carry_out(host_.controller().on(CommandReceived{7, ReleaseRequest{"vm2"}}));
  EXPECT_THAT(host_.pins(2), IsEmpty());
  epochs(3);
  EXPECT_EQ(host_.pins(1), node_cpus(0));
}

TEST_F(CpuControlTest, WhatFailedIsTriedAgainAfterARest) {
  host_.start(vm(1), 0, 50);
  epochs(4);
  host_.start(exclusive_vm(2), 0, 50);
  bool failed = false;
  for (int i = 0; i < 16; ++i) {
    (void)host_.report_domains();
    Effects effects = host_.epoch();
    if (!failed && !effects.orders.empty() &&
        effects.orders.back().reason == Reason::kCpuAssignment) {
      (void)host_.finish(effects.orders.back(), migration::ActionState::kUndone, "no");
      effects.orders.pop_back();
      failed = true;
      EXPECT_FALSE(host_.controller().cpu_subsets().contains(vm_id(1)));
    }
    host_.carry_out(effects);
  }
  EXPECT_TRUE(failed);
  EXPECT_EQ(host_.pins(1), kSecond);
}

TEST_F(CpuControlTest, AfterARestartEveryVmKeepsWhatItHad) {
  host_.start(vm(1), 0, 50);
  host_.start(exclusive_vm(3), 0, 50);
  epochs(4);
  ASSERT_EQ(host_.pins(3), kFirst);
  ASSERT_EQ(host_.pins(1), kSecond);
  Originals originals;
  for (const Order& order : orders_) {
    record_order(originals, order);
  }
  HostStory after(2, Mode::kActive, [&](balancer::ControllerSetup& setup) {
    setup.originals = originals;
    setup.remembered_homes = homes_;
  });
  VmDescription one = vm(1);
  VmDescription three = exclusive_vm(3);
  after.start(one, 0, 50);
  after.start(three, 0, 50);
  after.start(exclusive_vm(2), 0, 50);  // comes with the restart, and is too late
  after.pin(1, kSecond);
  after.pin(3, kFirst);
  (void)after.report_domains();
  EXPECT_EQ(after.home(1), 0);
  EXPECT_EQ(after.home(3), 0);
  for (int i = 0; i < 6; ++i) {
    after.carry_out(after.epoch());
  }
  EXPECT_EQ(after.pins(3), kFirst);
  EXPECT_EQ(after.pins(1), kSecond);
  EXPECT_EQ(after.pins(2), kSecond);
}

TEST_F(CpuControlTest, PinsThatNoOrderMadeCountAsExternal) {
  VmDescription pinned = vm(1);
  host_.start(pinned, 0, 50);
  host_.pin(1, kSecond);
  epochs(3);
  EXPECT_EQ(host_.home(1), -1);
  EXPECT_THAT(orders_, IsEmpty());
}

AnnounceRequest announcement(std::uint8_t number, std::int32_t vcpus) {
  AnnounceRequest request{"vm" + std::to_string(number), to_text(vm_id(number)), vcpus, 64};
  request.policy = {{"cpu_binding", "exclusive"}};
  return request;
}

TEST_F(CpuControlTest, AVmForWhichThereAreNoCoresIsNotAdmitted) {
  epochs(2);
  const auto ask = [&](std::uint8_t number, std::int32_t vcpus) {
    return host_.controller()
        .on(CommandReceived{7, announcement(number, vcpus)})
        .replies.at(0)
        .answer;
  };
  // One core of each node can be given away.
  EXPECT_TRUE(ask(5, 1));
  EXPECT_TRUE(ask(6, 1));
  const auto third = ask(7, 1);
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().code, ErrorCode::kNoSpace);
  EXPECT_EQ(third.error().message,
            "cpu_binding is 'exclusive', but too few whole cores are free: the VM needs 1 on one "
            "node. Free were on node 0 0 of 2 cores; on node 1 0 of 2 cores");
}

TEST(CpuControlOfUnlikeNodesTest, AVmIsAdmittedWhereItsCoresHoldItsVcpus) {
  // Node 0 has two cores of one thread, node 1 has two of two threads, node 2 has no CPUs.
  HostStory host(4, Mode::kActive, [](balancer::ControllerSetup& setup) {
    std::vector<Node>& nodes = setup.topology.nodes;
    nodes[1].cpus.insert(nodes[1].cpus.end(), nodes[2].cpus.begin(), nodes[2].cpus.end());
    nodes[2].cpus.clear();
    for (std::size_t cpu = 0; cpu < 4; ++cpu) {
      nodes[1].cpus[cpu].core = cpu < 2 ? 2 : 3;
    }
  });
  (void)host.report_domains();
  (void)host.epoch();
  (void)host.epoch();
  AnnounceRequest request = announcement(5, 2);
  request.policy.push_back({"topology_policy", "single-numa-node"});
  const auto answer =
      host.controller().on(CommandReceived{7, std::move(request)}).replies.at(0).answer;
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(std::get<balancer::AnnouncedView>(*answer).message, "VM 'vm5' is admitted on nodes 1");
}

class DryCpuControlTest : public CpuControlTest {
 protected:
  DryCpuControlTest() : CpuControlTest({}, Mode::kDryRun) {}
};

TEST_F(DryCpuControlTest, NothingIsPinnedOrRefused) {
  host_.start(exclusive_vm(1), 0, 50);
  epochs(4);
  EXPECT_THAT(orders_, IsEmpty());
  EXPECT_EQ(explain("vm1").clients.at(0).cpus, "0");  // it would
  for (std::uint8_t number = 5; number < 9; ++number) {
    EXPECT_TRUE(
        host_.controller().on(CommandReceived{7, announcement(number, 1)}).replies.at(0).answer);
  }
}

TEST_F(CpuControlTest, ARecordingIsPlannedAgainToTheByte) {
  host_.start(vm(1), 0, 50);
  std::vector<std::string> lines;
  for (int epoch = 0; epoch < 14; ++epoch) {
    if (epoch == 5) {
      host_.recorder().begin(host_.controller(), /*anonymize=*/false, std::nullopt);
    }
    if (epoch == 2) {
      host_.start(exclusive_vm(2), 0, 50);
    }
    if (epoch == 8) {
      host_.stop(2);
    }
    epochs(1);
    for (std::string& line : host_.recorder().take_lines(std::size_t{1} << 24U)) {
      lines.push_back(std::move(line));
    }
  }
  expect_replays(lines, 9);
}

}  // namespace
}  // namespace vmnuma::tests
