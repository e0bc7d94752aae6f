// SPDX-License-Identifier: Apache-2.0
/// Room that is kept for VMs that are not there yet, as the controller's commands do it.
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "balancer/controller/controller.h"
#include "balancer/controller/reserving.h"
#include "balancer/record/frame.h"
#include "placement/model/text.h"
#include "tests/unit/balancer/expect_replays.h"
#include "tests/unit/balancer/host_story.h"

namespace vmnuma::tests {
namespace {

using balancer::AnnounceRequest;
using balancer::CommandReceived;
using balancer::Effects;
using balancer::HostView;
using balancer::Mode;
using balancer::ReservationsView;
using balancer::ReserveRequest;
using balancer::SuggestRequest;
using balancer::UnreserveRequest;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr std::int64_t kArrivingMib = 64;
constexpr std::int64_t kNodeMib = 512;  // of a node, of which 20 are its reserve
constexpr std::int64_t kRoomMib = kNodeMib - 21;

ReserveRequest request(const std::string& name, std::int64_t mib, std::vector<NodeId> nodes = {}) {
  ReserveRequest asked;
  asked.name = name;
  asked.vcpus = 2;
  asked.memory_bytes = (kMiB * mib).value;
  asked.nodes = std::move(nodes);
  return asked;
}

class ReservingTest : public testing::Test {
 protected:
  ReservingTest() : host_(2, Mode::kActive) {}

  void measure() {
    (void)host_.report_domains();
    host_.carry_out(host_.epoch());
    host_.carry_out(host_.epoch());
  }
  Result<balancer::Answer> ask(balancer::Command command) {
    CommandReceived received{7, std::move(command)};
    last_ = host_.recorder().pass(host_.controller(), received);
    EXPECT_THAT(last_.replies, SizeIs(1));
    return last_.replies.front().answer;
  }
  std::string done(balancer::Command command) {
    const auto answer = ask(std::move(command));
    EXPECT_TRUE(answer) << answer.error().message;
    return answer ? std::get<balancer::DoneView>(*answer).message : "";
  }
  std::string refusal(balancer::Command command) {
    const auto answer = ask(std::move(command));
    EXPECT_FALSE(answer);
    return answer ? "" : answer.error().message;
  }
  ReservationsView reservations() {
    return std::get<ReservationsView>(*ask(balancer::ReservationsRequest{}));
  }
  HostView shown() { return std::get<HostView>(*ask(balancer::HostRequest{})); }
  balancer::StatusView status() {
    return std::get<balancer::StatusView>(*ask(balancer::StatusRequest{}));
  }
  std::vector<NodeId> suggested(std::int64_t mib) {
    const auto answer = ask(SuggestRequest{2, mib});
    EXPECT_TRUE(answer) << answer.error().message;
    return answer ? std::get<balancer::SuggestView>(*answer).nodes : std::vector<NodeId>{};
  }
  static AnnounceRequest for_one_node(std::uint8_t number, std::int64_t mib) {
    AnnounceRequest asked{"vm" + std::to_string(number), to_text(vm_id(number)), 2, mib};
    asked.policy = {{"topology_policy", "single-numa-node"}};
    return asked;
  }

