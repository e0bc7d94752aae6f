// SPDX-License-Identifier: Apache-2.0
/// The oracles notice what they are there to notice, and nothing else.
#include "tools/sim/checks/oracles.h"

#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "balancer/controller/orders.h"
#include "tests/sim/scenarios.h"

namespace vmnuma::tools {
namespace {

using migration::ActionEvent;
using migration::Order;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Thread = migration::ThreadId::Kind;

class OraclesTest : public testing::Test {
 protected:
  OraclesTest() {
    scenario_.epochs = 90;
    scenario_.host = small_host(3);
    scenario_.host.nodes[2].memory = Bytes{};
    ScenarioVm vm = busy_vm("web", 2, 50);
    vm.pinned_on = {NodeId{0}};
    vm.policy.nodes = {NodeId{0}, NodeId{1}};
    scenario_.vms = {vm};
    make();
  }
  void make() {
    host_ = std::make_unique<SimHost>(scenario_.host, 1, false, clock_);
    daemon_ = std::make_unique<SimDaemon>(scenario_.options, scenario_.strategy, *host_, clock_);
    oracles_ = std::make_unique<Oracles>(scenario_);
    vm_ = host_->start(scenario_.vms[0]);
    daemon_->start(Microseconds{});
  }
  Order order(std::int64_t action, Reason reason, std::int32_t from, std::int32_t to) const {
    Order order;
    order.action = action;
    order.reason = reason;
    migration::VmChange change;
    change.vm = vm_;
    change.vm_name = "web";
    change.homes = {{0, NodeId{from}, NodeId{to}}};
    order.changes = {change};
    return order;
  }
  /// The first CPU of each of these nodes.
  [[nodiscard]] std::vector<CpuId> first_cpus(std::initializer_list<NodeIndex> nodes) const {
    std::vector<CpuId> cpus;
    for (const NodeIndex node : nodes) {
      cpus.push_back(host_->topology().nodes[node].cpus.front().id);
    }
    return cpus;
  }
  void give(std::int64_t epoch, const Order& order) { oracles_->order_given(epoch, order, *host_); }
  void end(std::int64_t action, migration::ActionState state = migration::ActionState::kDone) {
    ActionEvent event;
    event.kind = ActionEvent::Kind::kFinished;
    event.action = action;
    event.state = state;
    oracles_->action_told(event);
  }
  [[nodiscard]] PageMove pages(std::int64_t at_us, Bytes moved, Bytes free) const {
    return {Microseconds{at_us}, vm_, NodeId{1}, moved, free};
  }
  [[nodiscard]] const std::vector<std::string>& violations() const {
    return oracles_->violations();
  }

