// SPDX-License-Identifier: Apache-2.0
#include "migration/executor.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/migration/world.h"

namespace vmnuma::migration {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Kind = ActionEvent::Kind;

std::vector<Kind> kinds(const std::vector<ActionEvent>& events, std::int64_t action) {
  std::vector<Kind> found;
  for (const ActionEvent& event : events) {
    if (event.action == action) {
      found.push_back(event.kind);
    }
  }
  return found;
}

class ExecutorTest : public testing::Test {
 protected:
  void expect_all_closed() {
    EXPECT_THAT(*world_.journal.open_actions(), IsEmpty());
    EXPECT_TRUE(world_.executor().idle());
  }
  /// Until some page has moved.
  std::vector<ActionEvent> run_until_moved(const TestVm& vm, std::int32_t to, Bytes bytes) {
    return world_.run([&, to, bytes] { return world_.memory_on(vm, to) >= bytes; });
  }

  World world_;
};

TEST_F(ExecutorTest, AnIdleExecutorAsksForNoStep) {
  EXPECT_EQ(world_.executor().step(world_.now()).next_at, std::nullopt);
  EXPECT_TRUE(world_.executor().idle());
}

// ---- a move ----

TEST_F(ExecutorTest, MovesThreadsThenMemoryAndClosesDone) {
  const TestVm vm = world_.start_vm("web1", 0, kMiB * 32, true);
  world_.executor().submit(World::order(7, {world_.change(vm, 0, 1)}));
  const auto events = world_.run();
  EXPECT_THAT(kinds(events, 7), ElementsAre(Kind::kStarted, Kind::kPinned, Kind::kFinished));
  const ActionEvent end = finished(events, 7);
  EXPECT_EQ(end.state, ActionState::kDone);
  EXPECT_EQ(end.vms, std::vector{vm.id});
  EXPECT_EQ(end.outcome.moved, kMiB * 32);
  EXPECT_EQ(end.detail,
            "all threads are pinned; memory of 'web1': moved 32.0 MiB, left 0 B; 5 calls, the "
            "longest 0.9 ms");
  EXPECT_GT(end.took, Microseconds{});
  EXPECT_EQ(world_.home(vm), 1);
  EXPECT_EQ(world_.memory_on(vm, 1), kMiB * 32);
  expect_all_closed();
}

TEST_F(ExecutorTest, PinsVcpusThenEmulatorThenIoThreadsBeforeAnyPageMoves) {
  const TestVm vm = world_.start_vm("web1", 0, kMiB * 32, true);
  world_.executor().submit(World::order(7, {world_.change(vm, 0, 1)}));
  run_until_moved(vm, 1, Bytes{1});
  EXPECT_THAT(world_.domains.changes(),
              ElementsAre("pin vCPU 0 of web1 to 4-7", "pin vCPU 1 of web1 to 4-7",
                          "pin the emulator of web1 to 4-7", "pin I/O thread 1 of web1 to 4-7"));
}

TEST_F(ExecutorTest, JournalsEveryStepBeforeItAndItsOutcomeAfterIt) {
  const TestVm vm = world_.start_vm("web1", 0, kMiB * 32, true);
  world_.executor().submit(World::order(7, {world_.change(vm, 0, 1)}));
  world_.run();
  ASSERT_EQ(world_.journal.closed().size(), 1U);
  const auto& closed = world_.journal.closed()[0];
  EXPECT_EQ(closed.state, ActionState::kDone);
  EXPECT_THAT(closed.detail, HasSubstr("moved 32.0 MiB"));
  EXPECT_THAT(closed.action.steps,
              ElementsAre(JournalStep{1, "vCPU 0 of 'web1' to CPUs 4-7", "ok"},
                          JournalStep{2, "vCPU 1 of 'web1' to CPUs 4-7", "ok"},
                          JournalStep{3, "emulator of 'web1' to CPUs 4-7", "ok"},
                          JournalStep{4, "I/O thread 1 of 'web1' to CPUs 4-7", "ok"},
                          JournalStep{5, "memory of 'web1' to node 1",
                                      "memory of 'web1': moved 32.0 MiB, left 0 B; 5 calls, "
                                      "the longest 0.9 ms"}));
}

TEST_F(ExecutorTest, APullMovesPagesOnly) {
  const TestVm vm = world_.start_vm("web1", 0, kMiB * 32, true);
  VmChange change = world_.change(vm, 0, 1);
  change.pins.clear();
  Order order = World::order(7, {change});
  order.reason = Reason::kMemoryPull;
  world_.executor().submit(order);
  const auto events = world_.run();
  EXPECT_THAT(kinds(events, 7), ElementsAre(Kind::kStarted, Kind::kFinished));
  EXPECT_EQ(world_.memory_on(vm, 1), kMiB * 32);
  EXPECT_THAT(world_.domains.changes(), IsEmpty());
  expect_all_closed();
}

TEST_F(ExecutorTest, HandsOffMemoryStaysAndTheDetailSaysSo) {
  const TestVm vm = world_.start_vm("web1", 0, kMiB * 32, true);
  VmChange change = world_.change(vm, 0, 1);
  change.memory_mode = MemoryMode::kHandsOff;
  world_.executor().submit(World::order(7, {change}));
  const ActionEvent end = finished(world_.run(), 7);
  EXPECT_EQ(end.state, ActionState::kDone);
  EXPECT_THAT(end.detail, HasSubstr("left alone because its memory mode is hands-off"));
  EXPECT_EQ(world_.home(vm), 1);
  EXPECT_EQ(world_.memory_on(vm, 0), kMiB * 32);
}

TEST_F(ExecutorTest, MemoryStaysWhilePageMigrationIsSwitchedOff) {
  const TestVm vm = world_.start_vm("web1", 0, kMiB * 32, true);
  Limits limits = world_.limits();
  limits.move_memory = false;
  world_.set_limits(limits);
  world_.executor().submit(World::order(7, {world_.change(vm, 0, 1)}));
  EXPECT_THAT(finished(world_.run(), 7).detail, HasSubstr("page migration is switched off"));
  EXPECT_EQ(world_.memory_on(vm, 0), kMiB * 32);
}

TEST_F(ExecutorTest, AnOrderWithoutChangesClosesDone) {
  world_.executor().submit(World::order(7, {}));
  EXPECT_EQ(finished(world_.run(), 7).state, ActionState::kDone);
  expect_all_closed();
}

TEST_F(ExecutorTest, MemoryThatCannotMoveTakesNoPinBack) {
  const TestVm vm = world_.start_vm("web1", 0, kMiB * 32, true);
  world_.memory.set_cpuset(vm.process, {NodeId{0}});
  world_.executor().submit(World::order(7, {world_.change(vm, 0, 1)}));
  const ActionEvent end = finished(world_.run(), 7);
  EXPECT_EQ(end.state, ActionState::kDone);
  EXPECT_EQ(end.outcome.left_because(Leftover::kNotAllowed), kMiB * 32);
  EXPECT_THAT(end.detail, HasSubstr("left 32.0 MiB (32.0 MiB not-allowed)"));
  EXPECT_EQ(world_.home(vm), 1);
}

// ---- preconditions ----

TEST_F(ExecutorTest, AVmThatEndedBeforeIsDroppedAndNothingTouched) {
  const TestVm vm = world_.start_vm("web1", 0, kMiB * 32, true);
  const Order order = World::order(7, {world_.change(vm, 0, 1)});
  world_.end_vm(vm);
  world_.executor().submit(order);
  const ActionEvent end = finished(world_.run(), 7);
  EXPECT_EQ(end.state, ActionState::kDropped);
  EXPECT_EQ(end.detail, "'web1' ended");
  expect_all_closed();
}

TEST_F(ExecutorTest, AVmThatStartedAnewIsNotTheOneThatWasMeant) {
  const TestVm vm = world_.start_vm("web1", 0, kMiB * 32, true);
  VmChange change = world_.change(vm, 0, 1);
  change.process.start_time_ticks -= 1;
  world_.executor().submit(World::order(7, {change}));
  EXPECT_EQ(finished(world_.run(), 7).state, ActionState::kDropped);
  EXPECT_THAT(world_.domains.changes(), IsEmpty());
}

TEST_F(ExecutorTest, AVmInALibvirtJobIsLeftAloneUntilTheJobEnds) {
  const TestVm vm = world_.start_vm("web1", 0, kMiB * 32, true);
  world_.domains.set_busy(vm.id, true);
  world_.executor().submit(World::order(7, {world_.change(vm, 0, 1)}));
  const ActionEvent end = finished(world_.run(), 7);
  EXPECT_EQ(end.state, ActionState::kDropped);
  EXPECT_EQ(end.detail, "'web1' is left alone for now: a libvirt job is under way");
  EXPECT_THAT(world_.domains.changes(), IsEmpty());
  EXPECT_EQ(world_.memory_on(vm, 0), kMiB * 32);

  world_.domains.set_busy(vm.id, false);
  world_.executor().submit(World::order(8, {world_.change(vm, 0, 1)}));
  EXPECT_EQ(finished(world_.run(), 8).state, ActionState::kDone);
  expect_all_closed();
}

TEST_F(ExecutorTest, AJobOfOneVmDropsASwapBeforeTheOtherIsTouched) {
  const TestVm a = world_.start_vm("a", 0, kMiB * 32, true);
  const TestVm b = world_.start_vm("b", 1, kMiB * 32, true);
  world_.domains.set_busy(b.id, true);
  world_.executor().submit(World::order(7, {world_.change(a, 0, 1), world_.change(b, 1, 0)}));
  EXPECT_EQ(finished(world_.run(), 7).state, ActionState::kDropped);
  EXPECT_THAT(world_.domains.changes(), IsEmpty());
}

TEST_F(ExecutorTest, AnOrderFromBeforeARestartIsFinishedWhateverTheJob) {
  const TestVm vm = world_.start_vm("web1", 0, kMiB * 32, true);
  world_.executor().submit(World::order(7, {world_.change(vm, 0, 1)}));
  world_.run([&] { return world_.domains.changes().size() == 2; });
  world_.domains.set_busy(vm.id, true);
  world_.restart();
  EXPECT_EQ(finished(world_.run(), 7).state, ActionState::kUndone);
  EXPECT_EQ(world_.home(vm), 0);
  expect_all_closed();
}

TEST_F(ExecutorTest, AnOrderFromBeforeARestartTakesAsLongAsItTakesAfterwards) {
  const TestVm vm = world_.start_vm("web1", 0, kMiB * 32, true);
  world_.executor().submit(World::order(7, {world_.change(vm, 0, 1)}));
  run_until_moved(vm, 1, kMiB * 4);
  world_.restart();
  const Microseconds resumed_at = world_.now();
  const ActionEvent end = finished(world_.run(), 7);
  EXPECT_EQ(end.state, ActionState::kDone);
  EXPECT_GT(end.took, Microseconds{});
  EXPECT_LE(end.took, world_.now() - resumed_at);
}

TEST_F(ExecutorTest, AMoveWithoutRoomIsDroppedWithTheReason) {
  const TestVm vm = world_.start_vm("web1", 0, kMiB * 32, true);
  world_.memory.set_used_by_others(NodeId{1}, kMiB * 240);
  world_.executor().submit(World::order(7, {world_.change(vm, 0, 1)}));
  const ActionEvent end = finished(world_.run(), 7);
  EXPECT_EQ(end.state, ActionState::kDropped);
  EXPECT_THAT(end.detail, HasSubstr("node 1 has room for"));
  EXPECT_EQ(world_.home(vm), 0);
}

TEST_F(ExecutorTest, AFirstPlacementIsMadeEvenWithoutRoomAndMovesWhatFits) {
  const TestVm vm = world_.start_vm("web1", 0, kMiB * 32, true);
  Limits limits = world_.limits();
  limits.node_reserve = {};
  world_.set_limits(limits);
  world_.memory.set_used_by_others(NodeId{1}, kMiB * 240);
  Order order = World::order(7, {world_.change(vm, 0, 1)});
  order.reason = Reason::kInitialPlacement;
  world_.executor().submit(order);
  const ActionEvent end = finished(world_.run(), 7);
  EXPECT_EQ(end.state, ActionState::kDone);
  EXPECT_EQ(world_.home(vm), 1);
  EXPECT_EQ(world_.memory_on(vm, 1), kMiB * 16);
  EXPECT_EQ(end.outcome.left_because(Leftover::kNoRoom), kMiB * 16);
  expect_all_closed();
}

TEST_F(ExecutorTest, RoomThatANewMoveDoesNotFindIsNotUsedByOneUnderWay) {
  const TestVm a = world_.start_vm("a", 0, kMiB * 64, true);
  const TestVm b = world_.start_vm("b", 0, kMiB * 64, true);
  world_.executor().submit(World::order(7, {world_.change(a, 0, 1)}));
  run_until_moved(a, 1, kMiB * 2);
  world_.memory.set_used_by_others(NodeId{1}, kMiB * 248);
  world_.executor().submit(World::order(8, {world_.change(b, 0, 1)}));
  const auto events = world_.run([&] { return world_.executor().idle(); });
  EXPECT_THAT(finished(events, 8).detail, HasSubstr("node 1 has room for 0 B"));
  EXPECT_THAT(finished(events, 7).detail, HasSubstr("no-room"));
  EXPECT_EQ(world_.memory_on(a, 1), kMiB * 2);
}

TEST_F(ExecutorTest, AMoveToAnUnknownNodeIsDropped) {
  const TestVm vm = world_.start_vm("web1", 0, kMiB * 32, true);
  VmChange change = world_.change(vm, 0, 1);
  change.memory.quotas = {{NodeId{9}, kGiB}};
  world_.executor().submit(World::order(7, {change}));
  EXPECT_EQ(finished(world_.run(), 7).state, ActionState::kDropped);
  EXPECT_EQ(world_.home(vm), 0);
}

// ---- swaps ----

TEST_F(ExecutorTest, ASwapExchangesTwoVms) {
  const TestVm a = world_.start_vm("a", 0, kMiB * 64, true);
  const TestVm b = world_.start_vm("b", 1, kMiB * 64, false);
  world_.executor().submit(World::order(7, {world_.change(a, 0, 1), world_.change(b, 1, 0)}));
  const ActionEvent end = finished(world_.run(), 7);
  EXPECT_EQ(end.state, ActionState::kDone);
  EXPECT_EQ(end.outcome.moved, kMiB * 128);
  EXPECT_EQ(world_.home(a), 1);
  EXPECT_EQ(world_.home(b), 0);
  EXPECT_EQ(world_.memory_on(a, 1), kMiB * 64);
  EXPECT_EQ(world_.memory_on(b, 0), kMiB * 64);
  expect_all_closed();
}

TEST_F(ExecutorTest, ASwapNeedsRoomForOnlyAPartAtATime) {
  const TestVm a = world_.start_vm("a", 0, kMiB * 64, true);
  const TestVm b = world_.start_vm("b", 1, kMiB * 64, false);
  Limits limits = world_.limits();
  limits.node_reserve = {};
  world_.set_limits(limits);
  world_.memory.set_used_by_others(NodeId{0}, kMiB * 190);  // 2 MiB free
  world_.memory.set_used_by_others(NodeId{1}, kMiB * 192);  // full
  world_.executor().submit(World::order(7, {world_.change(a, 0, 1), world_.change(b, 1, 0)}));
  const ActionEvent end = finished(world_.run(), 7);
  EXPECT_EQ(end.state, ActionState::kDone);
  EXPECT_EQ(end.outcome.left, Bytes{});
  EXPECT_EQ(world_.memory_on(a, 1), kMiB * 64);
  EXPECT_EQ(world_.memory_on(b, 0), kMiB * 64);
}

TEST_F(ExecutorTest, ASwapWithoutAnyRoomIsDroppedAndSaysSo) {
  const TestVm a = world_.start_vm("a", 0, kMiB * 64, true);
  const TestVm b = world_.start_vm("b", 1, kMiB * 64, true);
  world_.memory.set_used_by_others(NodeId{0}, kMiB * 192);
  world_.memory.set_used_by_others(NodeId{1}, kMiB * 192);
  world_.executor().submit(World::order(7, {world_.change(a, 0, 1), world_.change(b, 1, 0)}));
  const ActionEvent end = finished(world_.run(), 7);
  EXPECT_EQ(end.state, ActionState::kDropped);
  EXPECT_THAT(end.detail, HasSubstr("even a first part of the exchange"));
}

TEST_F(ExecutorTest, RoomThatVanishesDuringASwapEndsItWithWhatIsLeft) {
  const TestVm a = world_.start_vm("a", 0, kMiB * 64, true);
  const TestVm b = world_.start_vm("b", 1, kMiB * 64, true);
  Limits limits = world_.limits();
  limits.node_reserve = {};
  world_.set_limits(limits);
  world_.memory.set_used_by_others(NodeId{0}, kMiB * 190);
  world_.memory.set_used_by_others(NodeId{1}, kMiB * 190);
  world_.executor().submit(World::order(7, {world_.change(a, 0, 1), world_.change(b, 1, 0)}));
  run_until_moved(a, 1, kMiB * 8);
  world_.memory.set_used_by_others(NodeId{0}, kMiB * 256 - world_.memory.bytes_on(NodeId{0}));
  world_.memory.set_used_by_others(NodeId{1}, kMiB * 256 - world_.memory.bytes_on(NodeId{1}));
  const Microseconds before = world_.now();
  const ActionEvent end = finished(world_.run(), 7);
  EXPECT_EQ(end.state, ActionState::kDone);
  EXPECT_THAT(end.detail, HasSubstr("no-room"));
  EXPECT_GE(world_.now() - before, Microseconds{4'000'000});  // it waited for room
  expect_all_closed();
}

TEST_F(ExecutorTest, WhenOneOfASwapEndsTheOtherIsTakenBack) {
  const TestVm a = world_.start_vm("a", 0, kMiB * 64, true);
  const TestVm b = world_.start_vm("b", 1, kMiB * 64, true);
  world_.executor().submit(World::order(7, {world_.change(a, 0, 1), world_.change(b, 1, 0)}));
  world_.run([&] { return world_.domains.changes().size() == 5; });  // four of a, one of b
  world_.end_vm(b);
  const ActionEvent end = finished(world_.run(), 7);
  EXPECT_EQ(end.state, ActionState::kUndone);
  EXPECT_THAT(end.detail, HasSubstr("'b' ended"));
  EXPECT_EQ(world_.home(a), 0);
  expect_all_closed();
}

// ---- failures ----

TEST_F(ExecutorTest, AFailedPinTakesBackThoseMadeInReverseOrder) {
  const TestVm vm = world_.start_vm("web1", 0, kMiB * 32, true);
  VmChange change = world_.change(vm, 0, 1);
  change.pins[2].after = {CpuId{77}};  // there is none
  world_.executor().submit(World::order(7, {change}));
  const auto events = world_.run();
  EXPECT_THAT(kinds(events, 7), ElementsAre(Kind::kStarted, Kind::kFinished));
  const ActionEvent end = finished(events, 7);
  EXPECT_EQ(end.state, ActionState::kUndone);
  EXPECT_THAT(end.detail, HasSubstr("pinning emulator of 'web1' to CPUs 77 failed"));
  EXPECT_THAT(world_.domains.changes(),
              ElementsAre("pin vCPU 0 of web1 to 4-7", "pin vCPU 1 of web1 to 4-7",
                          "pin the emulator of web1 to 0-3", "pin vCPU 1 of web1 to 0-3",
                          "pin vCPU 0 of web1 to 0-3"));
  EXPECT_EQ(world_.memory_on(vm, 0), kMiB * 32);
  expect_all_closed();
}

TEST_F(ExecutorTest, APinThatWasNoneBeforeGoesBackToAnyCpu) {
  const TestVm vm = world_.start_vm("web1", 0, kMiB * 32, true);
  VmChange change = world_.change(vm, 0, 1);
  change.pins[0].before = {};
  change.pins[1].after = {CpuId{77}};
  world_.executor().submit(World::order(7, {change}));
  world_.run();
  EXPECT_THAT(world_.domains.changes().back(), HasSubstr("pin vCPU 0 of web1 to 0-7"));
}

/// libvirt's connection is gone, or a job of the VM keeps it busy.
class PassingProblemTest : public ExecutorTest, public testing::WithParamInterface<ErrorCode> {};
INSTANTIATE_TEST_SUITE_P(, PassingProblemTest,
                         testing::Values(ErrorCode::kUnavailable, ErrorCode::kBusy),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

TEST_P(PassingProblemTest, TakingBackWaitsAsLongAsItTakes) {
  const TestVm vm = world_.start_vm("web1", 0, kMiB * 32, true);
  world_.executor().submit(World::order(7, {world_.change(vm, 0, 1)}));
  world_.run([&] { return world_.domains.changes().size() == 2; });
  world_.domains.fail_with(Error{GetParam(), 0, "not now"});
  const Microseconds away_since = world_.now();
  auto events = world_.run([&] { return world_.now() - away_since > Microseconds{600'000'000}; });
  EXPECT_THAT(events, IsEmpty());
  world_.domains.fail_with(std::nullopt);
  EXPECT_EQ(finished(world_.run(), 7).state, ActionState::kUndone);
  EXPECT_EQ(world_.home(vm), 0);
  expect_all_closed();
}

TEST_F(ExecutorTest, TakingBackThatStaysImpossibleIsGivenUpAndSaid) {
  const TestVm vm = world_.start_vm("web1", 0, kMiB * 32, true);
  VmChange change = world_.change(vm, 0, 1);
  change.pins[0].before = {CpuId{78}};
  change.pins[1].after = {CpuId{77}};
  world_.executor().submit(World::order(7, {change}));
  const ActionEvent end = finished(world_.run(), 7);
  EXPECT_EQ(end.state, ActionState::kUndone);
  EXPECT_THAT(end.detail, HasSubstr("vCPU 0 of 'web1' back to CPUs 78 failed and is left so"));
  expect_all_closed();
}

TEST_F(ExecutorTest, AVcpuThatWasUnpluggedIsNotTakenBack) {
  const TestVm vm = world_.start_vm("web1", 0, kMiB * 32, true);
  VmChange change = world_.change(vm, 0, 1);
  change.pins[1].number = 5;  // there is none
  world_.executor().submit(World::order(7, {change}));
  const ActionEvent end = finished(world_.run(), 7);
  EXPECT_EQ(end.state, ActionState::kUndone);
  EXPECT_EQ(world_.home(vm), 0);
  expect_all_closed();
}

TEST_F(ExecutorTest, OneVmThatCannotBeTakenBackHoldsUpNoOther) {
  const TestVm stuck = world_.start_vm("stuck", 0, kMiB * 32, true);
  const TestVm other = world_.start_vm("other", 0, kMiB * 32, true);
  VmChange change = world_.change(stuck, 0, 1);
  change.pins[0].before = {CpuId{78}};
  change.pins[1].after = {CpuId{77}};
  world_.executor().submit(World::order(7, {change}));
  world_.executor().submit(World::order(8, {world_.change(other, 0, 1)}));
  const auto events = world_.run();
  const auto at = [&](std::int64_t action) {
    return std::find_if(events.begin(), events.end(), [&](const ActionEvent& event) {
      return event.action == action && event.kind == Kind::kFinished;
    });
  };
  EXPECT_LT(at(8), at(7));
  EXPECT_EQ(world_.home(other), 1);
}

TEST_F(ExecutorTest, AJournalThatCannotBeClosedIsTriedAgain) {
  const TestVm vm = world_.start_vm("web1", 0, kMiB * 2, true);
  world_.executor().submit(World::order(7, {world_.change(vm, 0, 1)}));
  auto events = world_.run([&] { return world_.memory_on(vm, 1) == kMiB * 2; });
  const int here = world_.faults.calls();
  for (int call = here; call < here + 6; ++call) {
    world_.faults.arm({call, Fault::Kind::kFailsBefore, {ErrorCode::kNoSpace, 0, "full"}, {}});
  }
  const auto rest = world_.run();
  events.insert(events.end(), rest.begin(), rest.end());
  EXPECT_EQ(finished(events, 7).state, ActionState::kDone);
  expect_all_closed();
}

TEST_F(ExecutorTest, WithoutAJournalNothingIsTouched) {
  const TestVm vm = world_.start_vm("web1", 0, kMiB * 2, true);
  world_.faults.arm({1, Fault::Kind::kFailsBefore, {ErrorCode::kNoSpace, 0, "disk full"}, {}});
  world_.executor().submit(World::order(7, {world_.change(vm, 0, 1)}));
  const ActionEvent end = finished(world_.run(), 7);
  EXPECT_EQ(end.state, ActionState::kDropped);
  EXPECT_EQ(end.detail, "not begun, because the journal could not be written: disk full");
  EXPECT_THAT(world_.domains.changes(), IsEmpty());
}

TEST_F(ExecutorTest, AnOrderThatNeverGotIntoTheJournalIsNotKept) {
  const TestVm vm = world_.start_vm("web1", 0, kMiB * 2, true);
  for (int call = 1; call < 40; ++call) {
    world_.faults.arm({call, Fault::Kind::kFailsBefore, {ErrorCode::kUnavailable, 0, "none"}, {}});
  }
  world_.executor().submit(World::order(7, {world_.change(vm, 0, 1)}));
  EXPECT_EQ(finished(world_.run(), 7).state, ActionState::kDropped);
  EXPECT_LT(world_.faults.calls(), 10);
  EXPECT_TRUE(world_.executor().idle());
}

TEST_F(ExecutorTest, AVmThatEndsWhileItsMemoryMovesIsDropped) {
  const TestVm vm = world_.start_vm("web1", 0, kMiB * 64, true);
  world_.executor().submit(World::order(7, {world_.change(vm, 0, 1)}));
  world_.run([&] {
    const auto rows = world_.executor().transfers();
    return !rows.empty() && rows[0].done >= kMiB * 8;
  });
  world_.end_vm(vm);
  const ActionEvent end = finished(world_.run(), 7);
  EXPECT_EQ(end.state, ActionState::kDropped);
  EXPECT_THAT(end.detail, HasSubstr("the VM ended"));
  EXPECT_GE(end.outcome.moved, kMiB * 8);
  expect_all_closed();
}

// ---- several orders ----

TEST_F(ExecutorTest, ANewerOrderEndsTheOlderTransferOnceItsPinsAreMade) {
  const TestVm vm = world_.start_vm("web1", 0, kMiB * 128, false);
  world_.executor().submit(World::order(7, {world_.change(vm, 0, 1)}));
  auto events = run_until_moved(vm, 1, kMiB * 16);
  world_.executor().submit(World::order(8, {world_.change(vm, 1, 0)}));
  const auto rest = world_.run();
  events.insert(events.end(), rest.begin(), rest.end());
  const ActionEvent older = finished(events, 7);
  EXPECT_EQ(older.state, ActionState::kDone);
  EXPECT_THAT(older.detail, HasSubstr("superseded by action 8"));
  EXPECT_EQ(older.outcome.moved + older.outcome.left, kMiB * 128);
  EXPECT_EQ(finished(events, 8).state, ActionState::kDone);
  EXPECT_EQ(world_.home(vm), 0);
  EXPECT_EQ(world_.memory_on(vm, 0), kMiB * 128);
  expect_all_closed();
}

TEST_F(ExecutorTest, ANewerOrderThatIsDroppedLeavesTheOlderTransferAlone) {
  const TestVm vm = world_.start_vm("web1", 0, kMiB * 64, false);
  world_.executor().submit(World::order(7, {world_.change(vm, 0, 1)}));
  auto events = run_until_moved(vm, 1, kMiB * 16);
  VmChange change = world_.change(vm, 1, 0);
  change.process.start_time_ticks += 1;
  world_.executor().submit(World::order(8, {change}));
  const auto rest = world_.run();
  events.insert(events.end(), rest.begin(), rest.end());
  EXPECT_EQ(finished(events, 8).state, ActionState::kDropped);
  EXPECT_EQ(finished(events, 7).outcome.left, Bytes{});
  EXPECT_EQ(world_.memory_on(vm, 1), kMiB * 64);
}

TEST_F(ExecutorTest, AWaitingOrderIsSupersededByANewerOne) {
  const TestVm vm = world_.start_vm("web1", 0, kMiB * 2, false);
  world_.executor().submit(World::order(7, {world_.change(vm, 0, 1)}));
  world_.executor().submit(World::order(8, {world_.change(vm, 0, 1)}));
  const auto events = world_.run();
  EXPECT_THAT(kinds(events, 7), ElementsAre(Kind::kFinished));
  EXPECT_EQ(finished(events, 7).state, ActionState::kDropped);
  EXPECT_EQ(finished(events, 7).detail, "superseded by action 8 before it began");
  EXPECT_EQ(finished(events, 8).state, ActionState::kDone);
}

TEST_F(ExecutorTest, APullOfMemoryAndNewCpusThatWaitForTheSameVmAreBothCarriedOut) {
  const TestVm vm = world_.start_vm("web1", 0, kMiB * 2, false);
  const TestVm other = world_.start_vm("web2", 0, kMiB * 2, false);
  VmChange pull = world_.change(vm, 0, 1);
  pull.pins.clear();
  VmChange cpus = world_.change(vm, 0, 1);
  cpus.memory = {};
  VmChange cpus_first = world_.change(other, 0, 1);
  cpus_first.memory = {};
  VmChange pull_then = world_.change(other, 0, 1);
  pull_then.pins.clear();
  world_.executor().submit(World::order(7, {pull}));
  world_.executor().submit(World::order(8, {cpus}));
  world_.executor().submit(World::order(9, {cpus_first}));
  world_.executor().submit(World::order(10, {pull_then}));
  const auto events = world_.run();
  for (const std::int64_t action : {7, 8, 9, 10}) {
    EXPECT_EQ(finished(events, action).state, ActionState::kDone) << action;
  }
  for (const TestVm& one : {vm, other}) {
    EXPECT_EQ(world_.home(one), 1);
    EXPECT_EQ(world_.memory_on(one, 1), kMiB * 2);
  }
  expect_all_closed();
}

TEST_F(ExecutorTest, AnOrderWaitsWhileAnotherOfItsVmSettles) {
  const TestVm vm = world_.start_vm("web1", 0, kMiB * 2, true);
  world_.executor().submit(World::order(7, {world_.change(vm, 0, 1)}));
  world_.run([&] { return world_.domains.changes().size() == 2; });
  world_.executor().submit(World::order(8, {world_.change(vm, 1, 0)}));
  const auto events = world_.run();
  EXPECT_EQ(world_.home(vm), 0);
  EXPECT_EQ(world_.memory_on(vm, 0), kMiB * 2);
  EXPECT_EQ(world_.domains.changes().size(), 8U);
  EXPECT_EQ(finished(events, 8).state, ActionState::kDone);
}

TEST_F(ExecutorTest, TheMostUsefulTransfersGoFirstAndTheOtherDoesNotStarve) {
  const TestVm dull = world_.start_vm("dull", 0, kMiB * 64, true);
  const TestVm keen = world_.start_vm("keen", 0, kMiB * 110, false);
  const TestVm eager = world_.start_vm("eager", 0, kMiB * 70, false);
  std::int64_t action = 7;
  for (const auto& [vm, gain] : {std::pair{dull, 10}, {keen, 10'000}, {eager, 5000}}) {
    Order order = World::order(action++, {world_.change(vm, 0, 1)});
    order.predicted.lost_before = {gain};
    world_.executor().submit(order);
  }
  world_.run([&] {
    return world_.memory_on(keen, 1) == kMiB * 110 && world_.memory_on(eager, 1) == kMiB * 70;
  });
  EXPECT_GT(world_.memory_on(dull, 1), Bytes{});
  EXPECT_LT(world_.memory_on(dull, 1), kMiB * 64);
  world_.run();
  EXPECT_EQ(world_.memory_on(dull, 1), kMiB * 64);
}

// ---- control ----

TEST_F(ExecutorTest, WhilePausedNothingBeginsAndNoPageMoves) {
  const TestVm vm = world_.start_vm("web1", 0, kMiB * 64, true);
  world_.executor().set_paused(true);
  world_.executor().submit(World::order(7, {world_.change(vm, 0, 1)}));
  EXPECT_THAT(world_.run(), IsEmpty());
  EXPECT_EQ(world_.faults.calls(), 0);
  world_.executor().set_paused(false);
  run_until_moved(vm, 1, kMiB * 4);
  world_.executor().set_paused(true);
  const Bytes moved = world_.memory_on(vm, 1);
  world_.run();
  EXPECT_EQ(world_.memory_on(vm, 1), moved);
  world_.executor().set_paused(false);
  world_.run();
  EXPECT_EQ(world_.memory_on(vm, 1), kMiB * 64);
  expect_all_closed();
}

TEST_F(ExecutorTest, APauseWhilePinningLeavesNoVmHalfMoved) {
  const TestVm vm = world_.start_vm("web1", 0, kMiB * 64, true);
  world_.executor().submit(World::order(7, {world_.change(vm, 0, 1)}));
  world_.run([&] { return world_.domains.changes().size() == 2; });
  world_.executor().set_paused(true);
  world_.run();
  EXPECT_EQ(world_.home(vm), 1);
  EXPECT_EQ(world_.memory_on(vm, 1), Bytes{});
}

TEST_F(ExecutorTest, CancellingAWaitingOrderDropsIt) {
  const TestVm vm = world_.start_vm("web1", 0, kMiB * 64, true);
  world_.executor().submit(World::order(7, {world_.change(vm, 0, 1)}));
  world_.executor().cancel(vm.id);
  const auto events = world_.run();
  EXPECT_THAT(kinds(events, 7), ElementsAre(Kind::kFinished));
  EXPECT_EQ(events[0].detail, "cancelled before it began");
  EXPECT_EQ(world_.faults.calls(), 0);
}

TEST_F(ExecutorTest, CancellingWhilePinningTakesThePinsBack) {
  const TestVm vm = world_.start_vm("web1", 0, kMiB * 64, true);
  world_.executor().submit(World::order(7, {world_.change(vm, 0, 1)}));
  world_.run([&] { return world_.domains.changes().size() == 2; });
  world_.executor().cancel(vm.id);
  const ActionEvent end = finished(world_.run(), 7);
  EXPECT_EQ(end.state, ActionState::kUndone);
  EXPECT_EQ(end.detail, "cancelled");
  EXPECT_EQ(world_.home(vm), 0);
  expect_all_closed();
}

TEST_F(ExecutorTest, CancellingATransferEndsItWhereItIs) {
  const TestVm vm = world_.start_vm("web1", 0, kMiB * 64, true);
  world_.executor().submit(World::order(7, {world_.change(vm, 0, 1)}));
  run_until_moved(vm, 1, kMiB * 4);
  world_.executor().cancel(vm.id);
  const ActionEvent end = finished(world_.run(), 7);
  EXPECT_EQ(end.state, ActionState::kDone);
  EXPECT_THAT(end.detail, HasSubstr("cancelled"));
  EXPECT_LT(end.outcome.moved, kMiB * 64);
  expect_all_closed();
}

TEST_F(ExecutorTest, CancellingWhilePausedStillEndsTheAction) {
  const TestVm vm = world_.start_vm("web1", 0, kMiB * 64, true);
  world_.executor().submit(World::order(7, {world_.change(vm, 0, 1)}));
  run_until_moved(vm, 1, kMiB * 4);
  world_.executor().set_paused(true);
  world_.run();
  world_.executor().cancel(vm.id);
  EXPECT_EQ(finished(world_.run(), 7).state, ActionState::kDone);
  expect_all_closed();
}

TEST_F(ExecutorTest, CancellingOneVmOfASwapLeavesTheOthersMemoryMoving) {
  const TestVm a = world_.start_vm("a", 0, kMiB * 64, true);
  const TestVm b = world_.start_vm("b", 1, kMiB * 64, true);
  world_.executor().submit(World::order(7, {world_.change(a, 0, 1), world_.change(b, 1, 0)}));
  run_until_moved(a, 1, kMiB * 4);
  world_.executor().cancel(a.id);
  EXPECT_EQ(finished(world_.run(), 7).state, ActionState::kDone);
  EXPECT_LT(world_.memory_on(a, 1), kMiB * 64);
  EXPECT_EQ(world_.memory_on(b, 0), kMiB * 64);
}

// ---- pace ----

TEST_F(ExecutorTest, MovesNoFasterThanTheRateAllows) {
  const TestVm vm = world_.start_vm("web1", 0, kMiB * 224, true);
  Limits limits = world_.limits();
  limits.bytes_per_second = kMiB * 100;
  world_.set_limits(limits);
  world_.executor().submit(World::order(7, {world_.change(vm, 0, 1)}));
  const Microseconds before = world_.now();
  world_.run();
  // 224 MiB less one full bucket of 24 MiB at 100 MiB/s.
  EXPECT_GE(world_.now() - before, Microseconds{1'990'000});
  EXPECT_LE(world_.now() - before, Microseconds{2'500'000});
  EXPECT_EQ(world_.memory_on(vm, 1), kMiB * 224);
}

TEST_F(ExecutorTest, AVmsOwnRateSlowsNoOther) {
  const TestVm a = world_.start_vm("a", 0, kMiB * 72, true);
  const TestVm b = world_.start_vm("b", 0, kMiB * 72, true);
  Limits limits = world_.limits();
  limits.vm_bytes_per_second = kMiB * 32;
  world_.set_limits(limits);
  world_.executor().submit(World::order(7, {world_.change(a, 0, 1)}));
  world_.executor().submit(World::order(8, {world_.change(b, 0, 1)}));
  const Microseconds before = world_.now();
  world_.run();
  // Each: 72 MiB less its bucket of 24 MiB at 32 MiB/s = 1.5 s, both at once.
  EXPECT_GE(world_.now() - before, Microseconds{1'490'000});
  EXPECT_LE(world_.now() - before, Microseconds{1'700'000});
}

TEST_F(ExecutorTest, UnderMemoryPressureNoPageMoves) {
  const TestVm vm = world_.start_vm("web1", 0, kMiB * 64, true);
  world_.executor().set_memory_pressure(true);
  world_.executor().submit(World::order(7, {world_.change(vm, 0, 1)}));
  const Microseconds before = world_.now();
  world_.run([&] { return world_.now() - before > Microseconds{10'000'000}; });
  EXPECT_EQ(world_.home(vm), 1);
  EXPECT_EQ(world_.memory_on(vm, 1), Bytes{});
  world_.executor().set_memory_pressure(false);
  world_.run();
  EXPECT_EQ(world_.memory_on(vm, 1), kMiB * 64);
}

TEST_F(ExecutorTest, ReportsProgressWhileMemoryMoves) {
  const TestVm vm = world_.start_vm("web1", 0, kMiB * 64, true);
  EXPECT_THAT(world_.executor().transfers(), IsEmpty());
  world_.executor().submit(World::order(7, {world_.change(vm, 0, 1)}));
  run_until_moved(vm, 1, kMiB * 16);
  world_.run([&] { return world_.executor().transfers().at(0).done >= kMiB * 16; });
  const auto rows = world_.executor().transfers();
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].vm, vm.id);
  EXPECT_EQ(rows[0].action, 7);
  EXPECT_EQ(rows[0].done + rows[0].remaining, kMiB * 64);
  EXPECT_GT(rows[0].per_second, Bytes{});
  EXPECT_GT(rows[0].outcome.calls, 0);
  world_.run();
  EXPECT_THAT(world_.executor().transfers(), IsEmpty());
}

}  // namespace
}  // namespace vmnuma::migration
