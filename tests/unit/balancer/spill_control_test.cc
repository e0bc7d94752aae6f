// SPDX-License-Identifier: Apache-2.0
/// Spills as the controller orders them: pins to two nodes, and how they are found and end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "balancer/controller/controller.h"
#include "tests/unit/balancer/host_story.h"

namespace vmnuma::tests {
namespace {

using balancer::CommandReceived;
using balancer::Effects;
using balancer::ExplainRequest;
using balancer::ExplainView;
using balancer::Mode;
using balancer::Originals;
using balancer::ReleaseRequest;
using migration::Order;
using testing::AnyOf;
using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;
using testing::SizeIs;

/// Two VMs of two busy vCPUs on node 0 of three, which has two CPUs. Memory is full everywhere, so
/// that no VM can be moved; `fixed` may not be touched at all.
class SpillControlTest : public testing::Test {
 protected:
  SpillControlTest() : host_(3, Mode::kActive) { begin(host_, node_cpus(0)); }

  static void begin(HostStory& host, const std::vector<CpuId>& pins) {
    host.set_free({});
    host.start(small_vm(1, "web", 2), 0, 100);
    host.pin(1, pins);
    start_fixed(host);
  }
  static void start_fixed(HostStory& host) {
    VmDescription fixed = small_vm(2, "fixed", 2);
    fixed.own_policy = {{"do_not_move", "true"}};
    host.start(fixed, 0, 100);
    host.pin(2, node_cpus(0));
  }

  void epochs(HostStory& host, int count) {
    for (int i = 0; i < count; ++i) {
      record_homes(host.report_domains());
      const Effects effects = host.epoch();
      record_homes(effects);
      orders_.insert(orders_.end(), effects.orders.begin(), effects.orders.end());
      host.carry_out(effects);
    }
  }

  void record_homes(const Effects& effects) {
    for (const balancer::HomeDecided& home : effects.homes) {
      homes_[home.client] = home.home;
    }
  }

  /// What the daemon has written down so far of what it found.
  [[nodiscard]] Originals originals() const {
    Originals originals;
    for (const Order& order : orders_) {
      record_order(originals, order);
    }
    return originals;
  }
  /// A host on which another daemon starts, which knows that.
  [[nodiscard]] HostStory restarted(std::int32_t nodes, const Originals& originals) const {
    return {nodes, Mode::kActive, [&](balancer::ControllerSetup& setup) {
              setup.originals = originals;
              setup.remembered_homes = homes_;
            }};
  }

  /// An order for `web` that an earlier daemon left open has ended.
  static void end_order_left_open(HostStory& host, migration::ActionState state) {
    Order left_open;
    left_open.action = 99;
    left_open.changes.emplace_back().vm = vm_id(1);
    (void)host.finish(left_open, state, "the service ended");
  }
  /// Such an order was half made and is taken back.
  static void recover(HostStory& host, const std::vector<CpuId>& pins) {
    host.pin(1, pins);
    end_order_left_open(host, migration::ActionState::kUndone);
  }

  void calm_at_first() {
    host_.stop(2);
    host_.set_busy(1, 0);
    epochs(host_, 3);
    EXPECT_THAT(orders_, IsEmpty());
  }
  void hide_web_and_fill_its_home() {
    host_.hide(1);
    host_.set_busy(1, 100);
    start_fixed(host_);
  }

  ExplainView explain() {
    Effects effects = host_.controller().on(CommandReceived{7, ExplainRequest{"web"}});
    return std::get<ExplainView>(*effects.replies.at(0).answer);
  }