  Scenario scenario_;
  Microseconds clock_;
  std::unique_ptr<SimHost> host_;
  std::unique_ptr<SimDaemon> daemon_;
  std::unique_ptr<Oracles> oracles_;
  VmId vm_;
};

TEST_F(OraclesTest, AnOrdinaryMoveIsNoViolation) {
  give(3, order(1, Reason::kLoadMove, 0, 1));
  end(1);
  give(60, order(2, Reason::kLoadMove, 1, 0));
  end(2);
  EXPECT_THAT(violations(), IsEmpty());
}

TEST_F(OraclesTest, ANodeThatCannotBeAHomeIsNoticed) {
  give(3, order(1, Reason::kInitialPlacement, -1, 2));
  EXPECT_THAT(violations(), Contains(HasSubstr("epoch 3: action 1 (initial-placement) moves "
                                               "'web'/0 to node 2, which cannot be a home")));
  EXPECT_THAT(violations(), Contains(HasSubstr("which its VM may not use")));
}

TEST_F(OraclesTest, AThreadThatMayRunOnANodeThatItsVmMayNotUseIsNoticedButWhereItWasFound) {
  scenario_.host = small_host(3);
  scenario_.vms[0].policy.nodes = {NodeId{1}};
  make();
  Order found = order(1, Reason::kCpuAssignment, 0, 0);
  found.changes[0].pins = {{migration::PinChange::Thread::kVcpu, 1, {}, first_cpus({0})}};
  give(3, found);
  EXPECT_THAT(violations(), IsEmpty());
  Order spill = order(2, Reason::kSpill, 1, 1);
  spill.changes[0].pins = {{migration::PinChange::Thread::kVcpu, 1, {}, first_cpus({1, 2})}};
  give(4, spill);
  EXPECT_THAT(violations(), ElementsAre("epoch 4: action 2 (spill) lets vCPU 1 of 'web' run on "
                                        "node 2, which its VM may not use"));
}

TEST_F(OraclesTest, AMoveTooSoonIsNoticedUnlessTheAdministratorWantsIt) {
  give(3, order(1, Reason::kInitialPlacement, -1, 0));
  end(1);
  give(5, order(2, Reason::kLoadMove, 0, 1));
  end(2);
  EXPECT_THAT(violations(), ElementsAre(HasSubstr("after 2 epochs, sooner than Numa.Residency")));
  give(6, order(3, Reason::kAdministrator, 1, 0));
  EXPECT_EQ(violations().size(), 1U);
}

TEST_F(OraclesTest, AReturnTooSoonIsNoticed) {
  give(10, order(1, Reason::kLoadMove, 0, 1));
  end(1);
  give(20, order(2, Reason::kLoadMove, 1, 0));
  EXPECT_THAT(violations(), ElementsAre(HasSubstr("10 epochs ago, sooner than Numa.NoReturn")));
}

TEST_F(OraclesTest, AReturnAfterTheHostHadOneNodeIsNone) {
  give(10, order(1, Reason::kLoadMove, 0, 1));
  end(1);
  host_->set_online(NodeId{1}, false);
  host_->set_online(NodeId{2}, false);
  oracles_->epoch_ended(15, *host_, *daemon_);
  give(20, order(2, Reason::kLoadMove, 1, 0));
  EXPECT_THAT(violations(), IsEmpty());
}

TEST_F(OraclesTest, AMoveThatWasTakenBackDoesNotCount) {
  give(10, order(1, Reason::kLoadMove, 0, 1));
  end(1, migration::ActionState::kUndone);
  give(11, order(2, Reason::kLoadMove, 0, 1));
  EXPECT_THAT(violations(), IsEmpty());
}

TEST_F(OraclesTest, TooManyMovesInOneEpochAreNoticed) {
  for (std::int64_t action = 1; action <= kFewestMoves + 1; ++action) {
    Order one = order(action, Reason::kLoadMove, 0, 1);
    one.changes[0].vm.uuid[0] = static_cast<std::uint8_t>(action);  // of VMs that ended meanwhile
    give(3, one);
  }
  EXPECT_THAT(violations(), ElementsAre(HasSubstr("one more than may begin in one epoch")));
}

TEST_F(OraclesTest, EveryOrderEndsOnce) {
  give(3, order(1, Reason::kLoadMove, 0, 1));
  end(1);
  end(1);
  end(2);
  EXPECT_THAT(violations(), ElementsAre(HasSubstr("action 1 ended twice"),
                                        HasSubstr("action 2 ended without having been ordered")));
  give(30, order(3, Reason::kMemoryPull, 1, 1));
  oracles_->simulation_ended(*daemon_);
  EXPECT_THAT(violations(), Contains(HasSubstr("nothing reported how action 3 ended")));
}

TEST_F(OraclesTest, PagesMovedFasterThanAllowedAreNoticed) {
  // 256000 pages of 4 KiB are 1000 MiB a second.
  for (int tenth = 0; tenth < 100; ++tenth) {
    oracles_->pages_moved(pages(tenth * 100'000, kMiB * 96, kGiB * 4), *host_);
  }
  EXPECT_THAT(violations(), IsEmpty());
  for (int tenth = 100; tenth < 110; ++tenth) {
    oracles_->pages_moved(pages(tenth * 100'000, kMiB * 192, kGiB * 4), *host_);
  }
  EXPECT_THAT(violations(), Contains(HasSubstr("faster than 1048576000 bytes per second")));
}

TEST_F(OraclesTest, PagesMovedBelowTheReserveAreNoticed) {
  oracles_->pages_moved(pages(0, kMiB * 2, kMiB * 166), *host_);  // 2 % of 8 GiB are 163.8 MiB
  EXPECT_THAT(violations(), IsEmpty());
  oracles_->pages_moved(pages(0, kMiB * 2, kMiB * 164), *host_);
  EXPECT_THAT(violations(), ElementsAre(HasSubstr("below its reserve")));
}

TEST_F(OraclesTest, PagesThatMustStayAreNoticedWhenTheyMove) {
  scenario_.vms[0].numatune = NumatuneMode::kStrict;
  scenario_.vms[0].memory_on = {{NodeId{0}, kGiB}};
  make();
  oracles_->pages_moved(pages(0, kMiB * 2, kGiB * 4), *host_);
  EXPECT_THAT(violations(), ElementsAre(HasSubstr("numatune mode is strict")));
}

TEST_F(OraclesTest, AVmWhoseMaskNamesNoHomeMayRunWhereverItMayLive) {
  scenario_.host = small_host(3);
  scenario_.vms[0].policy.nodes = {NodeId{7}};
  make();
  Order spill = order(1, Reason::kSpill, 1, 1);
  spill.changes[0].pins = {{migration::PinChange::Thread::kVcpu, 1, {}, first_cpus({1, 2})}};
  give(4, spill);
  EXPECT_THAT(violations(), IsEmpty());
}

TEST_F(OraclesTest, PinsThatDisagreeWithTheHomeAreNoticed) {
  oracles_->epoch_ended(1, *host_, *daemon_);
  EXPECT_THAT(violations(), IsEmpty());
  const auto elsewhere = balancer::cpus_of(host_->topology().nodes[1]);
  ASSERT_TRUE(host_->libvirt().pin({vm_}, {Thread::kVcpu, 1}, elsewhere));
  oracles_->epoch_ended(2, *host_, *daemon_);
  EXPECT_THAT(violations(), ElementsAre(HasSubstr("pinned to different places")));
  ASSERT_TRUE(host_->libvirt().pin({vm_}, {Thread::kVcpu, 0}, elsewhere));
  oracles_->epoch_ended(3, *host_, *daemon_);
  EXPECT_THAT(violations(), Contains(HasSubstr("epoch 3: 'web'/0 has its home on node 0 and is "
                                               "pinned to CPUs '4-7'")));
}

TEST_F(OraclesTest, PinsAreMendedForLongerAfterARestartWhereTheyAreSlow) {
  ASSERT_TRUE(host_->libvirt().pin({vm_}, {Thread::kVcpu, 1},
                                   balancer::cpus_of(host_->topology().nodes[1])));
  scenario_.faults = {{.epoch = 3, .kind = FaultKind::kDaemonRestart, .epochs = 1},
                      {.epoch = 1, .kind = FaultKind::kSlowLibvirt, .epochs = 90}};
  oracles_->epoch_ended(43, *host_, *daemon_);
  EXPECT_THAT(violations(), IsEmpty());
  oracles_->epoch_ended(44, *host_, *daemon_);
  EXPECT_THAT(violations(), ElementsAre(HasSubstr("epoch 44")));
}

TEST_F(OraclesTest, PinsAreNotLookedAtWhileAnOrderIsUnderWay) {
  give(2, order(1, Reason::kLoadMove, 0, 1));
  ASSERT_TRUE(host_->libvirt().pin({vm_}, {Thread::kVcpu, 1},
                                   balancer::cpus_of(host_->topology().nodes[1])));
  oracles_->epoch_ended(2, *host_, *daemon_);
  EXPECT_THAT(violations(), IsEmpty());
}

TEST_F(OraclesTest, MovesWithoutEndUnderAStaticLoadAreNoticed) {
  give(80, order(1, Reason::kLoadMove, 0, 1));
  end(1);
  oracles_->simulation_ended(*daemon_);
  EXPECT_THAT(violations(), ElementsAre(HasSubstr("moves do not come to an end")));
}

TEST_F(OraclesTest, OtherCpusOfTheSameNodeAreNoMove) {
  scenario_.epochs = 9;
  give(3, order(1, Reason::kCpuAssignment, 0, 0));
  end(1);
  give(4, order(2, Reason::kLoadMove, 0, 1));
  EXPECT_THAT(violations(), IsEmpty());
}

TEST_F(OraclesTest, ALoadThatRepeatsNeverComesToRest) {
  scenario_.vms[0].load = {{0, 50}, {10, 90}};
  scenario_.vms[0].load_repeats = 20;
  give(80, order(1, Reason::kLoadMove, 0, 1));
  end(1);
  oracles_->simulation_ended(*daemon_);
  EXPECT_THAT(violations(), IsEmpty());
}

TEST_F(OraclesTest, WhatLiesBelowTheReserveIsCounted) {
  PageMove move = pages(0, kMiB * 100, kGiB);
  // 2 % of 8 GiB, in thousandths of the node.
  const Bytes reserve = kGiB * 8 / 1000 * 20;
  move.left = reserve;
  EXPECT_EQ(oracles_->below_reserve(move, *host_), Bytes{});
  move.left = reserve - kMiB * 40;
  EXPECT_EQ(oracles_->below_reserve(move, *host_), kMiB * 40);
  move.left = Bytes{};
  EXPECT_EQ(oracles_->below_reserve(move, *host_), kMiB * 100);
}

TEST_F(OraclesTest, TurnsAndMovesAfterAChangeOfLoadMayGoOn) {
  give(80, order(1, Reason::kLongTermMove, 0, 1));
  end(1);
  oracles_->simulation_ended(*daemon_);
  EXPECT_THAT(violations(), IsEmpty());

  scenario_.vms[0].load = {{0, 50}, {70, 90}};
  give(80, order(2, Reason::kLoadMove, 1, 2));
  EXPECT_THAT(violations(), testing::Not(Contains(HasSubstr("come to an end"))));
}

TEST_F(OraclesTest, WhatADeadDaemonHadNotWrittenDownNeverHappened) {
  give(3, order(1, Reason::kLoadMove, 0, 1));
  oracles_->daemon_stopped({});
  oracles_->simulation_ended(*daemon_);
  EXPECT_THAT(violations(), IsEmpty());
}

}  // namespace
}  // namespace vmnuma::tools
