// SPDX-License-Identifier: Apache-2.0
/// Starts that wait until others have made room, as the controller does it. What a search would
/// find is told by the tests.
#include "balancer/controller/room_making.h"

#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "balancer/controller/controller.h"
#include "balancer/record/frame.h"
#include "placement/model/text.h"
#include "tests/unit/balancer/expect_replays.h"
#include "tests/unit/balancer/host_story.h"

namespace vmnuma::tests {
namespace {

using balancer::AnnouncedView;
using balancer::AnnounceRequest;
using balancer::CommandReceived;
using balancer::Effects;
using balancer::LogLine;
using balancer::Mode;
using balancer::RoomMove;
using balancer::RoomSearched;
using migration::ActionState;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::int64_t kNodeFreeMib = 350;  // of a node, of which 20 are its reserve
constexpr std::int64_t kWantedMib = 440;
constexpr std::int64_t kTenantMib = 64;
constexpr std::int64_t kDeadline_s = 30;

AnnounceRequest wants_one_node(std::uint8_t number, std::int64_t mib = kWantedMib,
                               std::int64_t deadline_s = kDeadline_s) {
  AnnounceRequest asked{"vm" + std::to_string(number), to_text(vm_id(number)), 2, mib};
  asked.asks = false;
  asked.policy = {{"topology_policy", "single-numa-node"},
                  {"make_room", "before-start"},
                  {"make_room_deadline_s", std::to_string(deadline_s)}};
  asked.waits_s = 120;
  return asked;
}

/// Two nodes with the same room; 'vm1' and 'vm2' live on node 0, 'vm3' on node 1.
class RoomMakingTest : public testing::Test {
 protected:
  explicit RoomMakingTest(Mode mode = Mode::kActive) : host_(2, mode) {
    for (std::uint8_t number = 1; number <= 3; ++number) {
      host_.start(small_vm(number, "vm" + std::to_string(number), 1), number == 3 ? 1 : 0, 10);
      host_.pin(number, node_cpus(number == 3 ? 1 : 0));
    }
    set_free(kNodeFreeMib, kNodeFreeMib);
    (void)host_.report_domains();
    host_.recorder().begin(host_.controller(), /*anonymize=*/false, std::nullopt);
    for (int i = 0; i < 12; ++i) {  // Numa.Residency
      epoch();
    }
  }

  void set_free(std::int64_t node0_mib, std::int64_t node1_mib) {
    host_.set_free(0, kMiB * node0_mib);
    host_.set_free(1, kMiB * node1_mib);
  }
  Effects take(const balancer::Event& event) {
    last_ = host_.recorder().pass(host_.controller(), event);
    return last_;
  }
  void epoch() {
    last_ = host_.epoch();
    ++epochs_;
    for (std::string& line : host_.recorder().take_lines(std::size_t{1} << 24U)) {
      lines_.push_back(std::move(line));
    }
  }
  /// Until its deadline is over, if it waits from now on.
  void pass_seconds(std::int64_t seconds) {
    for (std::int64_t i = 0; i < seconds / 2; ++i) {
      epoch();
    }
  }
  Result<balancer::Answer> ask(balancer::Command command) {
    const Effects effects = take(CommandReceived{7, std::move(command)});
    EXPECT_THAT(effects.replies, SizeIs(1));
    return effects.replies.front().answer;
  }
  AnnouncedView told(const AnnounceRequest& request) {
    const auto answer = ask(request);
    EXPECT_TRUE(answer) << answer.error().message;
    return answer ? std::get<AnnouncedView>(*answer) : AnnouncedView{};
  }
  bool waits(const AnnounceRequest& request) { return told(request).ask_again_ms.has_value(); }
  std::string refusal(const AnnounceRequest& request) {
    const auto answer = ask(request);
    EXPECT_FALSE(answer) << "it was admitted, or waits";
    return answer ? "" : answer.error().message;
  }
  std::vector<balancer::ReservationView> reservations() {
    return std::get<balancer::ReservationsView>(*ask(balancer::ReservationsRequest{})).reservations;
  }
  static RoomMove move(std::uint8_t vm, std::int32_t from, std::int32_t to) {
    return {{vm_id(vm), 0}, NodeId{from}, NodeId{to}};
  }
  /// What a search would find for vm5.
  static RoomSearched two_moves() {
    return {vm_id(5), NodeId{0}, {{move(1, 0, 1)}, {move(2, 0, 1)}}, ""};
  }
  void expect_one_order_of(std::uint8_t vm) const {
    ASSERT_THAT(last_.orders, SizeIs(1));
    EXPECT_EQ(last_.orders[0].reason, Reason::kMakeRoom);
    ASSERT_THAT(last_.orders[0].changes, SizeIs(1));
    EXPECT_EQ(last_.orders[0].changes[0].vm, vm_id(vm));
  }
  void expect_log(const std::string& text) const {
    EXPECT_THAT(last_.log, Contains(Field(&LogLine::message, HasSubstr(text))));
  }

