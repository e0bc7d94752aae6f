// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "balancer/controller/originals.h"
#include "tests/unit/balancer/host_story.h"

namespace vmnuma::tests {
namespace {

using balancer::Effects;
using balancer::ManageRequest;
using balancer::Mode;
using balancer::Original;
using balancer::Originals;
using balancer::ReleaseRequest;
using migration::ActionState;
using migration::PinChange;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

using Cpus = std::vector<CpuId>;

Effects give(HostStory& host, balancer::Command command) {
  return host.controller().on(balancer::CommandReceived{7, std::move(command)});
}

std::string message_of(const Effects& effects) {
  const auto& answer = effects.replies.at(0).answer;
  return answer ? std::get<balancer::DoneView>(*answer).message : answer.error().message;
}

/// Two VMs that were found free and have homes on a host of two nodes.
HostStory two_placed(const std::function<void(balancer::ControllerSetup&)>& change = {}) {
  HostStory host(2, Mode::kActive, change);
  host.start(small_vm(1, "web1", 2), 0, 60);
  host.start(small_vm(2, "web2", 2), 0, 60);
  (void)host.report_domains();
  (void)host.epoch();
  host.carry_out(host.epoch());
  return host;
}

TEST(ReleaseTest, AVmThatWasFoundFreeIsFreeAgain) {
  HostStory host = two_placed();
  const Effects effects = give(host, ReleaseRequest{"web1"});
  EXPECT_EQ(message_of(effects),
            "VM 'web1' is released; 2 of its threads have their original pins again; it is left "
            "alone until 'manage' or its next start");
  ASSERT_THAT(effects.orders, SizeIs(1));
  ASSERT_THAT(effects.orders[0].changes, SizeIs(1));
  for (const PinChange& pin : effects.orders[0].changes[0].pins) {
    EXPECT_THAT(pin.after, IsEmpty());
  }
  EXPECT_EQ(effects.orders[0].changes[0].homes.at(0).to, NodeId{});
  EXPECT_EQ(host.home(1), -1);
  EXPECT_NE(host.home(2), -1);
}

TEST(ReleaseTest, APinThatADroppedOrderWouldHaveMadeIsTheAdministrators) {
  for (const ActionState end : {ActionState::kDropped, ActionState::kDone}) {
    HostStory host = two_placed();
    (void)host.epoch();
    const std::int32_t other = 1 - host.home(1);
    const Effects move = give(host, balancer::MoveRequest{"web1", NodeId{other}, {}});
    ASSERT_THAT(move.orders, SizeIs(1));
    (void)host.finish(move.orders.front(), end, "it is as it is");
    host.pin(1, node_cpus(other));
    (void)host.report_domains();
    const Effects effects = give(host, ReleaseRequest{"web1"});
    EXPECT_THAT(effects.orders, SizeIs(end == ActionState::kDone ? 1 : 0));
  }
}

TEST(ReleaseTest, AVmThatWasFoundPinnedIsPinnedThereAgain) {
  HostStory host(2, Mode::kActive);
  for (std::uint8_t number = 1; number <= 2; ++number) {
    host.start(small_vm(number, "web" + std::to_string(number), 2), 0, 100);
    host.pin(number, node_cpus(0));
  }
  (void)host.report_domains();
  for (int epoch = 0; epoch < 10; ++epoch) {
    host.carry_out(host.epoch());
  }
  const std::uint8_t moved = host.home(1) == 1 ? 1 : 2;
  ASSERT_EQ(host.home(moved), 1);
  const Effects effects = give(host, ReleaseRequest{"web" + std::to_string(moved)});
  ASSERT_THAT(effects.orders, SizeIs(1));
  for (const PinChange& pin : effects.orders[0].changes[0].pins) {
    if (pin.thread == PinChange::Thread::kVcpu) {
      EXPECT_EQ(pin.after, node_cpus(0));
    }
  }
}

/// libvirt was advised to start it on the CPUs of nodes 0 and 1, and reports that until it has
/// pins.
VmDescription advised_vm() {
  VmDescription vm = small_vm(1, "web1", 2);
  vm.placement_auto = true;
  vm.advised_cpus = node_cpus(0);
  vm.advised_cpus.insert(vm.advised_cpus.end(), {CpuId{2}, CpuId{3}});
  return vm;
}

TEST(ReleaseTest, AVmThatLibvirtChoseCpusForIsPinnedToTheseAgainAndThenAsFreeAsBefore) {
  HostStory host(3, Mode::kActive);
  const VmDescription vm = advised_vm();
  host.start(vm, 2, 60);
  (void)host.report_domains();
  (void)host.epoch();
  host.carry_out(host.epoch());
  ASSERT_NE(host.home(1), -1);
  host.forget_advice(1);
  (void)host.report_domains();
  (void)host.epoch();
  const Effects effects = give(host, ReleaseRequest{"web1"});
  ASSERT_THAT(effects.orders, SizeIs(1));
  for (const PinChange& pin : effects.orders[0].changes.at(0).pins) {
    EXPECT_EQ(pin.after, vm.advised_cpus);
  }
  host.carry_out(effects);
  EXPECT_EQ(host.pins(1), vm.advised_cpus);
  (void)host.epoch();
  (void)give(host, ManageRequest{"web1"});
  for (int epoch = 0; epoch < 5; ++epoch) {
    host.carry_out(host.epoch());
  }
  EXPECT_NE(host.home(1), -1);
  EXPECT_EQ(host.pins(1), node_cpus(host.home(1)));
}

TEST(ReleaseTest, WhatLibvirtChoseIsKnownAfterARestartFromTheOrders) {
  const VmDescription vm = advised_vm();
  HostStory host(3, Mode::kActive, [&](balancer::ControllerSetup& setup) {
    setup.released[vm.id] = {1001, 1};
    balancer::Original& original = setup.originals[vm.id];
    original.process = {1001, 1};
    for (const std::int32_t vcpu : vm.vcpus) {
      original.threads[{PinChange::Thread::kVcpu, vcpu}] = {vm.advised_cpus, {node_cpus(2)}};
    }
  });
  host.start(vm, 2, 60);
  host.pin(1, vm.advised_cpus);  // by the release
  host.forget_advice(1);
  (void)host.report_domains();
  (void)host.epoch();
  (void)give(host, ManageRequest{"web1"});
  for (int epoch = 0; epoch < 5; ++epoch) {
    host.carry_out(host.epoch());
  }
  EXPECT_NE(host.home(1), -1);
}

TEST(ReleaseTest, AVmThatWasNeverTouchedStaysAsItIs) {
  HostStory host(2, Mode::kActive);
  host.start(small_vm(1, "web1", 2), 0, 50);
  host.pin(1, node_cpus(0));
  (void)host.report_domains();
  (void)host.epoch();
  (void)host.epoch();
  const Effects effects = give(host, ReleaseRequest{"web1"});
  EXPECT_THAT(effects.orders, IsEmpty());
  EXPECT_THAT(message_of(effects), HasSubstr("it has its original pins again"));
}

TEST(ReleaseTest, WhatIsNotKnownIsSaidAndTheVmMayRunAnywhere) {
  HostStory host(2, Mode::kActive,
                 [](balancer::ControllerSetup& setup) { setup.originals_known = false; });
  host.start(small_vm(1, "web1", 2), 0, 50);
  host.pin(1, node_cpus(0));
  (void)host.report_domains();
  (void)host.epoch();
  const Effects effects = give(host, ReleaseRequest{"web1"});
  EXPECT_THAT(message_of(effects), HasSubstr("its original pins are not known, so its threads may "
                                             "run on any CPU of the host"));
  ASSERT_THAT(effects.orders, SizeIs(1));
  EXPECT_THAT(effects.orders[0].changes[0].pins, SizeIs(2));
  EXPECT_THAT(effects.orders[0].changes[0].pins[0].after, IsEmpty());
}

TEST(ReleaseTest, AReleasedVmIsLeftAloneAndSaysSo) {
  HostStory host = two_placed();
  host.carry_out(give(host, ReleaseRequest{"web1"}));
  host.set_busy(1, 100);
  host.set_busy(2, 100);
  for (int epoch = 0; epoch < 20; ++epoch) {
    for (const migration::Order& order : host.epoch().orders) {
      EXPECT_NE(order.changes[0].vm, vm_id(1)) << "epoch " << epoch;
    }
  }
  const auto explained = give(host, balancer::ExplainRequest{"web1"});
  const auto view = std::get<balancer::ExplainView>(explained.replies[0].answer.value());
  EXPECT_EQ(view.memory, "it is left alone: it was released; 'vmnuma manage' takes it back");
  EXPECT_THAT(message_of(give(host, balancer::MoveRequest{"web1", {1}, {}})),
              HasSubstr("it was released"));
}

TEST(ReleaseTest, ManageTakesItBack) {
  HostStory host = two_placed();
  host.carry_out(give(host, ReleaseRequest{"web1"}));
  (void)host.epoch();
  const Effects effects = give(host, ManageRequest{"web1"});
  EXPECT_EQ(message_of(effects), "VM 'web1' is managed again from the next epoch on");
  ASSERT_THAT(effects.log, SizeIs(1));
  EXPECT_THAT(effects.log[0].fields, ElementsAre(Pair("VM", "web1")));
  ASSERT_TRUE(effects.released);
  EXPECT_THAT(*effects.released, IsEmpty());
  for (int epoch = 0; epoch < 5; ++epoch) {
    host.carry_out(host.epoch());
  }
  EXPECT_NE(host.home(1), -1);
  EXPECT_EQ(message_of(give(host, ManageRequest{"web1"})), "VM 'web1' is managed already");
}

TEST(ReleaseTest, ItsNextStartEndsIt) {
  HostStory host = two_placed();
  const Effects effects = give(host, ReleaseRequest{"web1"});
  ASSERT_TRUE(effects.released);
  EXPECT_THAT(*effects.released, SizeIs(1));
  host.carry_out(effects);
  host.stop(1);
  EXPECT_THAT(host.report_domains().released.value(), IsEmpty());
  host.start(small_vm(1, "web1", 2), 0, 60);
  (void)host.report_domains();
  for (int epoch = 0; epoch < 5; ++epoch) {
    host.carry_out(host.epoch());
  }
  EXPECT_NE(host.home(1), -1);
}

TEST(ReleaseTest, ARestartOfTheDaemonDoesNotEndIt) {
  // HostStory's VMs have the process {1000 + number, 1}.
  HostStory host = two_placed([](balancer::ControllerSetup& setup) {
    setup.released[vm_id(1)] = {1001, 1};
    setup.released[vm_id(2)] = {999, 1};  // of an earlier life
  });
  for (int epoch = 0; epoch < 5; ++epoch) {
    host.carry_out(host.epoch());
  }
  EXPECT_EQ(host.home(1), -1);
  EXPECT_NE(host.home(2), -1);
}

TEST(ReleaseTest, AllAreReleasedWithoutAName) {
  HostStory host = two_placed();
  const Effects effects = give(host, ReleaseRequest{});
  EXPECT_EQ(message_of(effects),
            "2 VMs are released; each is left alone until 'manage' or its next start");
  EXPECT_THAT(effects.orders, SizeIs(2));
  host.carry_out(effects);
  for (int epoch = 0; epoch < 5; ++epoch) {
    EXPECT_THAT(host.epoch().orders, IsEmpty());
  }
  EXPECT_EQ(message_of(give(host, ManageRequest{})),
            "2 VMs are managed again from the next epoch on");
}

TEST(ReleaseTest, WhatIsUnderWayIsCancelledFirst) {
  HostStory host(2, Mode::kActive);
  host.start(small_vm(1, "web1", 2), 0, 60);
  (void)host.report_domains();
  (void)host.epoch();
  const Effects placed = host.epoch();
  ASSERT_THAT(placed.orders, SizeIs(1));
  const Effects effects = give(host, ReleaseRequest{"web1"});
  EXPECT_THAT(effects.cancelled, ElementsAre(vm_id(1)));
  // The order that was taken back gives the VM no home again.
  (void)host.finish(placed.orders[0], ActionState::kUndone, "cancelled");
  EXPECT_EQ(host.home(1), -1);
}

TEST(ReleaseTest, AVmThatLibvirtHasNotToldThePinsOfYetIsPinnedAsItWasFound) {
  HostStory host(2, Mode::kActive);
  host.start(small_vm(1, "web1", 2), 0, 60);
  (void)host.report_domains();
  (void)host.epoch();
  const Effects placed = host.epoch();
  ASSERT_THAT(placed.orders, SizeIs(1));
  migration::ActionEvent pinned{.kind = migration::ActionEvent::Kind::kPinned,
                                .action = placed.orders[0].action,
                                .vms = {vm_id(1)},
                                .state = {},
                                .detail = {},
                                .outcome = {},
                                .took = {}};
  (void)host.recorder().pass(host.controller(), balancer::ActionProgressed{std::move(pinned)});
  const Effects effects = give(host, ReleaseRequest{"web1"});
  ASSERT_THAT(effects.orders, SizeIs(1));
  const std::vector<PinChange>& pins = effects.orders[0].changes.at(0).pins;
  ASSERT_THAT(pins, SizeIs(3));  // two vCPUs and the emulator
  for (const PinChange& pin : pins) {
    EXPECT_THAT(pin.after, IsEmpty());
  }
}

TEST(ReleaseTest, AVmThatCouldNotBeRestoredIsManagedOn) {
  HostStory host = two_placed();
  const Effects effects = give(host, ReleaseRequest{"web1"});
  const Effects after = host.finish(effects.orders.at(0), ActionState::kUndone, "no");
  EXPECT_THAT(after.released.value(), IsEmpty());
  const Effects again = give(host, ReleaseRequest{"web1"});
  EXPECT_THAT(again.orders, SizeIs(1));
}

TEST(ReleaseTest, IsRefusedWhereNothingIsChanged) {
  HostStory dry(2, Mode::kDryRun);
  dry.start(small_vm(1, "web1", 2), 0, 60);
  (void)dry.report_domains();
  (void)dry.epoch();
  EXPECT_EQ(message_of(give(dry, ReleaseRequest{"wbe1"})),
            "there is no running VM 'wbe1'; did you mean 'web1'?");
  EXPECT_EQ(message_of(give(dry, ReleaseRequest{"web1"})),
            "the daemon is in mode dry-run, no pin is changed");
  EXPECT_EQ(message_of(give(dry, ReleaseRequest{})),
            "the daemon is in mode dry-run, no pin is changed");
  HostStory host = two_placed();
  EXPECT_EQ(message_of(give(host, ReleaseRequest{"web3"})),
            "there is no running VM 'web3'; did you mean 'web1'?");
  host.carry_out(give(host, ReleaseRequest{"web1"}));
  EXPECT_EQ(message_of(give(host, ReleaseRequest{"web1"})), "VM 'web1' is released already");
  (void)give(host, balancer::PauseRequest{});
  EXPECT_EQ(message_of(give(host, ReleaseRequest{"web2"})),
            "the daemon is in mode paused, no pin is changed");
}

/// Of an epoch: an order that changes nothing but the set of memory nodes.
std::optional<migration::VmChange> set_order(const Effects& effects) {
  for (const migration::Order& order : effects.orders) {
    const migration::VmChange& change = order.changes.at(0);
    if (change.pins.empty() && !change.memory.allowed_after.empty()) {
      return change;
    }
  }
  return std::nullopt;
}

TEST(ReleaseTest, AMaskedVmIsLimitedToWhatWasFoundOnceItsMemoryIsThere) {
  HostStory host(2, Mode::kActive);
  host.start(small_vm(1, "web1", 2), 1, 60);
  host.set_memory_nodes(1, {NodeId{1}});
  host.set_own_policy(1, {{"memory_mode", "mask"}, {"nodes", "0"}});
  (void)host.report_domains();
  (void)host.epoch();
  host.carry_out(host.epoch());
  ASSERT_THAT(host.memory_nodes(1), ElementsAre(NodeId{0}));
  (void)host.epoch();
  const Effects effects = give(host, ReleaseRequest{"web1"});
  EXPECT_THAT(message_of(effects), HasSubstr("its memory is moved back to nodes 1"));
  ASSERT_THAT(effects.orders, SizeIs(1));
  const migration::MemoryChange& memory = effects.orders[0].changes.at(0).memory;
  EXPECT_THAT(memory.quotas, ElementsAre(migration::NodeQuota{NodeId{1}, kVmMemory}));
  EXPECT_THAT(memory.allowed_before, ElementsAre(NodeId{0}));
  EXPECT_THAT(memory.allowed_after, ElementsAre(NodeId{1}));
}

TEST(ReleaseTest, ASetOfMemoryNodesThatIsStillToBeRestoredIsSaidOnceAndInStatus) {
  HostStory host = two_placed();
  const Effects released = give(host, ReleaseRequest{"web1"});
  ASSERT_THAT(released.orders, SizeIs(1));
  migration::TransferProgress transfer;
  transfer.vm = vm_id(1);
  transfer.action = released.orders[0].action;
  const auto report = [&] {
    return host.recorder().pass(host.controller(), balancer::TransfersReported{{transfer}}).log;
  };
  EXPECT_THAT(report(), IsEmpty());
  transfer.problem = "its set of memory nodes could not be narrowed: no answer";
  const auto log = report();
  ASSERT_THAT(log, SizeIs(1));
  EXPECT_EQ(log[0].severity, balancer::Severity::kWarning);
  EXPECT_THAT(log[0].message, HasSubstr("for VM 'web1' stays open: " + transfer.problem));
  EXPECT_THAT(report(), IsEmpty());
  const auto answer = give(host, balancer::StatusRequest{}).replies.at(0).answer;
  const auto& shown = std::get<balancer::StatusView>(*answer).transfers.at(0);
  EXPECT_EQ(shown.state, "waiting");
  EXPECT_EQ(shown.problem, transfer.problem);
  migration::ActionEvent end{.kind = migration::ActionEvent::Kind::kFinished,
                             .action = transfer.action,
                             .vms = {vm_id(1)},
                             .state = ActionState::kDone,
                             .detail = transfer.problem,
                             .outcome = {},
                             .took = {},
                             .set_failed = true};
  const Effects ended =
      host.recorder().pass(host.controller(), balancer::ActionProgressed{std::move(end)});
  ASSERT_THAT(ended.log, SizeIs(1));
  EXPECT_EQ(ended.log[0].severity, balancer::Severity::kWarning);
}

/// A VM of mode mask that was found free and has its home on node 0.
HostStory one_masked() {
  HostStory host(2, Mode::kActive);
  host.start(small_vm(1, "web1", 2), 0, 60);
  host.set_own_policy(1, {{"memory_mode", "mask"}, {"nodes", "0"}});
  (void)host.report_domains();
  (void)host.epoch();
  host.carry_out(host.epoch());
  return host;
}

TEST(MaskTest, AVmThatIsMaskedNoLongerMayUseTheNodesThatItCouldUseBefore) {
  for (const char* mode : {"soft", "hands-off"}) {
    HostStory host = one_masked();
    ASSERT_THAT(host.memory_nodes(1), ElementsAre(NodeId{0}));
    EXPECT_EQ(set_order(host.epoch()), std::nullopt);
    host.set_own_policy(1, {{"memory_mode", mode}});
    (void)host.report_domains();
    const Effects effects = host.epoch();
    const auto change = set_order(effects);
    ASSERT_TRUE(change) << mode;
    EXPECT_THAT(change->memory.allowed_before, ElementsAre(NodeId{0}));
    EXPECT_THAT(change->memory.allowed_after, ElementsAre(NodeId{0}, NodeId{1}));
    EXPECT_THAT(change->memory.quotas, IsEmpty());
    host.carry_out(effects);
    for (int epoch = 0; epoch < 100; ++epoch) {
      EXPECT_EQ(set_order(host.epoch()), std::nullopt) << "epoch " << epoch;
    }
  }
}

TEST(MaskTest, ASetThatCannotBeWidenedIsTriedThreeTimes) {
  HostStory host = one_masked();
  host.set_own_policy(1, {{"memory_mode", "soft"}});
  (void)host.report_domains();
  int tries = 0;
  for (int epoch = 0; epoch < 200; ++epoch) {
    const Effects effects = host.epoch();
    if (set_order(effects)) {
      ++tries;
      (void)host.finish(effects.orders.at(0), ActionState::kDone, "it could not be widened");
    }
  }
  EXPECT_EQ(tries, 3);
}

TEST(MaskTest, ASetThatWasWidenedForAHomeElsewhereStaysSo) {
  // libvirt was advised to start it on node 1, and it has its home on node 0.
  HostStory host(2, Mode::kActive);
  VmDescription vm = small_vm(1, "web1", 2);
  vm.numatune = NumatuneMode::kRestrictive;
  vm.numatune_auto = true;
  vm.numatune_nodes = {NodeId{1}};
  host.start(vm, 1, 60);
  host.set_own_policy(1, {{"nodes", "0"}});
  (void)host.report_domains();
  (void)host.epoch();
  host.carry_out(host.epoch());
  ASSERT_THAT(host.memory_nodes(1), ElementsAre(NodeId{0}, NodeId{1}));
  for (int epoch = 0; epoch < 50; ++epoch) {
    EXPECT_EQ(set_order(host.epoch()), std::nullopt) << "epoch " << epoch;
  }
}

TEST(ReleaseTest, AtTheEndAllAreRestoredIfAskedFor) {
  HostStory host = two_placed();
  EXPECT_THAT(host.controller().on(balancer::Stopping{false}).orders, IsEmpty());
  (void)give(host, balancer::PauseRequest{});
  const Effects effects = host.controller().on(balancer::Stopping{true});
  EXPECT_THAT(effects.orders, SizeIs(2));
  EXPECT_EQ(effects.pause_transfers, false);
  EXPECT_FALSE(effects.released);  // after the next start they are managed again
  HostStory dry(2, Mode::kDryRun);
  dry.start(small_vm(1, "web1", 2), 0, 60);
  (void)dry.report_domains();
  (void)dry.epoch();
  EXPECT_THAT(dry.controller().on(balancer::Stopping{true}).orders, IsEmpty());
}

// ---- what was found ----

migration::Order order_for(const VmProcess& process, const Cpus& before, const Cpus& after) {
  migration::Order order;
  order.changes.push_back({});
  order.changes[0].vm = vm_id(1);
  order.changes[0].process = process;
  order.changes[0].pins = {{PinChange::Thread::kVcpu, 0, before, after}};
  return order;
}

constexpr VmProcess kProcess{1001, 1};
/// Its memory is on node 0.
const VmSample kNow{.id = vm_id(1),
                    .process = kProcess,
                    .vcpus = {},
                    .memory = std::vector<Bytes>{kVmMemory, {}},
                    .cell_memory = {},
                    .memory_state = {}};

Cpus cpus_restored_from(const Originals& originals, const Cpus& now) {
  VmDescription vm = small_vm(1, "web1", 1);
  vm.vcpu_pins = {{0, now}};
  const auto original = originals.find(vm.id);
  const auto change = change_to_original(
      vm, kNow, original == originals.end() ? nullptr : &original->second, small_host(2));
  return change.pins.empty() ? Cpus{CpuId{-1}} : change.pins[0].after;
}
const Cpus kStays{CpuId{-1}};

TEST(OriginalsTest, TheFirstOrderOfAProcessTellsWhatWasFound) {
  Originals originals;
  record_order(originals, order_for(kProcess, {CpuId{3}}, node_cpus(0)));
  record_order(originals, order_for(kProcess, node_cpus(0), node_cpus(1)));
  // libvirt may tell late, so the one before last counts as ours, too.
  record_order(originals, order_for(kProcess, node_cpus(0), node_cpus(1)));
  EXPECT_EQ(cpus_restored_from(originals, node_cpus(1)), Cpus{CpuId{3}});
  EXPECT_EQ(cpus_restored_from(originals, node_cpus(0)), Cpus{CpuId{3}});
}

TEST(OriginalsTest, PinsThatOthersMadeStay) {
  Originals originals;
  record_order(originals, order_for(kProcess, {}, node_cpus(0)));
  EXPECT_EQ(cpus_restored_from(originals, {CpuId{2}}), kStays);
  // Others pinned it, and then it was moved again.
  record_order(originals, order_for(kProcess, {CpuId{2}}, node_cpus(1)));
  EXPECT_EQ(cpus_restored_from(originals, node_cpus(1)), Cpus{CpuId{2}});
}

TEST(OriginalsTest, AnotherProcessStartsAnew) {
  Originals originals;
  record_order(originals, order_for({1000, 1}, {CpuId{3}}, node_cpus(0)));
  record_order(originals, order_for(kProcess, {}, node_cpus(0)));
  EXPECT_EQ(cpus_restored_from(originals, node_cpus(0)), Cpus{});
  EXPECT_EQ(originals.at(vm_id(1)).process, kProcess);
}

TEST(OriginalsTest, AMaskIsTakenBackToTheNodesThatWereFound) {
  migration::Order order = order_for(kProcess, {}, node_cpus(0));
  migration::VmChange& change = order.changes[0];
  change.memory_mode = MemoryMode::kMask;
  change.memory.quotas = {{NodeId{0}, kVmMemory}};
  change.memory.allowed_before = {NodeId{1}};
  Originals originals;
  record_order(originals, order);
  change.memory.allowed_before = {NodeId{0}};
  record_order(originals, order);
  VmDescription vm = small_vm(1, "web1", 1);
  vm.policy.memory_mode = MemoryMode::kMask;
  vm.numatune_nodes = {NodeId{0}};
  EXPECT_THAT(
      change_to_original(vm, kNow, &originals.at(vm.id), small_host(2)).memory.allowed_after,
      ElementsAre(NodeId{1}));
  originals.at(vm.id).memory_nodes->push_back(NodeId{9});  // gone by now
  EXPECT_THAT(
      change_to_original(vm, kNow, &originals.at(vm.id), small_host(2)).memory.allowed_after,
      ElementsAre(NodeId{1}));
  originals.at(vm.id).memory_nodes->clear();
  EXPECT_THAT(
      change_to_original(vm, kNow, &originals.at(vm.id), small_host(2)).memory.allowed_after,
      ElementsAre(NodeId{0}, NodeId{1}));
}

TEST(OriginalsTest, WhatWasNeverChangedIsForgotten) {
  migration::Order order = order_for(kProcess, {}, node_cpus(0));
  order.changes[0].memory_mode = MemoryMode::kMask;
  order.changes[0].memory.quotas = {{NodeId{0}, kVmMemory}};
  Original original;
  (void)record_change(original, order.changes[0]);
  const Original before = original;
  order = order_for(kProcess, node_cpus(0), node_cpus(1));
  order.changes[0].memory_mode = MemoryMode::kMask;
  order.changes[0].memory.quotas = {{NodeId{1}, kVmMemory}};
  const balancer::FirstChanges changes = record_change(original, order.changes[0]);
  EXPECT_NE(original, before);
  forget_pins(original, changes);
  forget_memory_nodes(original, changes);  // were changed before
  EXPECT_EQ(original, before);
}

TEST(OriginalsTest, AMemoryModeThatNeverTookEffectIsForgotten) {
  migration::Order order = order_for(kProcess, {}, node_cpus(0));
  order.changes[0].memory_mode = MemoryMode::kMask;
  order.changes[0].memory.quotas = {{NodeId{0}, kVmMemory}};
  Original original;
  const balancer::FirstChanges changes = record_change(original, order.changes[0]);
  EXPECT_TRUE(original.memory_nodes);
  forget_memory_nodes(original, changes);
  EXPECT_FALSE(original.memory_nodes);
}

TEST(OriginalsTest, AWidenedSetIsTakenBackToWhatLibvirtWasAdvised) {
  migration::Order order = order_for(kProcess, {}, node_cpus(0));
  migration::VmChange& change = order.changes[0];
  change.memory.quotas = {{NodeId{0}, kVmMemory}};
  change.memory.allowed_before = {NodeId{1}};
  change.memory.allowed_after = {NodeId{0}, NodeId{1}};
  Originals originals;
  record_order(originals, order);
  EXPECT_THAT(
      change_to_original(small_vm(1, "web1", 1), kNow, &originals.at(vm_id(1)), small_host(2))
          .memory.allowed_after,
      ElementsAre(NodeId{1}));
}

/// A VM whose set of nodes was `found` and is `now`, with an order of ours between the two.
migration::MemoryChange memory_change_to_original(std::vector<NodeId> found,
                                                  std::vector<NodeId> now, MemoryMode mode) {
  Original original{kProcess, {}, {}};
  original.memory_nodes = std::move(found);
  VmDescription vm = small_vm(1, "web1", 1);
  vm.policy.memory_mode = mode;
  vm.numatune_nodes = std::move(now);
  return change_to_original(vm, kNow, &original, small_host(3)).memory;
}
constexpr NodeId k0{0};
constexpr NodeId k1{1};
constexpr NodeId k2{2};

TEST(OriginalsTest, ASmallerSetIsTakenBackWithTheMemoryOutsideIt) {
  const auto memory = memory_change_to_original({k1, k2}, {k0}, MemoryMode::kMask);
  EXPECT_THAT(memory.allowed_before, ElementsAre(k0));
  EXPECT_THAT(memory.allowed_after, ElementsAre(k1, k2));
  EXPECT_THAT(memory.quotas, ElementsAre(migration::NodeQuota{k1, kVmMemory / 2},
                                         migration::NodeQuota{k2, kVmMemory / 2}));
}

TEST(OriginalsTest, ALargerSetIsTakenBackAndNoMemoryMoves) {
  const auto memory = memory_change_to_original({k0, k1}, {k0}, MemoryMode::kMask);
  EXPECT_THAT(memory.allowed_after, ElementsAre(k0, k1));
  EXPECT_THAT(memory.quotas, IsEmpty());
}

TEST(OriginalsTest, ASetAsItWasFoundStays) {
  EXPECT_EQ(memory_change_to_original({k1}, {k1}, MemoryMode::kMask), migration::MemoryChange{});
  EXPECT_EQ(memory_change_to_original({}, {}, MemoryMode::kMask), migration::MemoryChange{});
}

TEST(OriginalsTest, WhereMemoryMayNotBeMovedTheSetIsOnlyMadeLarger) {
  const auto memory = memory_change_to_original({k1}, {k0}, MemoryMode::kHandsOff);
  EXPECT_THAT(memory.allowed_after, ElementsAre(k0, k1));
  EXPECT_THAT(memory.quotas, IsEmpty());
}

TEST(OriginalsTest, AllThreadsAreTakenBackInTheOrderOfPins) {
  Originals originals;
  migration::Order order = order_for(kProcess, {}, node_cpus(0));
  order.changes[0].pins = {{PinChange::Thread::kIoThread, 1, {}, node_cpus(0)},
                           {PinChange::Thread::kEmulator, 0, {}, node_cpus(0)},
                           {PinChange::Thread::kVcpu, 0, {}, node_cpus(0)}};
  record_order(originals, order);
  VmDescription vm = small_vm(1, "web1", 1);
  vm.vcpu_pins = {{0, node_cpus(0)}};
  vm.emulator_pin = node_cpus(0);
  vm.io_threads = {1};
  vm.io_thread_pins = {{1, node_cpus(0)}};
  const auto change = change_to_original(vm, kNow, &originals.at(vm.id), small_host(2));
  ASSERT_THAT(change.pins, SizeIs(3));
  EXPECT_EQ(change.pins[0].thread, PinChange::Thread::kVcpu);
  EXPECT_EQ(change.pins[1].thread, PinChange::Thread::kEmulator);
  EXPECT_EQ(change.pins[2].thread, PinChange::Thread::kIoThread);
}

TEST(ReleaseTest, AReleaseLastsWhileTheVmCannotBeReadAfterARestart) {
  HostStory host(2, Mode::kActive, [](balancer::ControllerSetup& setup) {
    setup.released = {{vm_id(1), {1001, 1}}};
  });
  EXPECT_FALSE(host.controller().on(balancer::DomainsChanged{{}, {vm_id(1)}}).released);
  EXPECT_FALSE(host.epoch().released);
  host.start(small_vm(1, "web1", 2), 0, 100);
  EXPECT_FALSE(host.report_domains().released);
  for (int epoch = 0; epoch < 5; ++epoch) {
    host.carry_out(host.epoch());
  }
  EXPECT_EQ(host.home(1), -1);
}

TEST(ReleaseTest, AReleaseLastsWhileLibvirtDoesNotAnswerAfterARestart) {
  HostStory host(2, Mode::kActive, [](balancer::ControllerSetup& setup) {
    setup.released = {{vm_id(1), {1001, 1}}};
  });
  host.start(small_vm(1, "web1", 2), 0, 100);
  for (int epoch = 0; epoch < 3; ++epoch) {
    EXPECT_FALSE(host.epoch().released);
  }
  EXPECT_FALSE(host.report_domains().released);
  for (int epoch = 0; epoch < 5; ++epoch) {
    const Effects effects = host.epoch();
    EXPECT_FALSE(effects.released);
    EXPECT_THAT(effects.orders, IsEmpty());
  }
}

}  // namespace
}  // namespace vmnuma::tests
