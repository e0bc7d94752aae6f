// SPDX-License-Identifier: Apache-2.0
#include "balancer/controller/controller.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "placement/model/text.h"
#include "tests/unit/balancer/host_story.h"

namespace vmnuma::tests {
namespace {

using balancer::CommandReceived;
using balancer::Effects;
using balancer::Mode;
using migration::ActionState;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;
using testing::UnorderedElementsAre;

/// Four VMs of two busy vCPUs each, all memory on node 0 of four.
HostStory pile_up(Mode mode = Mode::kActive) {
  HostStory host(4, mode);
  for (std::uint8_t number = 1; number <= 4; ++number) {
    host.start(small_vm(number, "vm" + std::to_string(number), 2), /*memory_node=*/0,
               /*busy_pct=*/100);
  }
  return host;
}

template <class View>
View answer_of(HostStory& host, balancer::Command command) {
  Effects effects = host.controller().on(CommandReceived{7, std::move(command)});
  EXPECT_THAT(effects.replies, SizeIs(1));
  EXPECT_EQ(effects.replies.front().token, 7);
  EXPECT_TRUE(effects.replies.front().answer) << effects.replies.front().answer.error().message;
  return std::get<View>(*effects.replies.front().answer);
}

std::string error_of(HostStory& host, balancer::Command command) {
  Effects effects = host.controller().on(CommandReceived{7, std::move(command)});
  EXPECT_FALSE(effects.replies.front().answer);
  return effects.replies.front().answer ? "" : effects.replies.front().answer.error().message;
}

TEST(ControllerTest, PlacesVmsFoundRunningOnceTheyAreMeasured) {
  HostStory host = pile_up();
  EXPECT_TRUE(host.report_domains().orders.empty());
  EXPECT_THAT(host.epoch().orders, IsEmpty());  // one reading is no rate
  const Effects second = host.epoch();
  EXPECT_THAT(second.orders, SizeIs(4));
  for (const migration::Order& order : second.orders) {
    EXPECT_EQ(order.reason, Reason::kInitialPlacement);
  }
}

TEST(ControllerTest, WhatAPlacementBringsIsNotKnownBeforeAnythingIsMeasured) {
  HostStory host(2, Mode::kActive);
  (void)host.report_domains();
  host.start(small_vm(1, "early", 2), /*memory_node=*/0, /*busy_pct=*/100);
  (void)host.report_domains();
  const Effects first = host.epoch();
  ASSERT_THAT(first.orders, SizeIs(1));
  EXPECT_FALSE(first.orders[0].predicted.known);
  const auto plan = answer_of<balancer::PlanView>(host, balancer::PlanRequest{});
  ASSERT_THAT(plan.actions, SizeIs(1));
  EXPECT_EQ(plan.actions[0].predicted, balancer::PredictionView{});

  host.carry_out(first);
  host.start(small_vm(2, "late", 2), /*memory_node=*/0, /*busy_pct=*/100);
  (void)host.report_domains();
  const Effects second = host.epoch();
  ASSERT_THAT(second.orders, SizeIs(1));
  EXPECT_TRUE(second.orders[0].predicted.known);
}

TEST(ControllerTest, SpreadsAPileUpAndThenRests) {
  HostStory host = pile_up();
  (void)host.report_domains();
  (void)host.epoch();
  host.carry_out(host.epoch());
  EXPECT_EQ((std::set{host.home(1), host.home(2), host.home(3), host.home(4)}),
            (std::set{0, 1, 2, 3}));
  for (int epoch = 0; epoch < 30; ++epoch) {
    const Effects effects = host.epoch();
    EXPECT_THAT(effects.orders, IsEmpty()) << "epoch " << epoch;
  }
}

TEST(ControllerTest, OrdersNothingInDryRunButShowsWhatItWouldDo) {
  HostStory host = pile_up(Mode::kDryRun);
  (void)host.report_domains();
  (void)host.epoch();
  const Effects effects = host.epoch();
  EXPECT_THAT(effects.orders, IsEmpty());
  EXPECT_THAT(effects.log, Contains(Field(&balancer::LogLine::message, HasSubstr("would do"))));
  EXPECT_THAT(effects.log,
              Contains(Field(
                  &balancer::LogLine::fields,
                  UnorderedElementsAre(Pair("VM", "vm1"), Pair("REASON", "initial-placement")))));
  EXPECT_NE(host.home(1), -1);  // assumed
}

TEST(ControllerTest, SaysWhatItWouldDoOnlyOnce) {
  HostStory host = pile_up(Mode::kDryRun);
  (void)host.report_domains();
  (void)host.epoch();
  (void)host.epoch();
  for (int epoch = 0; epoch < 5; ++epoch) {
    (void)host.epoch();
  }
  EXPECT_THAT(host.epoch().log, IsEmpty());
}

TEST(ControllerTest, SaysOnlyOnceWhatIsDueInSomeEpochsOnlyAndShowsInTheOthersThatItWaits) {
  HostStory host(2, Mode::kDryRun,
                 [](balancer::ControllerSetup& setup) { setup.options.spill_enable = 0; });
  for (const std::uint8_t number : {std::uint8_t{1}, std::uint8_t{2}}) {
    host.start(small_vm(number, "vm" + std::to_string(number), 2), /*memory_node=*/0,
               /*busy_pct=*/100);
    host.pin(number, node_cpus(0));
  }
  (void)host.report_domains();
  int said = 0;
  int planned = 0;
  int waited = 0;
  for (int epoch = 0; epoch < 30; ++epoch) {
    for (const balancer::LogLine& line : host.epoch().log) {
      said += line.message.find("would do load-move") == std::string::npos ? 0 : 1;
    }
    const auto plan = answer_of<balancer::PlanView>(host, balancer::PlanRequest{});
    planned += plan.actions.empty() ? 0 : 1;
    waited += std::any_of(plan.rejections.begin(), plan.rejections.end(),
                          [](const balancer::RejectionView& rejection) {
                            return rejection.candidate.guard == "not-due";
                          })
                  ? 1
                  : 0;
  }
  EXPECT_EQ(said, 1);
  EXPECT_GE(planned, 10);
  EXPECT_GE(waited, 10);
}

TEST(ControllerTest, AdoptsAWholeNodeThatAVmWasFoundPinnedTo) {
  HostStory host(4, Mode::kActive);
  host.start(small_vm(1, "web1", 2), 2, 50);
  host.pin(1, node_cpus(2));
  (void)host.report_domains();
  EXPECT_EQ(host.home(1), 2);
  (void)host.epoch();
  EXPECT_THAT(host.epoch().orders, IsEmpty());
}

TEST(ControllerTest, LeavesAVmAloneThatIsPinnedToSomethingElse) {
  HostStory host(4, Mode::kActive);
  host.start(small_vm(1, "web1", 2), 0, 100);
  host.pin(1, {CpuId{0}, CpuId{2}});
  (void)host.report_domains();
  (void)host.epoch();
  EXPECT_THAT(host.epoch().orders, IsEmpty());
  const auto view = answer_of<balancer::ExplainView>(host, balancer::ExplainRequest{"web1"});
  EXPECT_THAT(view.memory, HasSubstr("pinned externally"));
}

TEST(ControllerTest, FindsAVmByItsUuidAlsoIfAnotherIsNamedLikeThat) {
  HostStory host(4, Mode::kObserve);
  host.start(small_vm(1, to_text(vm_id(2)), 2), 0, 50);
  host.start(small_vm(2, "victim", 2), 0, 50);
  (void)host.report_domains();
  (void)host.epoch();
  const auto view =
      answer_of<balancer::ExplainView>(host, balancer::ExplainRequest{to_text(vm_id(2))});
  EXPECT_EQ(view.vm, "victim");
}

TEST(ControllerTest, APolicyForAUuidIsNotThatOfAVmNamedLikeIt) {
  HostStory host(4, Mode::kObserve, [](balancer::ControllerSetup& setup) {
    setup.policies[to_text(vm_id(2))].do_not_move = true;
  });
  host.start(small_vm(1, to_text(vm_id(2)), 2), 0, 50);
  (void)host.report_domains();
  EXPECT_FALSE(host.controller().ledger().find(vm_id(1))->description.policy.do_not_move);
}

TEST(ControllerTest, TakesTheNodeThatOthersPinnedAVmToAsItsHome) {
  HostStory host(4, Mode::kActive);
  host.start(small_vm(1, "web1", 2), 1, 50);
  (void)host.report_domains();
  (void)host.epoch();
  host.carry_out(host.epoch());
  const std::int32_t other = (host.home(1) + 1) % 4;
  host.pin(1, node_cpus(other));
  (void)host.report_domains();
  for (int epoch = 0; epoch < 5; ++epoch) {
    host.carry_out(host.epoch());
  }
  EXPECT_EQ(host.home(1), other);
}

TEST(ControllerTest, PlacesAVmAnewAfterOthersRemovedItsPins) {
  HostStory host(4, Mode::kActive);
  host.start(small_vm(1, "web1", 2), 1, 50);
  (void)host.report_domains();
  (void)host.epoch();
  host.carry_out(host.epoch());
  host.pin(1, {});
  (void)host.report_domains();
  bool placed_again = false;
  for (int epoch = 0; epoch < 6; ++epoch) {
    const Effects effects = host.epoch();
    placed_again = placed_again || !effects.orders.empty();
    host.carry_out(effects);
  }
  EXPECT_TRUE(placed_again);
}

/// A VM with a home, where pins of others are repaired.
HostStory with_repairs() {
  HostStory host(4, Mode::kActive,
                 [](balancer::ControllerSetup& setup) { setup.repairs_pins = true; });
  host.start(small_vm(1, "web1", 2), 1, 50);
  (void)host.report_domains();
  (void)host.epoch();
  host.carry_out(host.epoch());
  return host;
}

void carry_out_for(HostStory& host, int epochs) {
  for (int epoch = 0; epoch < epochs; ++epoch) {
    (void)host.report_domains();
    host.carry_out(host.epoch());
  }
}

TEST(ControllerTest, PinsAVmHomeAgainWhereThatIsWantedUntilOthersInsist) {
  HostStory host = with_repairs();
  const std::int32_t home = host.home(1);
  const std::int32_t other = (home + 1) % 4;
  for (const auto& pins :
       {node_cpus(other), std::vector<CpuId>{}, std::vector{CpuId{0}, CpuId{2}}}) {
    host.pin(1, pins);
    carry_out_for(host, 8);
    EXPECT_EQ(host.home(1), home);
    EXPECT_EQ(host.pins(1), node_cpus(home));
  }
  host.pin(1, node_cpus(other));
  carry_out_for(host, 4);  // later it may go to its memory
  EXPECT_EQ(host.home(1), other);
  EXPECT_EQ(host.pins(1), node_cpus(other));
}

/// A VM of one vCPU with a home.
HostStory with_a_small_vm(bool repairs) {
  HostStory host(4, Mode::kActive,
                 [&](balancer::ControllerSetup& setup) { setup.repairs_pins = repairs; });
  host.start(small_vm(1, "web1", 1), 1, 50);
  carry_out_for(host, 6);
  return host;
}

TEST(ControllerTest, PinsAPluggedVcpuWhereItsVmIsAtHome) {
  for (const bool repairs : {true, false}) {
    HostStory host = with_a_small_vm(repairs);
    const std::int32_t home = host.home(1);
    host.plug_vcpu(1);
    EXPECT_FALSE(host.all_pinned(1));
    carry_out_for(host, 8);
    EXPECT_EQ(host.home(1), home);
    EXPECT_TRUE(host.all_pinned(1));
    EXPECT_EQ(host.pins(1), node_cpus(home));
  }
}

TEST(ControllerTest, PinsAPluggedVcpuOnlyWhenItMayAct) {
  HostStory host = with_a_small_vm(/*repairs=*/false);
  const std::int32_t home = host.home(1);
  (void)host.controller().on(CommandReceived{7, balancer::PauseRequest{}});
  host.plug_vcpu(1);
  carry_out_for(host, 8);
  EXPECT_FALSE(host.all_pinned(1));
  EXPECT_EQ(host.home(1), home);
  (void)host.controller().on(CommandReceived{7, balancer::ResumeRequest{}});
  carry_out_for(host, 8);
  EXPECT_TRUE(host.all_pinned(1));
}

TEST(ControllerTest, RepairsNoPinsWhilePausedNorThoseItFound) {
  HostStory host = with_repairs();
  const std::int32_t home = host.home(1);
  (void)host.controller().on(CommandReceived{7, balancer::PauseRequest{}});
  host.pin(1, node_cpus((home + 1) % 4));
  carry_out_for(host, 8);
  EXPECT_EQ(host.pins(1), node_cpus((home + 1) % 4));
  (void)host.controller().on(CommandReceived{7, balancer::ResumeRequest{}});
  carry_out_for(host, 8);
  EXPECT_EQ(host.pins(1), node_cpus(home));

  const std::vector found{CpuId{0}, CpuId{2}};
  host.start(small_vm(2, "web2", 2), 0, 50);
  host.pin(2, found);
  carry_out_for(host, 8);
  EXPECT_EQ(host.pins(2), found);
}

TEST(ControllerTest, GivesTheHomeBackAndRestsAfterAnUndoneOrder) {
  HostStory host(2, Mode::kActive);
  host.start(small_vm(1, "web1", 2), 0, 50);
  (void)host.report_domains();
  (void)host.epoch();
  const Effects effects = host.epoch();
  ASSERT_THAT(effects.orders, SizeIs(1));
  (void)host.finish(effects.orders.front(), ActionState::kUndone, "vCPU 1 could not be pinned");
  EXPECT_EQ(host.home(1), -1);
  int quiet = 0;
  while (host.epoch().orders.empty() && quiet < 100) {
    ++quiet;
  }
  EXPECT_GE(quiet, 3);
  EXPECT_LT(quiet, 20);
}

TEST(ControllerTest, RestsLongerWithEveryFailure) {
  HostStory host(2, Mode::kActive);
  host.start(small_vm(1, "web1", 2), 0, 50);
  (void)host.report_domains();
  (void)host.epoch();
  int last = 0;
  for (int failure = 0; failure < 3; ++failure) {
    int quiet = 0;
    Effects effects = host.epoch();
    while (effects.orders.empty() && quiet < 200) {
      ++quiet;
      effects = host.epoch();
    }
    ASSERT_THAT(effects.orders, SizeIs(1));
    (void)host.finish(effects.orders.front(), ActionState::kUndone, "no");
    EXPECT_TRUE(failure == 0 || quiet > last);
    last = quiet;
  }
}

TEST(ControllerTest, OrdersNothingWhileWhatCarriesOrdersOutIsGoneAndGoesOnAfterwards) {
  for (const std::string source : {"libvirt", "executor"}) {
    HostStory host = pile_up();
    (void)host.report_domains();
    (void)host.epoch();
    (void)host.controller().on(balancer::SourceChanged{source, "connection refused", 1});
    EXPECT_EQ(host.controller().mode(), Mode::kDegraded);
    EXPECT_THAT(host.epoch().orders, IsEmpty());
    const auto status = answer_of<balancer::StatusView>(host, balancer::StatusRequest{});
    ASSERT_THAT(status.degraded, SizeIs(1));
    EXPECT_EQ(status.degraded.front().source, source);
    (void)host.controller().on(balancer::SourceChanged{source, "", 2});
    EXPECT_THAT(host.epoch().orders, SizeIs(4));
  }
}

TEST(ControllerTest, ConcludesNothingFromPinsWhileLibvirtDoesNotTellThem) {
  HostStory host(2, Mode::kActive);
  host.start(small_vm(1, "web1", 2), 0, 50);
  (void)host.report_domains();
  (void)host.epoch();
  const Effects placed = host.epoch();
  ASSERT_THAT(placed.orders, SizeIs(1));
  const std::int32_t home = host.home(1);
  ASSERT_GE(home, 0);
  // It has been pinned there, and libvirt is gone before it tells so.
  host.set_memory(1, home);
  (void)host.finish(placed.orders.front(), ActionState::kDone, "as ordered");
  (void)host.controller().on(balancer::SourceChanged{"libvirt", "connection refused", 1});
  for (int epoch = 0; epoch < 10; ++epoch) {
    EXPECT_THAT(host.epoch().orders, IsEmpty());
    EXPECT_EQ(host.home(1), home) << epoch;
  }
  (void)host.controller().on(balancer::SourceChanged{"libvirt", "", 2});
  host.pin(1, node_cpus(home));
  (void)host.report_domains();
  carry_out_for(host, 8);
  EXPECT_EQ(host.home(1), home);
}

TEST(ControllerTest, PausesAndResumes) {
  HostStory host = pile_up();
  (void)host.report_domains();
  (void)host.epoch();
  (void)answer_of<balancer::DoneView>(host, balancer::PauseRequest{});
  EXPECT_EQ(host.controller().mode(), Mode::kPaused);
  EXPECT_THAT(host.epoch().orders, IsEmpty());
  (void)answer_of<balancer::DoneView>(host, balancer::ResumeRequest{});
  EXPECT_THAT(host.epoch().orders, SizeIs(4));
}

TEST(ControllerTest, PageMigrationRestsUnderMemoryPressureUntilItIsHalfTheLimit) {
  HostStory host = pile_up();
  (void)host.report_domains();
  const auto told = [&](std::optional<std::int64_t> permille) {
    if (permille) {
      host.set_memory_pressure(Permille{*permille});
    }
    return host.epoch().memory_pressure;
  };
  EXPECT_EQ(told(std::nullopt), std::nullopt);
  EXPECT_EQ(told(100), std::nullopt);
  EXPECT_EQ(told(101), true);
  EXPECT_EQ(told(300), std::nullopt);
  EXPECT_EQ(told(51), std::nullopt);
  EXPECT_EQ(told(50), false);
  EXPECT_EQ(told(60), std::nullopt);
}

TEST(ControllerTest, PageMigrationRestsWhileTasksHaveToFreeMemoryThemselves) {
  HostStory host = pile_up();
  (void)host.report_domains();
  const auto told = [&](std::optional<std::int64_t> reclaims) {
    host.set_direct_reclaims(reclaims);
    return host.epoch().memory_pressure;
  };
  // Epochs are 2 s long, and the limit is 50 a second.
  EXPECT_EQ(told(1'000'000), std::nullopt);  // no rate yet
  EXPECT_EQ(told(1'000'100), std::nullopt);
  EXPECT_EQ(told(1'000'202), true);
  EXPECT_EQ(told(1'000'254), std::nullopt);
  EXPECT_EQ(told(1'000'304), false);
  EXPECT_EQ(told(1'000'504), true);
  EXPECT_EQ(told(std::nullopt), false);
}

TEST(ControllerTest, NeverTouchesAVmItCannotRead) {
  HostStory host = pile_up();
  host.hide(3);
  (void)host.report_domains();
  (void)host.epoch();
  const Effects effects = host.epoch();
  EXPECT_THAT(effects.orders, SizeIs(3));
  for (const migration::Order& order : effects.orders) {
    EXPECT_NE(order.changes.front().vm, vm_id(3));
  }
}

TEST(ControllerTest, NumbersActionsOnFromTheHistory) {
  balancer::ControllerSetup setup;
  setup.mode = Mode::kActive;
  setup.topology = small_host(2);
  setup.last_action = 41;
  balancer::Controller controller(setup);
  (void)controller.on(balancer::DomainsChanged{});
  const auto vm = small_vm(1, "web1", 1);
  (void)controller.on(balancer::DomainsChanged{{vm}});
  Sample sample;
  sample.sequence = 1;
  sample.taken_at = {2'000'000};
  sample.nodes = {{NodeId{0}, kGiB / 2, kGiB}, {NodeId{1}, kGiB / 2, kGiB}};
  for (std::int32_t cpu = 0; cpu < 4; ++cpu) {
    sample.cpus.push_back({CpuId{cpu}, 0});
  }
  sample.vms = {{.id = vm.id, .process = {10, 1}, .vcpus = {{0, 11, 0, 0}}}};
  const Effects effects = controller.on(balancer::SampleTaken{sample, 0});
  ASSERT_THAT(effects.orders, SizeIs(1));
  EXPECT_EQ(effects.orders.front().action, 42);
}

TEST(ControllerTest, MovesByCommandAndRefusesWhatCannotBe) {
  HostStory host = pile_up();
  EXPECT_THAT(error_of(host, balancer::MoveRequest{"vm9", NodeId{1}, {}}),
              HasSubstr("no running VM 'vm9'"));
  (void)host.report_domains();
  (void)host.epoch();
  host.carry_out(host.epoch());
  (void)host.epoch();
  const std::int32_t here = host.home(1);
  EXPECT_THAT(error_of(host, balancer::MoveRequest{"vm1", NodeId{here}, {}}),
              HasSubstr("lives on node"));
  EXPECT_THAT(error_of(host, balancer::MoveRequest{"vm1", NodeId{9}, {}}),
              HasSubstr("cannot be a home"));
  Effects effects = host.controller().on(
      CommandReceived{1, balancer::MoveRequest{"vm1", NodeId{(here + 1) % 4}, {}}});
  ASSERT_THAT(effects.orders, SizeIs(1));
  EXPECT_EQ(effects.orders.front().reason, Reason::kAdministrator);
  EXPECT_EQ(host.home(1), (here + 1) % 4);
}

TEST(ControllerTest, AVmThatWasDividedAnewIsLeftAloneUntilTheNextEpoch) {
  HostStory host = pile_up();
  (void)host.report_domains();
  (void)host.epoch();
  host.carry_out(host.epoch());
  (void)host.epoch();
  const NodeId next{(host.home(1) + 1) % 4};
  host.set_own_policy(1, {{"max_per_client", "1"}});
  (void)host.report_domains();
  for (const std::optional<std::int32_t> client : {std::optional<std::int32_t>(), {0}, {1}}) {
    EXPECT_THAT(error_of(host, balancer::MoveRequest{"vm1", next, client}), Not(IsEmpty()));
  }
}

TEST(ControllerTest, ATransferIsShownWithTheClientThatMoves) {
  HostStory host(4, Mode::kActive);
  VmDescription vm = small_vm(1, "wide", 2);
  vm.own_policy = {{"max_per_client", "1"}};
  host.start(vm, 0, 50);
  for (int epoch = 0; epoch < 3; ++epoch) {
    (void)host.report_domains();
    host.carry_out(host.epoch());
  }
  migration::TransferProgress transfer;
  transfer.vm = vm_id(1);
  for (std::int32_t node = 0; node < 4 && transfer.action == 0; ++node) {
    const Effects effects =
        host.controller().on(CommandReceived{1, balancer::MoveRequest{"wide", NodeId{node}, {1}}});
    transfer.action = effects.orders.empty() ? 0 : effects.orders.front().action;
  }
  ASSERT_NE(transfer.action, 0);
  (void)host.controller().on(balancer::TransfersReported{{transfer}});
  const auto answer =
      host.controller().on(CommandReceived{2, balancer::StatusRequest{}}).replies.at(0).answer;
  EXPECT_EQ(std::get<balancer::StatusView>(*answer).transfers.at(0).client, 1);
}

TEST(ControllerTest, NoMoveByCommandBreaksAHardGroupOnItsWayBack) {
  HostStory host(4, Mode::kActive);
  for (const std::uint8_t number : {std::uint8_t{1}, std::uint8_t{2}}) {
    VmDescription vm = small_vm(number, "vm" + std::to_string(number), 1);
    vm.own_policy = {{"anti_affinity_group", "g"}, {"anti_affinity", "hard"}};
    host.start(vm, 0, 50);
  }
  const auto go_on = [&host] {
    for (int epoch = 0; epoch < 3; ++epoch) {
      (void)host.report_domains();
      host.carry_out(host.epoch());
    }
  };
  const auto move = [&host](const char* vm, std::int32_t node) {
    const Effects effects =
        host.controller().on(CommandReceived{1, balancer::MoveRequest{vm, NodeId{node}, {}}});
    host.carry_out(effects);
    return effects.orders.size() == 1;
  };
  go_on();
  const std::int32_t first = host.home(1);
  const std::int32_t second = host.home(2);
  ASSERT_NE(first, second);
  ASSERT_TRUE(
      move("vm1", first == 3 || second == 3 ? (first + second + 1) % 3 == first ? 2 : 1 : 3));
  go_on();
  ASSERT_TRUE(move("vm2", first));
  go_on();
  EXPECT_THAT(error_of(host, balancer::MoveRequest{"vm1", NodeId{first}, {}}),
              HasSubstr("may not live on node"));
}

TEST(ControllerTest, AVmThatWasStartedAnewBetweenTwoListingsHasEndedFirst) {
  HostStory host = pile_up();
  (void)host.report_domains();
  (void)host.epoch();
  host.carry_out(host.epoch());
  (void)host.epoch();
  const balancer::MoveRequest move{"vm1", NodeId{(host.home(1) + 1) % 4}, {}};
  host.carry_out(host.controller().on(CommandReceived{2, balancer::ReleaseRequest{"vm1"}}));
  EXPECT_THAT(error_of(host, move), HasSubstr("was released"));
  VmDescription again = small_vm(1, "vm1", 2);
  again.domain_id += 100;
  host.start(again, 0, 100);
  (void)host.report_domains();
  EXPECT_THAT(error_of(host, move), Not(HasSubstr("was released")));
}

TEST(ControllerTest, AnOrderForAVmThatHasEndedTakesNothingBackFromItsNextRun) {
  HostStory host(2, Mode::kActive);
  host.start(small_vm(1, "web1", 2), 0, 50);
  host.pin(1, node_cpus(0));
  (void)host.report_domains();
  (void)host.epoch();
  (void)host.epoch();
  ASSERT_EQ(host.home(1), 0);
  const Effects move =
      host.controller().on(CommandReceived{1, balancer::MoveRequest{"web1", NodeId{1}, {}}});
  ASSERT_THAT(move.orders, SizeIs(1));
  VmDescription again = small_vm(1, "web1", 2);
  again.domain_id += 100;
  host.start(again, 0, 50);
  (void)host.report_domains();
  (void)host.finish(move.orders.front(), ActionState::kDropped, "'web1' ended");
  EXPECT_EQ(host.home(1), -1);
  std::size_t placed = host.epoch().orders.size();
  placed += host.epoch().orders.size();
  EXPECT_EQ(placed, 1U);  // it does not rest
}

TEST(ControllerTest, WithoutAHistoryNothingIsOrdered) {
  HostStory host = pile_up();
  (void)host.controller().on(balancer::SourceChanged{"history", "the disk is full", 0});
  (void)host.report_domains();
  for (int epoch = 0; epoch < 5; ++epoch) {
    EXPECT_THAT(host.epoch().orders, IsEmpty()) << epoch;
  }
  (void)host.controller().on(balancer::SourceChanged{"history", "", 0});
  EXPECT_THAT(host.epoch().orders, SizeIs(4));
}

TEST(ControllerTest, OutsideOfModeActiveNoMemoryIsMoved) {
  HostStory host = pile_up();
  balancer::ConfigChanged config;
  config.mode = Mode::kObserve;
  EXPECT_EQ(host.controller().on(config).pause_transfers, true);
  EXPECT_EQ(host.controller().on(config).pause_transfers, std::nullopt);
  EXPECT_EQ(host.controller().on(CommandReceived{1, balancer::ResumeRequest{}}).pause_transfers,
            true);
  config.mode = Mode::kActive;
  EXPECT_EQ(host.controller().on(config).pause_transfers, false);
  (void)host.controller().on(CommandReceived{1, balancer::PauseRequest{}});
  config.mode = Mode::kDryRun;
  (void)host.controller().on(config);
  config.mode = Mode::kActive;
  EXPECT_EQ(host.controller().on(config).pause_transfers, true);
}

TEST(ControllerTest, CommandsDecideOnWhatWasOrderedSinceTheEpoch) {
  HostStory host = pile_up();
  (void)host.report_domains();
  (void)host.epoch();
  host.carry_out(host.epoch());
  (void)host.epoch();
  const std::int32_t here = host.home(1);
  const NodeId next{(here + 1) % 4};
  const Effects first =
      host.controller().on(CommandReceived{1, balancer::MoveRequest{"vm1", next, {}}});
  ASSERT_THAT(first.orders, SizeIs(1));
  EXPECT_THAT(error_of(host, balancer::MoveRequest{"vm1", NodeId{here}, {}}),
              HasSubstr("is being moved"));
  host.carry_out(host.controller().on(CommandReceived{2, balancer::ReleaseRequest{"vm2"}}));
  EXPECT_THAT(error_of(host, balancer::MoveRequest{"vm2", next, {}}), HasSubstr("was released"));
}

TEST(ControllerTest, APullThatGivesWayToAMoveTakesNothingBackAndIsNoFailure) {
  HostStory host(2, Mode::kActive);
  host.start(small_vm(1, "web", 2), /*memory_node=*/0, /*busy_pct=*/50);
  host.pin(1, node_cpus(0));
  host.start(small_vm(2, "busy", 2), /*memory_node=*/1, /*busy_pct=*/100);
  host.pin(2, node_cpus(1));
  (void)host.report_domains();
  for (int epoch = 0; epoch < 15; ++epoch) {
    host.carry_out(host.epoch());
  }
  ASSERT_EQ(host.home(1), 0);
  host.set_memory(1, 1);
  std::vector<migration::Order> pulls;
  for (int epoch = 0; epoch < 30 && pulls.empty(); ++epoch) {
    pulls = host.epoch().orders;
  }
  ASSERT_THAT(pulls, SizeIs(1));
  ASSERT_EQ(pulls.front().reason, Reason::kMemoryPull);
  const Effects move =
      host.controller().on(CommandReceived{1, balancer::MoveRequest{"web", NodeId{1}, {}}});
  ASSERT_THAT(move.orders, SizeIs(1));
  const Effects dropped =
      host.finish(pulls.front(), ActionState::kDropped, "superseded by action 2 before it began");
  EXPECT_THAT(dropped.log,
              ElementsAre(Field(&balancer::LogLine::severity, balancer::Severity::kNotice)));
  EXPECT_EQ(host.home(1), 1);
  // Its pins are as before until new ones are made, which must not count as external.
  (void)host.report_domains();
  (void)host.epoch();
  EXPECT_EQ(host.home(1), 1);
  host.carry_out(move);
  (void)host.report_domains();
  (void)host.epoch();
  EXPECT_EQ(host.home(1), 1);
  const auto view = answer_of<balancer::ExplainView>(host, balancer::ExplainRequest{"web"});
  EXPECT_THAT(view.memory, HasSubstr("are at home"));  // it does not rest
}

TEST(ControllerTest, MovesClientsTogetherOrNone) {
  using Move = balancer::MoveTogetherRequest::ClientMove;
  HostStory host = pile_up();
  (void)host.report_domains();
  (void)host.epoch();
  host.carry_out(host.epoch());
  (void)host.epoch();
  const NodeId first{host.home(1)};
  const NodeId second{host.home(2)};
  ASSERT_NE(first, second);
  const auto error = [&](std::vector<Move> moves) {
    return error_of(host, balancer::MoveTogetherRequest{std::move(moves)});
  };
  EXPECT_THAT(error({}), HasSubstr("1 to 4 clients"));
  EXPECT_THAT(error({{"vm1", 0, second, first}}), HasSubstr("lives on node"));
  EXPECT_THAT(error({{"vm1", 0, first, second}, {"vm2", 0, first, first}}),
              HasSubstr("does not live on node"));
  EXPECT_THAT(error({{"vm1", 0, second, second}}), HasSubstr("any more"));
  EXPECT_THAT(error({{"vm1", 0, first, second}, {"vm1", 0, first, second}}),
              HasSubstr("two nodes at once"));
  EXPECT_EQ(host.home(1), first.value);

  const Effects effects = host.controller().on(CommandReceived{
      1, balancer::MoveTogetherRequest{{{"vm1", 0, first, second}, {"vm2", 0, second, first}}}});
  ASSERT_THAT(effects.orders, SizeIs(1));
  EXPECT_EQ(effects.orders.front().reason, Reason::kAdministrator);
  EXPECT_THAT(effects.orders.front().changes, SizeIs(2));
  EXPECT_EQ(host.home(1), second.value);
  EXPECT_EQ(host.home(2), first.value);
}

TEST(ControllerTest, RefusesAMoveOutsideActiveModeForWhatIsWrongWithItFirst) {
  HostStory host = pile_up(Mode::kDryRun);
  (void)host.report_domains();
  for (int epoch = 0; epoch < 3; ++epoch) {
    (void)host.epoch();
  }
  const NodeId here{host.home(1)};
  const NodeId there{(here.value + 1) % 4};
  EXPECT_EQ(error_of(host, balancer::MoveRequest{"vm1", there, {}}),
            fmt::format("the daemon is in mode dry-run, nothing is moved; in mode active it would "
                        "move VM 'vm1' to node {}",
                        there.value));
  EXPECT_THAT(error_of(host, balancer::MoveTogetherRequest{{{"vm1", 0, here, there}}}),
              HasSubstr("dry-run"));
  EXPECT_THAT(error_of(host, balancer::MoveRequest{"vm9", there, {}}),
              HasSubstr("no running VM 'vm9'"));
  EXPECT_THAT(error_of(host, balancer::MoveRequest{"vm1", NodeId{9}, {}}),
              HasSubstr("node 9 cannot be a home"));
  EXPECT_THAT(error_of(host, balancer::MoveRequest{"vm1", here, {}}), HasSubstr("lives on node"));
}

TEST(ControllerTest, SetsOptionsAndTellsWhichWereKept) {
  HostStory host = pile_up();
  Effects effects = host.controller().on(
      CommandReceived{1, balancer::OptionsSetRequest{"Numa.MigThreshold", 5, true}});
  EXPECT_TRUE(effects.replies.front().answer);
  const auto view =
      answer_of<balancer::OptionView>(host, balancer::OptionsGetRequest{"Numa.MigThreshold"});
  EXPECT_EQ(view.value, 5);
  EXPECT_EQ(view.origin, balancer::Origin::kPersisted);
  EXPECT_THAT(error_of(host, balancer::OptionsSetRequest{"Numa.MigTreshold", 5, false}),
              HasSubstr("did you mean 'Numa.MigThreshold'"));
  EXPECT_THAT(error_of(host, balancer::OptionsSetRequest{"Numa.MigThreshold", 101, false}),
              HasSubstr("0 to 100"));
}

TEST(ControllerTest, OneThatResumesAnotherKnowsItsHomesReleasesReservationsAndNumbers) {
  HostStory host = pile_up();
  (void)host.report_domains();
  (void)host.epoch();
  EXPECT_TRUE(host.controller().is_idle());
  const Effects placed = host.epoch();
  EXPECT_FALSE(host.controller().is_idle());
  host.carry_out(placed);
  EXPECT_TRUE(host.controller().is_idle());
  host.carry_out(host.controller().on(CommandReceived{7, balancer::ReleaseRequest{"vm1"}}));
  balancer::ReserveRequest reserve;
  reserve.name = "soon";
  reserve.vcpus = 1;
  reserve.memory_bytes = kMiB.value;
  (void)host.controller().on(CommandReceived{7, reserve});
  const balancer::ControllerSetup setup = host.controller().to_resume();
  EXPECT_EQ(setup.mode, Mode::kActive);
  EXPECT_THAT(setup.released,
              Contains(Field(&decltype(setup.released)::value_type::first, vm_id(1))));
  EXPECT_THAT(setup.reservations, SizeIs(1));
  EXPECT_EQ(setup.remembered_homes.at({vm_id(2), 0}).value, host.home(2));
  EXPECT_TRUE(setup.originals.contains(vm_id(2)));
  EXPECT_GE(setup.last_action, 5) << "four placements and a release";
}

TEST(ControllerTest, DefaultsOfOptionsAreThoseOfThePreset) {
  HostStory host = pile_up();
  const auto spills = [&host] {
    return answer_of<balancer::OptionView>(host, balancer::OptionsGetRequest{"Numa.SpillEnable"});
  };
  EXPECT_EQ(spills().default_value, 1);
  balancer::ConfigChanged config;
  config.mode = Mode::kActive;
  config.preset = Preset::kEsxi;
  config.options = options_of(config.preset);
  (void)host.controller().on(config);
  EXPECT_EQ(spills().default_value, 0);
  EXPECT_EQ(spills().value, 0);
  EXPECT_EQ(spills().origin, balancer::Origin::kDefault);
}

TEST(ControllerTest, PageMigrationGoesByOptionsAsTheyAreNow) {
  HostStory host = pile_up();
  const Effects set = host.controller().on(
      CommandReceived{1, balancer::OptionsSetRequest{"Numa.PageMigStallTarget", 20'000, false}});
  ASSERT_TRUE(set.options);
  EXPECT_EQ(set.options->page_mig_stall_target, 20'000);
  balancer::ConfigChanged config;
  config.mode = Mode::kActive;
  config.options.page_mig_rate_max = 7;
  const Effects read = host.controller().on(config);
  ASSERT_TRUE(read.options);
  EXPECT_EQ(read.options->page_mig_rate_max, 7);
  EXPECT_FALSE(host.epoch().options);
}

TEST(ControllerTest, OptionsSetUntilTheDaemonEndsOutliveAReload) {
  HostStory host = pile_up();
  (void)host.controller().on(
      CommandReceived{1, balancer::OptionsSetRequest{"Numa.RebalanceEnable", 0, false}});
  balancer::ConfigChanged config;
  config.mode = Mode::kActive;
  const Effects read = host.controller().on(config);
  ASSERT_TRUE(read.options);
  EXPECT_EQ(read.options->rebalance_enable, 0);
  const auto view =
      answer_of<balancer::OptionView>(host, balancer::OptionsGetRequest{"Numa.RebalanceEnable"});
  EXPECT_EQ(view.value, 0);
  EXPECT_EQ(view.origin, balancer::Origin::kRuntime);
}

TEST(ControllerTest, ExplainsEveryNodeThatWasConsidered) {
  HostStory host = pile_up();
  (void)host.report_domains();
  (void)host.epoch();
  host.carry_out(host.epoch());
  (void)host.epoch();
  const auto view = answer_of<balancer::ExplainView>(host, balancer::ExplainRequest{"vm2"});
  ASSERT_THAT(view.clients, SizeIs(1));
  EXPECT_THAT(view.clients.front().why, HasSubstr("initial-placement"));
  EXPECT_THAT(view.considered, SizeIs(3));
  for (const balancer::CandidateView& candidate : view.considered) {
    EXPECT_FALSE(candidate.sentence.empty());
    EXPECT_THAT(candidate.sentence, Not(HasSubstr(" -"))) << "it saves less than nothing";
  }
}

TEST(ControllerTest, ExplainsAVmThatHasFewerClientsThanWhenItWasMeasured) {
  HostStory host(2, Mode::kActive);
  host.start(small_vm(1, "vm1", 4), 0, 50);
  (void)host.report_domains();
  host.carry_out(host.epoch());
  host.carry_out(host.epoch());
  host.start(small_vm(1, "vm1", 2), 0, 50);  // two of its vCPUs are unplugged
  (void)host.report_domains();
  const auto view = answer_of<balancer::ExplainView>(host, balancer::ExplainRequest{"vm1"});
  EXPECT_THAT(view.clients, SizeIs(2));
  EXPECT_THAT(answer_of<balancer::ExplainView>(host, balancer::ExplainRequest{"vm1"}).vm, "vm1");
}

TEST(ControllerTest, ReportsUsedAndIdleThatAddUpToTheNode) {
  HostStory host = pile_up();
  (void)host.report_domains();
  (void)host.epoch();
  host.carry_out(host.epoch());
  (void)host.epoch();
  const auto report = answer_of<stats::Report>(host, balancer::StatsRequest{"numa-pnode"});
  ASSERT_THAT(report.rows, SizeIs(4));
  for (const auto& row : report.rows) {
    EXPECT_EQ(std::get<std::int64_t>(row[1]) + std::get<std::int64_t>(row[2]), 4000);
  }
  EXPECT_THAT(error_of(host, balancer::StatsRequest{"numa-pnod"}),
              HasSubstr("did you mean 'numa-pnode'"));
}

TEST(ControllerTest, ForgetsAVmThatEnded) {
  HostStory host = pile_up();
  (void)host.report_domains();
  (void)host.epoch();
  host.carry_out(host.epoch());
  host.stop(2);
  (void)host.report_domains();
  (void)host.epoch();
  EXPECT_EQ(host.home(2), -2);
  EXPECT_THAT(error_of(host, balancer::ExplainRequest{"vm2"}), HasSubstr("no running VM"));
}

TEST(ControllerTest, EqualEventsGiveEqualEffects) {
  HostStory first = pile_up();
  HostStory second = pile_up();
  for (HostStory* host : {&first, &second}) {
    (void)host->report_domains();
    (void)host->epoch();
  }
  const Effects one = first.epoch();
  const Effects two = second.epoch();
  EXPECT_EQ(one.orders, two.orders);
  EXPECT_EQ(one.epoch->plan, two.epoch->plan);
}

/// Places all clients, and then moves one as soon as it was placed.
Plan broken_plan(const Snapshot& snapshot, const Options& options,
                 const balancer::Circumstances& circumstances) {
  Plan plan = balancer::make_plan(snapshot, options, circumstances);
  if (plan.actions.empty() && !snapshot.clients.empty() &&
      snapshot.clients.front().home != kNoNode && snapshot.epoch < 5) {
    const ClientState& client = snapshot.clients.front();
    plan.actions.push_back(
        {Reason::kLoadMove, {{client.id, client.home, (client.home + 1) % 4, {}}}, {}});
  }
  return plan;
}

TEST(ControllerTest, CarriesOutNothingOfAPlanThatBreaksARuleAndSaysSo) {
  HostStory host(4, Mode::kActive,
                 [](balancer::ControllerSetup& setup) { setup.make_plan = broken_plan; });
  host.start(small_vm(1, "vm1", 2), /*memory_node=*/0, /*busy_pct=*/100);
  (void)host.report_domains();
  (void)host.epoch();
  host.carry_out(host.epoch());
  const std::int32_t home = host.home(1);
  const Effects refused = host.epoch();
  EXPECT_THAT(refused.orders, IsEmpty());
  EXPECT_EQ(host.home(1), home);
  EXPECT_THAT(refused.log,
              Contains(Field(&balancer::LogLine::message, HasSubstr("an error in vmnuma itself"))));
  EXPECT_TRUE(host.controller().plan().actions.empty());
  EXPECT_THAT(host.controller().plan_violations(), Contains(HasSubstr("less than Numa.Residency")));
  const auto status = answer_of<balancer::StatusView>(host, balancer::StatusRequest{});
  EXPECT_EQ(status.mode, Mode::kDegraded);
  EXPECT_THAT(status.degraded, Contains(Field(&balancer::DegradedView::source, "planner")));

  // Said once, and taken back.
  EXPECT_THAT(host.epoch().log, IsEmpty());
  EXPECT_THAT(host.epoch().log,
              Contains(Field(&balancer::LogLine::message, "plans are sound again")));
  EXPECT_EQ(host.controller().mode(), Mode::kActive);
}

TEST(ControllerTest, TellsHowLateTheLastEpochWasAndTheLatest) {
  HostStory host = pile_up();
  (void)host.report_domains();
  for (const std::int64_t late_us : {1999, 45000, 7000}) {
    host.set_late({late_us});
    (void)host.epoch();
  }
  const auto view = answer_of<balancer::StatusView>(host, balancer::StatusRequest{});
  EXPECT_EQ(view.late_ms, 7);
  EXPECT_EQ(view.late_most_ms, 45);
}

TEST(ControllerTest, TellsWhetherWakeUpsAreCountedAndWanted) {
  HostStory host = pile_up();
  (void)host.report_domains();
  (void)host.epoch();
  auto view = answer_of<balancer::StatusView>(host, balancer::StatusRequest{});
  EXPECT_FALSE(view.wants_wakeups);
  EXPECT_EQ(view.wakeup_pairs, std::nullopt);
  (void)host.controller().on(CommandReceived{
      1, balancer::OptionsSetRequest{"Numa.LocalityWeightActionAffinity", 100, false}});
  host.set_wakeups(std::vector<WakeupSample>{{vm_id(1), vm_id(2), 4000}, {vm_id(1), vm_id(3), 7}});
  (void)host.epoch();
  view = answer_of<balancer::StatusView>(host, balancer::StatusRequest{});
  EXPECT_TRUE(view.wants_wakeups);
  EXPECT_EQ(view.wakeup_pairs, 2);
  host.set_wakeups(std::nullopt);
  (void)host.epoch();
  EXPECT_EQ(answer_of<balancer::StatusView>(host, balancer::StatusRequest{}).wakeup_pairs,
            std::nullopt);
}

TEST(ControllerTest, TellsWhichPredictorsForecastsCount) {
  HostStory host = pile_up();
  (void)host.report_domains();
  (void)host.epoch();
  (void)host.controller().on(balancer::LoadsForecast{
      {{vm_id(1), {Permille{100}, Permille{900}, PredictorKind::kTrained}},
       {vm_id(2), {Permille{100}, Permille{900}, PredictorKind::kHistogram}}}});
  EXPECT_EQ(answer_of<balancer::StatusView>(host, balancer::StatusRequest{}).forecasts,
            (balancer::ForecastsView{.trained = 1, .histogram = 1, .last_maximum = 0}));
}

TEST(ControllerTest, ShowsTheWholeHost) {
  HostStory host = pile_up();
  (void)host.report_domains();
  (void)host.epoch();
  host.carry_out(host.epoch());
  (void)host.epoch();
  const auto view = answer_of<balancer::HostView>(host, balancer::HostRequest{});
  EXPECT_EQ(view.epoch_length_ms, 2000);
  ASSERT_THAT(view.nodes, SizeIs(4));
  EXPECT_EQ(view.nodes[2].node, NodeId{2});
  EXPECT_EQ(view.nodes[2].cpus, 2);
  EXPECT_THAT(view.nodes[2].distances, SizeIs(4));
  EXPECT_EQ(view.nodes[2].distances[2], kLocalDistance);
  EXPECT_EQ(view.nodes[2].capacity_ms, 4000);  // two cores for 2 s
  ASSERT_THAT(view.vms, SizeIs(4));
  for (const balancer::VmView& vm : view.vms) {
    EXPECT_TRUE(vm.managed) << vm.not_managed;
    ASSERT_THAT(vm.clients, SizeIs(1));
    EXPECT_EQ(vm.clients[0].vcpus, 2);
    EXPECT_EQ(vm.clients[0].used_ms, 4000);  // two vCPUs, always busy, a node for each VM
    EXPECT_EQ(vm.clients[0].moves, 0);       // a placement is none
    EXPECT_THAT(vm.clients[0].memory_bytes, SizeIs(4));
  }
  const auto placed = std::find_if(view.actions.begin(), view.actions.end(), [](const auto& row) {
    return row.reason == "initial-placement" && row.state == "done";
  });
  ASSERT_NE(placed, view.actions.end());
  EXPECT_EQ(placed->count, 4);
  EXPECT_THAT(view.actions, SizeIs(14 * 3));  // every reason with every state
}

TEST(ControllerTest, ShowsWhatVmsWerePromisedAndThoseThatWereToldWhereToStart) {
  static constexpr Bytes kPage = kMiB * 2;
  HostStory host(2, Mode::kActive, [](balancer::ControllerSetup& setup) {
    setup.reserved_memory = {{NodeId{0}, kPage, kMiB * 16}};
  });
  host.set_pools(std::vector{HugePagePool{kPage, 64}});
  VmDescription on_pool = small_vm(1, "pool", 1);
  on_pool.huge_page_size = kPage;
  on_pool.pci_devices = {{"0000:3b:00.0", NodeId{0}}};
  host.start(on_pool, 0, 50);
  host.start(small_vm(2, "ordinary", 1), 0, 50);
  (void)host.report_domains();
  host.carry_out(host.epoch());
  host.carry_out(host.epoch());
  (void)answer_of<balancer::SuggestView>(host,
                                         balancer::SuggestRequest{2, kVmMemory.value / kMiB.value});
  const auto view = answer_of<balancer::HostView>(host, balancer::HostRequest{});
  EXPECT_TRUE(view.vms_known);
  EXPECT_FALSE(view.distances_measured);
  EXPECT_EQ(view.admission, "enforce");
  ASSERT_THAT(view.nodes, SizeIs(2));
  EXPECT_EQ(view.nodes[0].promised_vcpus + view.nodes[1].promised_vcpus, 1 + 1 + 2);
  EXPECT_EQ(view.nodes[0].promised_bytes + view.nodes[1].promised_bytes, 2 * kVmMemory.value);
  for (std::size_t node = 0; node < 2; ++node) {
    const bool is_home = host.home(1) == static_cast<std::int32_t>(node);
    EXPECT_THAT(view.nodes[node].huge_pages,
                ElementsAre(balancer::HugePagesView{
                    kPage.value, (kPage * 64).value, node == 0 ? (kMiB * 16).value : 0,
                    is_home ? kVmMemory.value : 0,
                    // Of 128 MiB.
                    ((kMiB * (node == 0 ? 112 : 128)) - (is_home ? kVmMemory : Bytes{})).value}));
  }
  ASSERT_THAT(view.vms, SizeIs(2));
  EXPECT_THAT(view.vms[0].pci_devices, ElementsAre("0000:3b:00.0"));
  ASSERT_THAT(view.vms[0].advice, SizeIs(1));
  EXPECT_EQ(view.vms[0].advice[0].kind, "memory-stays");
  EXPECT_FALSE(view.vms[0].advice[0].calls_for_change);
  EXPECT_THAT(view.vms[1].advice, IsEmpty());
}

TEST(ControllerTest, AVmWithPagesOfTwoSizesIsPromisedSomeOfEach) {
  constexpr Bytes kPage = kMiB * 2;
  HostStory host(2, Mode::kActive);
  host.set_pools(std::vector{HugePagePool{kPage, 64}});
  VmDescription vm = small_vm(1, "mixed", 2);
  vm.huge_page_size = kPage;
  vm.cells = {{0, {0}, kMiB * 24, Bytes{}}, {1, {1}, kMiB * 40}};
  host.start(vm, 0, 50);
  (void)host.report_domains();
  host.carry_out(host.epoch());
  host.carry_out(host.epoch());
  const auto view = answer_of<balancer::HostView>(host, balancer::HostRequest{});
  const auto home = static_cast<std::size_t>(host.home(1));
  EXPECT_EQ(view.nodes.at(home).promised_bytes, (kMiB * 24).value);
  ASSERT_THAT(view.nodes[home].huge_pages, SizeIs(1));
  EXPECT_EQ(view.nodes[home].huge_pages[0].promised_bytes, (kMiB * 40).value);
}

TEST(ControllerTest, TheLargestVmHasWhatNoOtherHasOrWasPromised) {
  HostStory host(2, Mode::kActive);
  host.start(small_vm(1, "web", 1), 0, 50);
  (void)host.report_domains();
  EXPECT_EQ(answer_of<balancer::StatusView>(host, balancer::StatusRequest{}).largest_vm,
            balancer::LargestVmView{});
  host.carry_out(host.epoch());
  host.carry_out(host.epoch());
  const auto before = answer_of<balancer::HostView>(host, balancer::HostRequest{});
  // Half of each GiB is free, less the reserve; whole MiB count.
  for (const balancer::NodeView& node : before.nodes) {
    EXPECT_EQ(node.largest_vm_vcpus, 2);
    const std::int64_t room = *node.free_bytes - *node.reserve_bytes;
    EXPECT_EQ(node.largest_vm_bytes, room - room % kMiB.value);
  }
  (void)answer_of<balancer::SuggestView>(host, balancer::SuggestRequest{1, 64});
  const auto after = answer_of<balancer::HostView>(host, balancer::HostRequest{});
  const auto status = answer_of<balancer::StatusView>(host, balancer::StatusRequest{});
  const std::int64_t all = *after.nodes[0].largest_vm_bytes + *after.nodes[1].largest_vm_bytes;
  EXPECT_EQ(all, 2 * *before.nodes[0].largest_vm_bytes - (kMiB * 64).value);
  EXPECT_EQ(status.largest_vm.room_bytes, all);
  EXPECT_EQ(status.largest_vm.memory_bytes, before.nodes[0].largest_vm_bytes);
  EXPECT_EQ(status.largest_vm.vcpus, 2);
  EXPECT_THAT(status.largest_vm.huge_pages, IsEmpty());
  const auto outlook = host.controller().outlook();
  ASSERT_TRUE(outlook);
  ASSERT_THAT(outlook->free.room, SizeIs(2));
  for (std::size_t node = 0; node < 2; ++node) {
    EXPECT_EQ(outlook->free.room[node].value / kMiB.value * kMiB.value,
              after.nodes[node].largest_vm_bytes);
  }
}

TEST(ControllerTest, ShowsTheNodesBeforeTheFirstEpoch) {
  HostStory host(2, Mode::kDryRun);
  const auto view = answer_of<balancer::HostView>(host, balancer::HostRequest{});
  ASSERT_THAT(view.nodes, SizeIs(2));
  EXPECT_FALSE(view.nodes[0].known);
  EXPECT_EQ(view.nodes[0].cpus, 2);
  EXPECT_GT(view.nodes[0].memory_bytes, 0);
  EXPECT_THAT(view.vms, IsEmpty());
  EXPECT_FALSE(view.vms_known);
}

}  // namespace
}  // namespace vmnuma::tests