  HostStory host_;
  Effects last_;
  std::vector<std::string> lines_;
  std::int64_t epochs_ = 0;
};

class RoomMakingInDryRunTest : public RoomMakingTest {
 protected:
  RoomMakingInDryRunTest() : RoomMakingTest(Mode::kDryRun) {}
};

TEST_F(RoomMakingTest, AVmStartsAfterTwoMovesAndHasItsRoomWhileTheyLast) {
  const AnnouncedView first = told(wants_one_node(5));
  EXPECT_EQ(first.ask_again_ms, 2000);
  EXPECT_EQ(first.at_most_ms, kDeadline_s * 1000);
  EXPECT_THAT(first.message, HasSubstr("waits for room on one node for at most 30 s more"));
  ASSERT_TRUE(last_.room_search);
  EXPECT_EQ(last_.room_search->vm, vm_id(5));
  EXPECT_EQ(last_.room_search->needed,
            (balancer::RoomNeeded{2, kMiB * kWantedMib, Bytes{}, {{0}, {1}}}));
  EXPECT_EQ(last_.room_search->seconds, 7);
  EXPECT_THAT(last_.not_admitted, IsEmpty());

  (void)take(two_moves());
  expect_one_order_of(1);
  ASSERT_TRUE(last_.reservations);
  ASSERT_THAT(*last_.reservations, SizeIs(1));
  EXPECT_EQ(last_.reservations->front().vm_id, vm_id(5));
  host_.carry_out(last_);
  EXPECT_THAT(std::get<balancer::ExplainView>(*ask(balancer::ExplainRequest{"vm1"})).clients[0].why,
              HasSubstr("to make room for VM 'vm5'"));
  EXPECT_TRUE(waits(wants_one_node(5)));
  set_free(kNodeFreeMib + kTenantMib, kNodeFreeMib - kTenantMib);
  epoch();
  expect_one_order_of(2);
  host_.carry_out(last_);
  // No other VM gets it.
  AnnounceRequest other = wants_one_node(6, 300, 0);
  other.waits_s = 0;
  EXPECT_THAT(refusal(other), HasSubstr("single-numa-node"));
  set_free(kNodeFreeMib + 2 * kTenantMib, kNodeFreeMib - 2 * kTenantMib);
  epoch();
  EXPECT_THAT(last_.orders, IsEmpty());
  EXPECT_EQ(told(wants_one_node(5)), (AnnouncedView{"VM 'vm5' is admitted on nodes 0", {}, {}}));
  EXPECT_THAT(reservations(), IsEmpty());
  EXPECT_THAT(refusal(other), HasSubstr("single-numa-node"));  // it was promised to vm5
  epoch();
  expect_replays(lines_, epochs_);
  host_.start(small_vm(5, "vm5", 1), 0, 10);
  (void)host_.report_domains();
  epoch();
  EXPECT_THAT(std::get<balancer::ExplainView>(*ask(balancer::ExplainRequest{"vm5"})).clients[0].why,
              HasSubstr("to make room for it, VMs 'vm1', 'vm2' moved"));
}

TEST_F(RoomMakingTest, WithoutADeadlineOrAHookThatWaitsItIsAsToday) {
  AnnounceRequest asked = wants_one_node(5, kWantedMib, 0);
  EXPECT_THAT(refusal(asked), HasSubstr("topology_policy is 'single-numa-node'"));
  EXPECT_FALSE(last_.room_search);
  asked = wants_one_node(5);
  asked.waits_s = 0;
  EXPECT_THAT(refusal(asked), HasSubstr("'vmnuma make-room --vcpus 2 --memory 440MiB' shows"));
  EXPECT_FALSE(last_.room_search);
  EXPECT_THAT(last_.not_admitted, SizeIs(1));
  asked.policy = {{"topology_policy", "single-numa-node"}};
  asked.waits_s = 120;
  const std::string plain = refusal(asked);
  asked.policy.push_back({"make_room", "never"});
  EXPECT_EQ(refusal(asked), plain);
  EXPECT_EQ(plain.find("make-room"), std::string::npos);
}

TEST_F(RoomMakingTest, AdviceIsOnlyGiven) {
  AnnounceRequest asked = wants_one_node(5);
  asked.policy = {{"topology_policy", "single-numa-node"},
                  {"make_room", "advise"},
                  {"make_room_deadline_s", "30"}};
  EXPECT_THAT(refusal(asked), HasSubstr("All nodes together have that much: 'vmnuma make-room"));
  EXPECT_FALSE(last_.room_search);
  asked.memory_mib = 700;  // more than there is
  EXPECT_EQ(refusal(asked).find("make-room"), std::string::npos);
}

TEST_F(RoomMakingTest, NoStartWaitsWhereMovesCannotHelp) {
  EXPECT_THAT(refusal(wants_one_node(5, 700)), HasSubstr("700 MiB of memory"));
  EXPECT_FALSE(last_.room_search);
}

TEST_F(RoomMakingTest, ABestEffortVmWaitsAndStartsApartAfterItsDeadline) {
  AnnounceRequest asked = wants_one_node(5);
  asked.policy.front().value = "best-effort";
  EXPECT_TRUE(waits(asked));
  pass_seconds(kDeadline_s);
  const AnnouncedView view = told(asked);
  EXPECT_EQ(view.message, "VM 'vm5' is admitted on nodes 0-1");
  expect_log("Room was to be made for it: its deadline has passed");
}

TEST_F(RoomMakingTest, AtTheDeadlineItIsRefusedAndNoStepIsBegun) {
  EXPECT_TRUE(waits(wants_one_node(5)));
  (void)take(two_moves());
  const Effects under_way = last_;
  pass_seconds(kDeadline_s - 2);
  EXPECT_TRUE(waits(wants_one_node(5)));
  EXPECT_THAT(reservations(), SizeIs(1));
  epoch();
  EXPECT_THAT(reservations(), IsEmpty());
  host_.carry_out(under_way);  // at last
  set_free(kNodeFreeMib + kTenantMib, kNodeFreeMib - kTenantMib);
  for (int i = 0; i < 5; ++i) {
    epoch();
    EXPECT_THAT(last_.orders, IsEmpty());
  }
  EXPECT_THAT(refusal(wants_one_node(5)),
              HasSubstr("its deadline has passed, 2 more steps are to be done"));
  EXPECT_EQ(host_.home(1), 1);
  EXPECT_EQ(host_.home(2), 0);
  expect_replays(lines_, epochs_);
}

TEST_F(RoomMakingTest, AWaitLastsAsLongWhateverTheClockIsSetTo) {
  EXPECT_TRUE(waits(wants_one_node(5)));
  (void)take(two_moves());
  host_.set_clock(3600);
  pass_seconds(14);
  EXPECT_EQ(told(wants_one_node(5)).at_most_ms, (kDeadline_s - 14) * 1000);
  host_.set_clock(-2 * 3600);
  pass_seconds(14);
  EXPECT_EQ(told(wants_one_node(5)).at_most_ms, 2000);
  EXPECT_THAT(reservations(), SizeIs(1));
  epoch();
  EXPECT_THAT(reservations(), IsEmpty());
  EXPECT_THAT(refusal(wants_one_node(5)), HasSubstr("its deadline has passed"));
  expect_replays(lines_, epochs_);
}

TEST_F(RoomMakingTest, AHookThatCannotWaitAnyLongerGetsItsLastAnswer) {
  AnnounceRequest asked = wants_one_node(5);
  EXPECT_TRUE(waits(asked));
  (void)take(two_moves());
  asked.waits_s = 0;
  EXPECT_THAT(refusal(asked), HasSubstr("Room was to be made for it: 2 more steps are to be done"));
  EXPECT_THAT(reservations(), IsEmpty());
  host_.carry_out(last_);
  epoch();
  EXPECT_THAT(last_.orders, IsEmpty());
}

TEST_F(RoomMakingTest, TheDeadlineIsTheShorterOfTheHooksAndThePolicys) {
  AnnounceRequest asked = wants_one_node(5);
  asked.waits_s = 10;
  EXPECT_EQ(told(asked).at_most_ms, 10'000);
  pass_seconds(4);
  EXPECT_EQ(told(asked).at_most_ms, 6000);
}

TEST_F(RoomMakingTest, AMoveThatFailsLeadsToAnotherSearchThreeAtMost) {
  EXPECT_TRUE(waits(wants_one_node(5)));
  for (std::uint8_t vm = 1; vm <= 3; ++vm) {
    const std::int32_t from = vm == 3 ? 1 : 0;
    (void)take(RoomSearched{vm_id(5), NodeId{from}, {{move(vm, from, 1 - from)}}, ""});
    expect_one_order_of(vm);
    const migration::Order order = last_.orders.at(0);
    (void)host_.finish(order, ActionState::kUndone, "no");
    EXPECT_THAT(reservations(), IsEmpty());
    EXPECT_EQ(host_.home(vm), from);
    epoch();
    EXPECT_EQ(last_.room_search.has_value(), vm != 3);
  }
  EXPECT_THAT(refusal(wants_one_node(5)), HasSubstr("is undone: no"));
}

TEST_F(RoomMakingTest, ClientsThatNeedEachOthersRoomChangePlaces) {
  EXPECT_TRUE(waits(wants_one_node(5)));
  set_free(30, 30);  // neither fits beside the other
  epoch();
  (void)take(RoomSearched{vm_id(5), NodeId{0}, {{move(1, 0, 1), move(3, 1, 0)}}, ""});
  ASSERT_THAT(last_.orders, SizeIs(1));
  EXPECT_EQ(last_.orders[0].reason, Reason::kMakeRoom);
  EXPECT_THAT(last_.orders[0].changes, SizeIs(2));
}

TEST_F(RoomMakingTest, MovesThatWereNotEnoughLeadToAnotherSearchAndThenToAnAnswer) {
  EXPECT_TRUE(waits(wants_one_node(5)));
  for (int searches = 1; searches <= 3; ++searches) {
    (void)take(RoomSearched{vm_id(5), NodeId{0}, {}, ""});  // as if there were room
    epoch();
    EXPECT_TRUE(waits(wants_one_node(5)));
    epoch();
    const auto answer = ask(wants_one_node(5));
    EXPECT_EQ(answer.has_value(), searches < 3);
    EXPECT_EQ(last_.room_search.has_value(), searches < 3);
    EXPECT_THAT(reservations(), IsEmpty());
  }
}

TEST_F(RoomMakingTest, WithoutAWayItIsAnsweredAtOnce) {
  EXPECT_TRUE(waits(wants_one_node(5)));
  (void)take(
      RoomSearched{vm_id(5), NodeId{}, {}, "moving all VMs that may move would not be enough"});
  EXPECT_THAT(
      refusal(wants_one_node(5)),
      HasSubstr("Room was to be made for it: moving all VMs that may move would not be enough"));
  EXPECT_THAT(reservations(), IsEmpty());
}

TEST_F(RoomMakingTest, AVmThatDoesNotStartTakesNothingWithIt) {
  EXPECT_TRUE(waits(wants_one_node(5)));
  (void)take(two_moves());
  const Effects under_way = last_;
  EXPECT_TRUE(ask(balancer::WithdrawRequest{to_text(vm_id(5))}));
  EXPECT_THAT(reservations(), IsEmpty());
  host_.carry_out(under_way);
  epoch();
  EXPECT_THAT(last_.orders, IsEmpty());
}

TEST_F(RoomMakingTest, AnAnswerThatComesTooLateIsOfNoUse) {
  EXPECT_TRUE(waits(wants_one_node(5)));
  EXPECT_TRUE(ask(balancer::WithdrawRequest{to_text(vm_id(5))}));
  (void)take(two_moves());
  EXPECT_THAT(last_.orders, IsEmpty());
  (void)take(two_moves());  // nor one that was not asked for
  EXPECT_THAT(last_.orders, IsEmpty());
  EXPECT_THAT(reservations(), IsEmpty());
}

TEST_F(RoomMakingTest, ASecondVmWaitsItsTurnAndThereIsOneSearchAtATime) {
  EXPECT_TRUE(waits(wants_one_node(5)));
  EXPECT_TRUE(waits(wants_one_node(6)));
  EXPECT_FALSE(last_.room_search);
  EXPECT_THAT(told(wants_one_node(6)).message, HasSubstr("room is made for other VMs first"));
  // The first one does not start, but its search is still under way.
  EXPECT_TRUE(ask(balancer::WithdrawRequest{to_text(vm_id(5))}));
  EXPECT_FALSE(last_.room_search);
  epoch();
  EXPECT_FALSE(last_.room_search);
  (void)take(two_moves());
  ASSERT_TRUE(last_.room_search);
  EXPECT_EQ(last_.room_search->vm, vm_id(6));
  RoomSearched found = two_moves();
  found.vm = vm_id(6);
  (void)take(found);
  expect_one_order_of(1);
}

TEST_F(RoomMakingTest, NoMoreThanEightWait) {
  for (std::uint8_t number = 5; number < 13; ++number) {
    EXPECT_TRUE(waits(wants_one_node(number)));
  }
  EXPECT_THAT(refusal(wants_one_node(13)), HasSubstr("single-numa-node"));
}

TEST_F(RoomMakingTest, AVmThatLivesSomewhereElseByNowLeadsToAnotherSearch) {
  EXPECT_TRUE(waits(wants_one_node(5)));
  (void)take(RoomSearched{vm_id(5), NodeId{0}, {{move(3, 0, 2)}}, ""});
  EXPECT_THAT(last_.orders, IsEmpty());
  expect_log("VM 'vm3' does not live on node 0 any more");
  EXPECT_TRUE(last_.room_search);
  EXPECT_THAT(reservations(), IsEmpty());
}

TEST_F(RoomMakingTest, AVmThatHasGotThereAlreadyIsLeftThereAndTheRoomIsKept) {
  EXPECT_TRUE(waits(wants_one_node(5)));
  (void)take(RoomSearched{vm_id(5), NodeId{0}, {{move(3, 0, 1)}, {move(1, 0, 1)}}, ""});
  expect_one_order_of(1);
}

TEST_F(RoomMakingTest, AVmThatMayNotMoveIsNotMoved) {
  host_.set_own_policy(1, {{"nodes", "0"}});
  (void)host_.report_domains();
  epoch();
  EXPECT_TRUE(waits(wants_one_node(5)));
  (void)take(two_moves());
  EXPECT_THAT(last_.orders, IsEmpty());
  EXPECT_THAT(last_.log, Contains(Field(&LogLine::message, HasSubstr("may not live on node 1"))));
  ASSERT_TRUE(last_.room_search);  // the second one
  host_.set_own_policy(1, {{"do_not_move", "true"}});
  (void)host_.report_domains();
  epoch();
  (void)take(two_moves());
  EXPECT_THAT(last_.orders, IsEmpty());
  ASSERT_TRUE(last_.room_search);
  (void)take(two_moves());
  EXPECT_THAT(refusal(wants_one_node(5)), HasSubstr("VM 'vm1' stays where it is: "));
}

TEST_F(RoomMakingTest, AVmThatIsGoneNeedNotMove) {
  EXPECT_TRUE(waits(wants_one_node(5)));
  host_.stop(1);
  (void)host_.report_domains();
  (void)take(two_moves());
  expect_one_order_of(2);
}

TEST_F(RoomMakingTest, WhilePausedNothingIsOrderedAndNoStartWaits) {
  EXPECT_TRUE(waits(wants_one_node(5)));
  EXPECT_TRUE(ask(balancer::PauseRequest{}));
  (void)take(two_moves());
  EXPECT_THAT(last_.orders, IsEmpty());
  EXPECT_THAT(refusal(wants_one_node(5)), HasSubstr("Room was to be made for it"));
  EXPECT_FALSE(ask(wants_one_node(6)));
  EXPECT_THAT(reservations(), IsEmpty());
}

TEST_F(RoomMakingTest, AfterARestartTheReservationEndsByItsTime) {
  EXPECT_TRUE(waits(wants_one_node(5)));
  (void)take(two_moves());
  ASSERT_TRUE(last_.reservations);
  HostStory again(2, Mode::kActive, [&](balancer::ControllerSetup& setup) {
    setup.reservations = *last_.reservations;
  });
  (void)again.report_domains();
  std::int64_t kept = 0;
  for (int i = 0; i < 60; ++i) {
    const Effects effects = again.epoch();
    EXPECT_THAT(effects.orders, IsEmpty());
    kept += again.controller().snapshot().nodes[0].reservations.empty() ? 0 : 1;
  }
  // It was made in epoch 12 of 2 s, for 30 s.
  EXPECT_EQ(kept, 12 + kDeadline_s / 2 - 1);
}

TEST_F(RoomMakingTest, WhoWaitsAgainAfterARestartHasNoReservationOfTheTimeBefore) {
  balancer::ReserveRequest left;
  left.name = "make-room " + to_text(vm_id(5));
  left.vcpus = 2;
  left.memory_bytes = kMiB.value * kTenantMib;
  left.vm = to_text(vm_id(5));
  EXPECT_TRUE(ask(left));
  EXPECT_TRUE(waits(wants_one_node(5)));
  ASSERT_TRUE(last_.room_search);
  EXPECT_THAT(reservations(), IsEmpty());
  (void)take(two_moves());
  EXPECT_THAT(reservations(), SizeIs(1));
}

TEST_F(RoomMakingInDryRunTest, NothingIsMovedAndItSaysWhatItWouldDo) {
  const AnnouncedView view = told(wants_one_node(5));
  EXPECT_FALSE(view.ask_again_ms);
  EXPECT_FALSE(last_.room_search);
  expect_log("In mode active, other VMs would be moved for up to 30 s to make room for it");
  expect_log("'vmnuma make-room --vcpus 2 --memory 440MiB' shows");
  epoch();
  EXPECT_THAT(last_.orders, IsEmpty());
  EXPECT_THAT(reservations(), IsEmpty());
}

TEST_F(RoomMakingTest, ARecordingThatBeginsInTheMiddleReplays) {
  AnnounceRequest asked = wants_one_node(5);
  asked.vm = "secret5";
  EXPECT_TRUE(waits(asked));
  EXPECT_TRUE(waits(wants_one_node(6)));
  (void)take(two_moves());
  for (const bool anonymize : {false, true}) {
    balancer::Recorder recorder;
    balancer::Controller copy = host_.controller();
    recorder.begin(copy, anonymize, std::nullopt);
    (void)recorder.pass(copy, RoomSearched{vm_id(6), NodeId{}, {}, "secret"});
    std::vector<std::string> lines = recorder.take_lines(std::size_t{1} << 24U);
    ASSERT_THAT(lines, SizeIs(2));
    const auto header = balancer::read_frame(lines[0]);
    ASSERT_TRUE(header) << header.error().message;
    const auto event = balancer::read_frame(lines[1]);
    ASSERT_TRUE(event) << event.error().message;
    EXPECT_EQ(lines[1].find("secret") == std::string::npos, anonymize);
    EXPECT_EQ(lines[0].find("secret") == std::string::npos, anonymize);
  }
}

/// Whatever happens while VMs wait: what must hold after each event.
class RoomMakingLoop : public RoomMakingTest {
 protected:
  static constexpr std::uint8_t kNeverMoves = 3;

  void happens(std::mt19937& random) {
    const auto one_of = [&](std::uint32_t many) {
      return static_cast<std::uint8_t>(random() % many);
    };
    switch (one_of(10)) {
      case 0:
      case 1: {
        AnnounceRequest asked =
            wants_one_node(static_cast<std::uint8_t>(5 + one_of(3)), kWantedMib, 10 + one_of(20));
        asked.waits_s = one_of(4) == 0 ? 0 : 60;
        watch(take(CommandReceived{7, std::move(asked)}));
        return;
      }
      case 2:
        watch(take(CommandReceived{7, balancer::WithdrawRequest{to_text(
                                          vm_id(static_cast<std::uint8_t>(5 + one_of(3))))}}));
        return;
      case 3:
      case 4:
        if (searching_) {
          RoomSearched found{*searching_, NodeId{one_of(3) - 1}, {}, "no way"};
          for (std::uint8_t vm = 1; vm <= kNeverMoves; ++vm) {
            if (one_of(2) == 0) {
              const std::int32_t home = one_of(5) == 0 ? one_of(2) : host_.home(vm);
              found.steps.push_back({move(vm, home, 1 - home)});
            }
          }
          searching_.reset();
          watch(take(found));
        }
        return;
      case 5:
        if (!under_way_.empty()) {
          const migration::Order order = under_way_.front();
          under_way_.erase(under_way_.begin());
          if (one_of(6) == 0) {
            watch(host_.finish(order, one_of(2) == 0 ? ActionState::kUndone : ActionState::kDropped,
                               "no"));
          } else {
            Effects done;
            done.orders = {order};
            host_.carry_out(done);
          }
        }
        return;
      case 6:
        watch(one_of(2) == 0 ? take(CommandReceived{7, balancer::PauseRequest{}})
                             : take(CommandReceived{7, balancer::ResumeRequest{}}));
        return;
      case 7:
        set_free(300 + 64 * one_of(4), 300 + 64 * one_of(4));
        return;
      default:
        epoch();
        watch(last_);
    }
  }

  void watch(const Effects& effects) {
    if (effects.room_search) {
      EXPECT_FALSE(searching_) << "two searches";
      searching_ = effects.room_search->vm;
    }
    for (const migration::Order& order : effects.orders) {
      under_way_.push_back(order);
      if (order.reason != Reason::kMakeRoom) {
        continue;
      }
      ++ordered_;
      EXPECT_EQ(host_.controller().mode(), Mode::kActive);
      for (const migration::VmChange& change : order.changes) {
        EXPECT_NE(change.vm, vm_id(kNeverMoves)) << "it may not move";
      }
      EXPECT_THAT(reservations(), SizeIs(1)) << "ordered for nobody";
    }
    const std::vector<balancer::ReservationView> kept = reservations();
    EXPECT_LE(kept.size(), 1U) << "two VMs' room is made at once";
    for (const balancer::ReservationView& reservation : kept) {
      EXPECT_GT(*reservation.until_unix_s, now()) << "it outlives its deadline";
    }
  }
  [[nodiscard]] std::int64_t now() const { return 1'700'000'000 + 2 * epochs_; }

  std::optional<VmId> searching_;
  std::vector<migration::Order> under_way_;
  std::int64_t ordered_ = 0;
};

TEST_F(RoomMakingLoop, NothingIsHalfDoneWhateverHappens) {
  host_.set_own_policy(kNeverMoves, {{"do_not_move", "true"}});
  (void)host_.report_domains();
  std::mt19937 random(20251125);
  for (int i = 0; i < 1000 && !HasFailure(); ++i) {
    happens(random);
  }
  EXPECT_GT(ordered_, 5);
  // After all deadlines nothing of it is left.
  (void)take(CommandReceived{7, balancer::ResumeRequest{}});
  pass_seconds(60);
  EXPECT_THAT(reservations(), IsEmpty());
  expect_replays(lines_, epochs_);
}

}  // namespace
}  // namespace vmnuma::tests