  HostStory host_;
  std::vector<Order> orders_;
  std::map<ClientId, NodeId> homes_;
};

/// What `web` is pinned to while it spills to the node.
std::vector<CpuId> spilled_to(std::int32_t node) {
  std::vector<CpuId> cpus = node_cpus(0);
  for (const CpuId cpu : node_cpus(node)) {
    cpus.push_back(cpu);
  }
  return cpus;
}

TEST_F(SpillControlTest, AClientThatSpillsIsPinnedToBothNodesAndKeepsItsHome) {
  epochs(host_, 6);
  ASSERT_THAT(orders_, SizeIs(1));
  EXPECT_EQ(orders_.front().reason, Reason::kSpill);
  ASSERT_THAT(orders_.front().changes, SizeIs(1));
  EXPECT_THAT(orders_.front().changes.front().homes,
              ElementsAre(migration::HomeChange{0, NodeId{0}, NodeId{0}, NodeId{1}}));
  EXPECT_THAT(orders_.front().changes.front().memory.quotas, IsEmpty());
  EXPECT_EQ(host_.pins(1), spilled_to(1));
  EXPECT_EQ(host_.home(1), 0);
}

TEST_F(SpillControlTest, PinsOfASpillDoNotCountAsExternal) {
  epochs(host_, 30);
  EXPECT_THAT(orders_, SizeIs(1));
  EXPECT_EQ(host_.pins(1), spilled_to(1));
}

TEST_F(SpillControlTest, ItEndsWhenTheHomeHasEnoughAgain) {
  epochs(host_, 6);
  ASSERT_EQ(host_.pins(1), spilled_to(1));
  host_.set_busy(2, 0);
  epochs(host_, 10);
  EXPECT_EQ(host_.pins(1), node_cpus(0));
  EXPECT_THAT(orders_, Each(Field(&Order::reason, Reason::kSpill)));
  EXPECT_THAT(orders_, SizeIs(2));
}

TEST_F(SpillControlTest, ExplainSaysWhereToAndWhatItSaves) {
  epochs(host_, 8);
  const balancer::ClientView client = explain().clients.at(0);
  EXPECT_EQ(client.spills_to, NodeId{1});
  EXPECT_GT(client.spill_saves_ms.value_or(0), 0);
  EXPECT_EQ(client.cpus, "0-3");
}

TEST_F(SpillControlTest, OneThatFailsLeavesThingsAsTheyWere) {
  bool failed = false;
  for (int i = 0; i < 4 && !failed; ++i) {
    (void)host_.report_domains();
    Effects effects = host_.epoch();
    if (!effects.orders.empty()) {
      (void)host_.finish(effects.orders.back(), migration::ActionState::kUndone, "no");
      failed = true;
    }
  }
  ASSERT_TRUE(failed);
  EXPECT_EQ(explain().clients.at(0).spills_to, NodeId{});
  EXPECT_THAT(host_.controller().cpu_subsets(), IsEmpty());
}

TEST_F(SpillControlTest, AfterARestartItIsKnown) {
  epochs(host_, 6);
  ASSERT_EQ(host_.pins(1), spilled_to(1));
  HostStory after = restarted(3, originals());
  begin(after, spilled_to(1));
  orders_.clear();
  epochs(after, 8);
  EXPECT_EQ(after.home(1), 0);
  EXPECT_EQ(after.pins(1), spilled_to(1));
  EXPECT_THAT(orders_, Each(Field(&Order::reason, Reason::kCpuAssignment)));  // its other threads
}

TEST_F(SpillControlTest, AVmWhoseMoveIsTakenBackAfterARestartIsNotPinnedByOthers) {
  epochs(host_, 6);
  ASSERT_EQ(host_.pins(1), spilled_to(1));
  // Its daemon had given it a home on node 2, and died before it was pinned there.
  for (auto& [client, home] : homes_) {
    home = client.vm == tests::vm_id(1) ? NodeId{2} : home;
  }
  HostStory after = restarted(3, originals());
  begin(after, spilled_to(1));
  orders_.clear();
  epochs(after, 8);
  EXPECT_EQ(after.home(1), 0);
  EXPECT_EQ(after.pins(1), spilled_to(1));
}

TEST_F(SpillControlTest, ASpillWhoseEndIsTakenBackAfterARestartGoesOn) {
  epochs(host_, 6);
  ASSERT_EQ(host_.pins(1), spilled_to(1));
  const Originals found = originals();
  for (const int nodes : {2, 3}) {  // of two it is pinned to all CPUs, as if not pinned
    HostStory after = restarted(nodes, found);
    begin(after, node_cpus(0));
    after.set_busy(2, 0);
    orders_.clear();
    epochs(after, 1);
    // Its daemon had died while it was pinned to its home again, which is undone by now.
    recover(after, spilled_to(1));
    epochs(after, 4);
    EXPECT_EQ(after.controller().cpu_subsets().size(), 1U) << nodes;
    epochs(after, 12);
    EXPECT_EQ(after.home(1), 0) << nodes;
    EXPECT_EQ(after.pins(1), node_cpus(0)) << nodes;
    EXPECT_THAT(orders_, Each(Field(&Order::reason, AnyOf(Reason::kSpill, Reason::kCpuAssignment))))
        << nodes;
  }
}

TEST_F(SpillControlTest, AVmWhoseSpillIsTakenBackAfterARestartIsNotPinnedByOthers) {
  const std::vector<CpuId> part = {CpuId{1}};
  epochs(host_, 6);
  ASSERT_EQ(host_.pins(1), spilled_to(1));
  Originals originals = this->originals();
  for (auto& [thread, pins] : originals.at(vm_id(1)).threads) {
    pins.ours.push_back(part);  // an order before that
  }
  HostStory after = restarted(3, originals);
  begin(after, spilled_to(1));
  orders_.clear();
  epochs(after, 1);
  recover(after, part);
  epochs(after, 12);
  EXPECT_EQ(after.home(1), 0);
  EXPECT_EQ(after.pins(1), spilled_to(1));  // it is managed, and spills anew
}

TEST_F(SpillControlTest, AVmIsLeftAloneWithoutHomesOnlyIfItsHalfMadePinsAreTakenBack) {
  epochs(host_, 6);
  for (const auto state : {migration::ActionState::kDone, migration::ActionState::kDropped,
                           migration::ActionState::kUndone}) {
    HostStory after = restarted(3, originals());
    begin(after, spilled_to(1));
    epochs(after, 1);
    end_order_left_open(after, state);
    const bool is_undone = state == migration::ActionState::kUndone;
    EXPECT_EQ(after.home(1), is_undone ? -1 : 0) << name_of(state);
    epochs(after, 1);
    const Effects effects = after.controller().on(CommandReceived{7, ExplainRequest{"web"}});
    const ExplainView view = std::get<ExplainView>(*effects.replies.at(0).answer);
    const std::string why =
        "it is left alone: an action that an earlier run of the daemon left unfinished has just "
        "been reverted";
    EXPECT_EQ(view.memory == why, is_undone) << view.memory;
    epochs(after, 4);
    EXPECT_EQ(after.home(1), 0) << name_of(state);
  }
}

TEST_F(SpillControlTest, AReleasedVmGetsBackWhatWasFound) {
  epochs(host_, 6);
  ASSERT_EQ(host_.pins(1), spilled_to(1));
  host_.carry_out(host_.controller().on(CommandReceived{7, ReleaseRequest{"web"}}));
  EXPECT_EQ(host_.pins(1), node_cpus(0));
}

TEST_F(SpillControlTest, AVmThatCannotBeReadSpills) {
  calm_at_first();
  hide_web_and_fill_its_home();
  epochs(host_, 12);
  ASSERT_THAT(orders_, SizeIs(1));
  EXPECT_EQ(orders_.front().reason, Reason::kSpill);
}

TEST_F(SpillControlTest, AVmThatCannotBeReadIsStillLeftAloneForAnyOtherReason) {
  calm_at_first();
  host_.pin(1, {CpuId{0}, CpuId{2}});  // by an administrator
  epochs(host_, 3);
  hide_web_and_fill_its_home();
  epochs(host_, 20);
  EXPECT_THAT(orders_, IsEmpty());
}

TEST_F(SpillControlTest, AVmThatCannotBeReadRestsAfterASpillThatFailed) {
  calm_at_first();
  hide_web_and_fill_its_home();
  int failed = 0;
  for (int i = 0; i < 20; ++i) {
    (void)host_.report_domains();
    const Effects effects = host_.epoch();
    for (const Order& order : effects.orders) {
      (void)host_.finish(order, migration::ActionState::kUndone, "no");
      ++failed;
    }
  }
  EXPECT_GE(failed, 1);
  EXPECT_LE(failed, 3);
}

TEST_F(SpillControlTest, NothingIsRememberedOfAVmThatEndsDuringItsOrder) {
  (void)host_.report_domains();
  Effects effects;
  for (int i = 0; i < 8 && effects.orders.empty(); ++i) {
    effects = host_.epoch();
  }
  ASSERT_THAT(effects.orders, SizeIs(1));
  const VmDescription web = small_vm(1, "web", 2);
  host_.stop(1);
  (void)host_.report_domains();
  (void)host_.finish(effects.orders.front(), migration::ActionState::kUndone, "it is gone");
  host_.start(web, 0, 100);
  host_.pin(1, node_cpus(0));
  epochs(host_, 8);
  ASSERT_FALSE(orders_.empty());  // it does not rest for what happened before
  EXPECT_EQ(orders_.front().reason, Reason::kSpill);
}

}  // namespace
}  // namespace vmnuma::tests