  HostStory host_;
  Effects last_;
};

TEST_F(ReservingTest, WhatIsReservedIsShownAndKeptForTheNextStart) {
  measure();
  EXPECT_THAT(done(request("db", 300, {NodeId{1}})),
              HasSubstr("reserved 2 vCPUs and 300 MiB on node 1 for VM or group 'db'"));
  EXPECT_THAT(last_.log, Contains(Field(&balancer::LogLine::message,
                                        HasSubstr("reservation 'db' by command: 2 vCPUs"))));
  ASSERT_TRUE(last_.reservations);
  const std::vector<balancer::Reservation> kept = *last_.reservations;
  const ReservationsView view = reservations();
  EXPECT_EQ(balancer::reservations_view(kept), view);
  ASSERT_THAT(view.reservations, SizeIs(1));
  EXPECT_EQ(view.reservations[0].vm, "db");
  EXPECT_EQ(view.reservations[0].vcpus, 2);
  EXPECT_THAT(view.reservations[0].memory,
              ElementsAre(balancer::ReservedMemoryView{{1}, 0, (kMiB * 300).value}));
  EXPECT_EQ(status().reservations, 1);
}

TEST_F(ReservingTest, OthersFindItNeitherAtStartNorInWhatIsShown) {
  measure();
  const HostView before = shown();
  (void)done(request("db", 300, {NodeId{1}}));
  const HostView after = shown();
  EXPECT_EQ(*after.nodes[1].reserve_bytes - *before.nodes[1].reserve_bytes, (kMiB * 300).value);
  EXPECT_EQ(after.nodes[1].reservation_bytes, (kMiB * 300).value);
  EXPECT_EQ(*before.nodes[1].largest_vm_bytes - *after.nodes[1].largest_vm_bytes,
            (kMiB * 300).value);
  EXPECT_EQ(after.nodes[1].promised_vcpus, before.nodes[1].promised_vcpus + 2);
  EXPECT_EQ(after.nodes[0], before.nodes[0]);
  EXPECT_THAT(suggested(300), ElementsAre(NodeId{0}));
  EXPECT_TRUE(ask(for_one_node(5, 180)));
  EXPECT_TRUE(ask(for_one_node(6, 180)));
  EXPECT_THAT(refusal(for_one_node(7, 180)), HasSubstr("single-numa-node"));
}

TEST_F(ReservingTest, TheVmThatItIsForIsAdmittedAndLedThere) {
  measure();
  (void)done(request("vm5", 400, {NodeId{1}}));
  EXPECT_THAT(refusal(for_one_node(6, kRoomMib + 1)), HasSubstr("single-numa-node"));
  (void)done(request("rest", 400, {NodeId{0}}));
  EXPECT_THAT(refusal(for_one_node(6, 400)), HasSubstr("single-numa-node"));
  const auto answer = ask(for_one_node(5, 400));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(std::get<balancer::AnnouncedView>(*answer).message, "VM 'vm5' is admitted on nodes 1");
}

TEST_F(ReservingTest, TheVmsOfAnOwnerFindWhatIsReservedForIt) {
  measure();
  ReserveRequest of_owner = request("night", 400, {NodeId{1}});
  of_owner.owner = "shop";
  EXPECT_THAT(done(of_owner), HasSubstr("on node 1 for owner 'shop'"));
  const std::vector<balancer::Reservation> kept = last_.reservations.value();
  EXPECT_EQ(balancer::reservations_view(kept), reservations());
  (void)done(request("rest", 400, {NodeId{0}}));
  EXPECT_THAT(refusal(for_one_node(5, 300)), HasSubstr("single-numa-node"));
  AnnounceRequest of_policy = for_one_node(5, 100);
  of_policy.policy.push_back({"owner", "shop"});
  EXPECT_TRUE(ask(of_policy));
  AnnounceRequest of_nova = for_one_node(6, 300);
  of_nova.nova_project = {{"shop", "83c8"}};
  EXPECT_TRUE(ask(of_nova));
  VmDescription vm = small_vm(5, "vm5", 2);
  vm.own_policy = {{"owner", "shop"}};
  host_.start(vm, 1, 50);
  vm = small_vm(6, "vm6", 2);
  vm.nova_project = {"shop", "83c8"};
  host_.start(vm, 1, 50);
  EXPECT_EQ(host_.report_domains().reservations.value().at(0).memory_left(),
            kMiB * (400 - 2 * kArrivingMib));
}

TEST_F(ReservingTest, AVmThatOnlyAsksIsLedThereToo) {
  measure();
  (void)done(request("vm5", 64, {NodeId{1}}));
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(ask(AnnounceRequest{"vm5", to_text(vm_id(5)), 2, kArrivingMib}));
    EXPECT_THAT(suggested(kArrivingMib), ElementsAre(NodeId{1}));
  }
}

TEST_F(ReservingTest, AVmThatAppearsUnannouncedGetsItsHomeThereAndEndsIt) {
  measure();
  (void)done(request("vm5", 300, {NodeId{1}}));
  host_.start(small_vm(5, "vm5", 2), 0, 50);
  const Effects effects = host_.report_domains();
  ASSERT_TRUE(effects.reservations);
  EXPECT_THAT(*effects.reservations, IsEmpty());
  EXPECT_THAT(
      effects.log,
      Contains(Field(&balancer::LogLine::message,
                     "VM 'vm5' takes up 64 MiB of reservation 'vm5', which ends with that")));
  host_.carry_out(host_.epoch());
  host_.carry_out(host_.epoch());
  EXPECT_EQ(host_.home(5), 1);
  EXPECT_EQ(shown().nodes[1].reservation_bytes, 0);
}

TEST_F(ReservingTest, AnotherVmDoesNotEndIt) {
  measure();
  (void)done(request("vm5", 300, {NodeId{1}}));
  host_.start(small_vm(6, "vm6", 2), 0, 50);
  EXPECT_FALSE(host_.report_domains().reservations);
  host_.carry_out(host_.epoch());
  EXPECT_EQ(shown().nodes[1].reservation_bytes, (kMiB * 300).value);
}

TEST_F(ReservingTest, WhatDoesNotFitNowIsRefusedWithWhatThereIs) {
  measure();
  EXPECT_THAT(refusal(request("db", kRoomMib + 1)),
              testing::AllOf(HasSubstr("nothing is reserved, what the VM needs is not free"),
                             HasSubstr("on node 1 2 CPUs, 491 MiB of memory"),
                             HasSubstr("'vmnuma make-room --vcpus 2 --memory 492MiB' shows")));
  EXPECT_THAT(refusal(request("db", 2000)), Not(HasSubstr("make-room")));
  EXPECT_THAT(refusal(request("db", kRoomMib + 1, {NodeId{1}})), HasSubstr("--on 1'"));
  EXPECT_FALSE(last_.reservations);
  EXPECT_THAT(reservations().reservations, IsEmpty());
}

TEST_F(ReservingTest, OneReservationIsNoRoomForAnother) {
  measure();
  (void)done(request("a", 300));
  (void)done(request("b", 300));
  EXPECT_THAT(refusal(request("c", 300)), HasSubstr("nothing is reserved"));
  EXPECT_EQ(reservations().reservations[0].memory[0].node.value +
                reservations().reservations[1].memory[0].node.value,
            1);
}

TEST_F(ReservingTest, OneThatIsGivenUpIsRoomForAllAgain) {
  measure();
  const HostView before = shown();
  (void)done(request("db", 300));
  EXPECT_THAT(done(UnreserveRequest{"db"}), HasSubstr("300 MiB are available to all VMs again"));
  EXPECT_EQ(shown(), before);
  ASSERT_TRUE(last_.replies.front().answer);
  EXPECT_THAT(refusal(UnreserveRequest{"db"}), HasSubstr("there is no reservation 'db'"));
}

TEST_F(ReservingTest, IsOverAtItsTime) {
  measure();
  ReserveRequest limited = request("db", 300, {NodeId{1}});
  limited.until_unix_s = 1'700'000'000 + 2 * 5;  // of the fifth epoch
  (void)done(limited);
  EXPECT_FALSE(host_.epoch().reservations);
  EXPECT_FALSE(host_.epoch().reservations);
  const Effects effects = host_.epoch();
  ASSERT_TRUE(effects.reservations);
  EXPECT_THAT(*effects.reservations, IsEmpty());
  EXPECT_THAT(effects.log, Contains(Field(&balancer::LogLine::message,
                                          HasSubstr("reservation 'db' has expired"))));
  EXPECT_EQ(shown().nodes[1].reservation_bytes, 0);
  EXPECT_THAT(refusal(limited), HasSubstr("is in the past"));
}

TEST_F(ReservingTest, LastsAsLongWhateverTheClockIsSetToUnlessItEndsAtATimeOfDay) {
  measure();
  ReserveRequest lasting = request("db", 100, {NodeId{1}});
  lasting.lasting_s = 2 * 5;
  EXPECT_THAT(done(lasting), HasSubstr("until 2023-11-14T22:13:34Z"));
  ReserveRequest limited = request("web", 100, {NodeId{1}});
  limited.until_unix_s = 1'700'000'000 + 86'400;
  (void)done(limited);
  host_.set_clock(86'400);
  const Effects ahead = host_.epoch();
  ASSERT_TRUE(ahead.reservations);
  ASSERT_THAT(*ahead.reservations, SizeIs(1)) << "'web' ends at its time of day";
  EXPECT_EQ(ahead.reservations->front().until_unix_s, 1'700'000'000 + 86'400 + 2 * 7);
  EXPECT_FALSE(host_.epoch().reservations);
  host_.set_clock(-2 * 86'400);
  EXPECT_EQ(host_.epoch().reservations.value().front().until_unix_s,
            1'700'000'000 - 86'400 + 2 * 7);
  EXPECT_FALSE(host_.epoch().reservations);
  EXPECT_THAT(host_.epoch().reservations.value(), IsEmpty());
}

TEST_F(ReservingTest, EndsAtATimeOrAfterADurationThatIsPossible) {
  measure();
  ReserveRequest both = request("db", 100);
  both.lasting_s = 60;
  both.until_unix_s = 1'800'000'000;
  EXPECT_THAT(refusal(both), HasSubstr("not both"));
  ReserveRequest lasting = request("db", 100);
  lasting.lasting_s = 0;
  EXPECT_THAT(refusal(lasting), HasSubstr("lasts 1 to 8640000000 s, not 0"));
  lasting.lasting_s = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(refusal(lasting), HasSubstr("lasts 1 to 8640000000 s"));
}

TEST_F(ReservingTest, OutlivesTheDaemonAndAVmThatHadItsPartTakesNoMore) {
  measure();
  ReserveRequest asked = request("web", 300, {NodeId{1}});
  (void)done(asked);
  VmDescription vm = small_vm(5, "vm5", 2);
  vm.own_policy = {{"affinity_group", "web"}};
  host_.start(vm, 1, 50);
  const Effects effects = host_.report_domains();
  ASSERT_TRUE(effects.reservations);
  EXPECT_EQ(effects.reservations->front().memory_left(), kMiB * (300 - kArrivingMib));

  HostStory next(2, Mode::kActive, [&](balancer::ControllerSetup& setup) {
    setup.reservations = *effects.reservations;
  });
  next.start(vm, 1, 50);
  EXPECT_FALSE(next.report_domains().reservations);
  (void)next.epoch();
  EXPECT_EQ(reservations_of(next.controller().snapshot().nodes[1], Bytes{}),
            kMiB * (300 - kArrivingMib));
  // Another of the group takes up its own part, also if it was started while no daemon ran.
  VmDescription other = small_vm(6, "vm6", 2);
  other.own_policy = vm.own_policy;
  next.start(other, 1, 50);
  const Effects later = next.report_domains();
  ASSERT_TRUE(later.reservations);
  EXPECT_EQ(later.reservations->front().memory_left(), kMiB * (300 - 2 * kArrivingMib));
}

TEST_F(ReservingTest, AVmThatCannotBeReadWhenTheDaemonStartsTakesNoMoreLater) {
  measure();
  (void)done(request("web", 300, {NodeId{1}}));
  VmDescription vm = small_vm(5, "vm5", 2);
  vm.own_policy = {{"affinity_group", "web"}};
  host_.start(vm, 1, 50);
  const Effects effects = host_.report_domains();
  ASSERT_TRUE(effects.reservations);

  for (const bool is_told : {true, false}) {
    HostStory next(2, Mode::kActive, [&](balancer::ControllerSetup& setup) {
      setup.reservations = *effects.reservations;
    });
    balancer::DomainsChanged nothing_read;
    if (is_told) {
      nothing_read.unreadable = {vm.id};
    }
    EXPECT_EQ(next.recorder().pass(next.controller(), nothing_read).reservations.has_value(),
              !is_told);
    next.start(vm, 1, 50);
    EXPECT_EQ(next.report_domains().reservations.has_value(), !is_told);
  }
}

TEST_F(ReservingTest, WhatAVmTakesUpIsWhereItWasAdmitted) {
  measure();
  ReserveRequest wide = request("web", 600);
  wide.vcpus = 4;
  (void)done(wide);
  ASSERT_THAT(reservations().reservations[0].memory, SizeIs(2));
  AnnounceRequest asked{"vm5", to_text(vm_id(5)), 2, kArrivingMib};
  asked.policy = {
      {"affinity_group", "web"}, {"nodes", "1"}, {"topology_policy", "single-numa-node"}};
  ASSERT_TRUE(ask(asked));
  VmDescription vm = small_vm(5, "vm5", 2);
  vm.own_policy = {{"affinity_group", "web"}, {"nodes", "1"}};
  host_.start(vm, 1, 50);
  (void)host_.report_domains();
  EXPECT_THAT(reservations().reservations[0].memory,
              ElementsAre(balancer::ReservedMemoryView{{0}, 0, (kMiB * 300).value},
                          balancer::ReservedMemoryView{{1}, 0, (kMiB * 236).value}));
}

TEST_F(ReservingTest, OfASharedOneEachVmFindsItsRoomAgainAlsoAfterARestart) {
  measure();
  ReserveRequest asked = request("web", 300, {NodeId{1}});
  asked.shared = true;
  EXPECT_THAT(done(asked), HasSubstr("for VM or group 'web', shared"));
  VmDescription vm = small_vm(5, "vm5", 2);
  vm.own_policy = {{"affinity_group", "web"}};
  host_.start(vm, 1, 50);
  Effects effects = host_.report_domains();
  EXPECT_THAT(effects.log, Contains(Field(&balancer::LogLine::message,
                                          "VM 'vm5' takes up 64 MiB of reservation 'web'")));
  const balancer::ReservationView taken = reservations().reservations.at(0);
  EXPECT_THAT(taken.taken,
              ElementsAre(balancer::SharedPartView{
                  "vm5", to_text(vm_id(5)), 2, {{{1}, 0, (kMiB * kArrivingMib).value}}}));
  ASSERT_TRUE(effects.reservations);

  HostStory next(2, Mode::kActive, [&](balancer::ControllerSetup& setup) {
    setup.reservations = *effects.reservations;
  });
  next.start(vm, 1, 50);
  EXPECT_FALSE(next.report_domains().reservations);
  (void)next.epoch();
  EXPECT_EQ(reservations_of(next.controller().snapshot().nodes[1], Bytes{}),
            kMiB * (300 - kArrivingMib));
  next.stop(5);
  effects = next.report_domains();
  EXPECT_THAT(effects.log,
              Contains(Field(&balancer::LogLine::message,
                             "VM 'vm5' has stopped, 64 MiB of reservation 'web' are kept again")));
  ASSERT_TRUE(effects.reservations);
  EXPECT_THAT(effects.reservations->front().taken, IsEmpty());
  (void)next.epoch();
  EXPECT_EQ(reservations_of(next.controller().snapshot().nodes[1], Bytes{}), kMiB * 300);
  next.start(vm, 1, 50);
  ASSERT_TRUE(next.report_domains().reservations);
  (void)next.epoch();
  EXPECT_EQ(reservations_of(next.controller().snapshot().nodes[1], Bytes{}),
            kMiB * (300 - kArrivingMib));
}

TEST_F(ReservingTest, WhatAVmHadOfASharedOneComesBackAlsoIfItStoppedWhileNoDaemonRan) {
  measure();
  ReserveRequest asked = request("vm5", kArrivingMib, {NodeId{1}});
  asked.shared = true;
  (void)done(asked);
  host_.start(small_vm(5, "vm5", 2), 1, 50);
  const Effects effects = host_.report_domains();
  ASSERT_TRUE(effects.reservations);
  EXPECT_EQ(effects.reservations->at(0).memory_left(), Bytes{});
  HostStory next(2, Mode::kActive, [&](balancer::ControllerSetup& setup) {
    setup.reservations = *effects.reservations;
  });
  EXPECT_EQ(next.report_domains().reservations.value().at(0).memory_left(), kMiB * kArrivingMib);
}

TEST_F(ReservingTest, TheHistoryIsToldWhatHappens) {
  measure();
  const auto told = [](const Effects& effects, balancer::ReservationStep step,
                       const std::string& vm, std::int64_t mib) {
    EXPECT_THAT(effects.reservation_changes, SizeIs(1));
    for (const balancer::ReservationChanged& change : effects.reservation_changes) {
      EXPECT_EQ(change.reservation, "vm5");
      EXPECT_EQ(name_of(change.step), name_of(step));
      EXPECT_EQ(change.vm_name, vm);
      EXPECT_EQ(change.vm.has_value(), !vm.empty());
      EXPECT_EQ(change.memory, kMiB * mib);
      EXPECT_THAT(effects.log, Contains(Field(&balancer::LogLine::message, change.detail)));
    }
  };
  ReserveRequest asked = request("vm5", 300, {NodeId{1}});
  asked.shared = true;
  asked.until_unix_s = 1'700'000'000 + 2 * 5;  // of the fifth epoch
  (void)done(asked);
  told(last_, balancer::ReservationStep::kReserved, "", 300);
  host_.start(small_vm(5, "vm5", 2), 1, 50);
  told(host_.report_domains(), balancer::ReservationStep::kTakenUp, "vm5", kArrivingMib);
  host_.stop(5);
  told(host_.report_domains(), balancer::ReservationStep::kCameBack, "vm5", kArrivingMib);
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(host_.epoch().reservation_changes, IsEmpty());
  }
  told(host_.epoch(), balancer::ReservationStep::kExpired, "", 300);
  asked.until_unix_s.reset();
  (void)done(asked);
  (void)done(UnreserveRequest{"vm5"});
  told(last_, balancer::ReservationStep::kGivenUp, "", 300);
}

TEST_F(ReservingTest, AVmThatRunsAlreadyTakesNothingUntilItHasStopped) {
  host_.start(small_vm(5, "vm5", 2), 0, 50);
  measure();
  EXPECT_THAT(done(request("vm5", 300, {NodeId{1}})), HasSubstr("'vm5' runs already"));
  host_.stop(5);
  EXPECT_THAT(host_.report_domains().reservations.value().front().served, IsEmpty());
  host_.start(small_vm(5, "vm5", 2), 0, 50);
  EXPECT_THAT(host_.report_domains().reservations.value(), IsEmpty());
}

TEST_F(ReservingTest, IsReservedUnderOtherOptionsToo) {
  measure();
  (void)done(request("db", 300, {NodeId{1}}));
  balancer::WhatIfRequest what_if;
  what_if.add = {{2, (kMiB * 250).value, std::nullopt, 100},
                 {2, (kMiB * 250).value, std::nullopt, 100}};
  what_if.options = {{"Numa.NodeReservePct", 0}};
  const auto view = std::get<balancer::WhatIfView>(*ask(what_if));
  ASSERT_THAT(view.homes, SizeIs(2));
  EXPECT_EQ(view.homes[0].home, NodeId{0});
  EXPECT_EQ(view.homes[1].home, NodeId{0});
  EXPECT_EQ(view.homes[1].elsewhere_bytes, 0);
}

TEST_F(ReservingTest, AProgramThatJudgesWithoutTheDaemonKnowsOfIt) {
  measure();
  (void)host_.epoch();
  (void)done(request("db", 300, {NodeId{1}}));
  std::optional<balancer::AdmissionState> told;
  for (int i = 0; i < 5; ++i) {
    if (auto effects = host_.epoch(); effects.admission) {
      told = effects.admission;
    }
  }
  ASSERT_TRUE(told);
  EXPECT_EQ(told->nodes[1].reserve - told->nodes[0].reserve, kMiB * 300);
  ASSERT_THAT(told->reservations, SizeIs(1));
  EXPECT_EQ(told->reservations[0].vm, "db");
  EXPECT_EQ(told->reservations[0].memory_left(), kMiB * 300);
}

TEST(ReservedHugePagesTest, AreTakenFromTheirPool) {
  HostStory host(2, Mode::kActive, [](balancer::ControllerSetup& setup) {
    for (Node& node : setup.topology.nodes) {
      node.huge_pages = {{kMiB * 2, 64}};
    }
  });
  (void)host.report_domains();
  (void)host.epoch();
  const auto ask = [&](balancer::Command command) {
    return host.controller().on(CommandReceived{7, std::move(command)}).replies.front().answer;
  };
  ReserveRequest huge = request("db", 99, {NodeId{1}});
  huge.huge_page_bytes = (kMiB * 2).value;
  ASSERT_TRUE(ask(huge));
  const auto shown = std::get<HostView>(*ask(balancer::HostRequest{}));
  EXPECT_EQ(shown.nodes[1].huge_pages.at(0).reserved_bytes, (kMiB * 100).value);  // whole pages
  EXPECT_EQ(shown.nodes[1].huge_pages.at(0).largest_vm_bytes, (kMiB * 28).value);
  EXPECT_EQ(shown.nodes[1].reserve_bytes, shown.nodes[0].reserve_bytes);
  // They count once, also if a VM has pages of the same size: one of 16 MiB leaves 12.
  VmDescription small = small_vm(3, "small", 1);
  small.memory = small.max_memory = kMiB * 16;
  small.huge_page_size = kMiB * 2;
  host.start(small, /*memory_node=*/1, /*busy_pct=*/10);
  host.pin(3, node_cpus(1));
  for (int epoch = 0; epoch < 4; ++epoch) {
    (void)host.report_domains();
    host.carry_out(host.epoch());
  }
  EXPECT_EQ(
      std::get<HostView>(*ask(balancer::HostRequest{})).nodes[1].huge_pages.at(0).largest_vm_bytes,
      (kMiB * 12).value);
  host.stop(3);
  (void)host.report_domains();
  (void)host.epoch();
  huge.name = "more";
  const auto refused = ask(huge);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("on node 1 2 CPUs, 14 huge pages of 2048 KiB"));
  // The hook tells how many pages are free, of which these are not.
  AnnounceRequest vm{"vm5", to_text(vm_id(5)), 1, 64};
  vm.policy = {{"topology_policy", "single-numa-node"}};
  vm.huge_page_kib = 2048;
  vm.huge_pages = {{{0}, 0, 64}, {{1}, 64, 64}};
  EXPECT_FALSE(ask(vm));
  vm.vm = "db";
  EXPECT_TRUE(ask(vm));
}

/// A reservation that begins, keeps moves away, is taken up in part and ends, recorded from then
/// on.
std::vector<std::string> recorded_reserving(bool anonymize, std::int64_t from) {
  HostStory host(2, Mode::kActive);
  for (std::uint8_t number = 1; number <= 3; ++number) {
    host.start(small_vm(number, "secret" + std::to_string(number), 1), 0, 90);
    host.pin(number, node_cpus(0));
  }
  std::vector<std::string> lines;
  const auto tell = [&](balancer::Command command) {
    (void)host.recorder().pass(host.controller(), CommandReceived{7, std::move(command)});
  };
  for (std::int64_t epoch = 0; epoch < 14; ++epoch) {
    if (epoch == from) {
      host.recorder().begin(host.controller(), anonymize, std::nullopt);
    }
    if (epoch == 3) {
      ReserveRequest asked = request("secret-web", kRoomMib - 10, {NodeId{1}});
      asked.until_unix_s = 1'700'000'000 + 2 * 12;
      asked.shared = true;
      tell(asked);
      tell(request("secret-db", 5, {NodeId{1}}));
      ReserveRequest of_owner = request("secret-night", 4, {NodeId{1}});
      of_owner.owner = "secret-owner";
      tell(of_owner);
      AnnounceRequest announced{"secret9", to_text(vm_id(9)), 1, 4};
      announced.nova_project = {{"secret-owner", "secret-id"}};
      announced.policy = {{"topology_policy", "best-effort"}};
      tell(announced);
    }
    if (epoch == 6) {
      VmDescription vm = small_vm(7, "secret7", 1);
      vm.own_policy = {{"affinity_group", "secret-web"}, {"owner", "secret-owner"}};
      host.start(vm, 1, 20);
    }
    if (epoch == 9) {
      host.stop(7);
    }
    if (epoch == 8) {
      tell(UnreserveRequest{"secret-db"});
      VmDescription of_nova = small_vm(8, "secret-web", 1);
      of_nova.nova_project = {"secret-owner", "secret-id"};
      host.start(of_nova, 1, 20);
    }
    for (std::uint8_t number = 1; number <= 3; ++number) {
      host.set_busy(number, epoch < 2 ? 20 : 90);
    }
    (void)host.report_domains();
    host.carry_out(host.epoch());
    for (std::string& line : host.recorder().take_lines(std::size_t{1} << 24U)) {
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

TEST(RecordedReservationsTest, ReplayToTheByteAndNameNoVm) {
  for (const bool anonymize : {false, true}) {
    for (const std::int64_t from : {0, 4, 7}) {
      const std::vector<std::string> lines = recorded_reserving(anonymize, from);
      SCOPED_TRACE("from epoch " + std::to_string(from));
      expect_replays(lines, 14 - from);
      for (const std::string& line : lines) {
        ASSERT_TRUE(!anonymize || line.find("secret") == std::string::npos) << line;
      }
    }
  }
}

TEST_F(ReservingTest, WhatCannotBeIsRefused) {
  EXPECT_THAT(refusal(request("db", 1)), HasSubstr("nothing has been measured yet"));
  measure();
  EXPECT_THAT(refusal(request("db", 0)), HasSubstr("bytes of memory"));
  EXPECT_THAT(refusal(request("db", 1, {NodeId{9}})), HasSubstr("node 9 cannot be a home"));
  EXPECT_THAT(refusal(request(std::string(300, 'x'), 1)), HasSubstr("at most 256 bytes"));
  ReserveRequest asked = request("db", 1);
  asked.vcpus = 5000;
  EXPECT_THAT(refusal(asked), HasSubstr("1 to 4096 vCPUs"));
  asked = request("db", 1);
  asked.huge_page_bytes = 4096;
  EXPECT_THAT(refusal(asked), HasSubstr("no huge pages of 4 KiB"));
  (void)done(request("db", 1));
  EXPECT_THAT(refusal(request("db", 1)), HasSubstr("there is a reservation 'db' already"));
  for (int i = 1; i < 64; ++i) {
    (void)done(request("r" + std::to_string(i), 1));
  }
  EXPECT_THAT(refusal(request("one-more", 1)), HasSubstr("there are 64 reservations"));
}

}  // namespace
}  // namespace vmnuma::tests
