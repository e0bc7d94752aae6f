// SPDX-License-Identifier: Apache-2.0
/// Memory mode kMask: the set of nodes that libvirt allows follows the homes.
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/migration/world.h"

namespace vmnuma::migration {
namespace {

using testing::HasSubstr;

class MaskTest : public testing::Test {
 protected:
  /// Its memory may use only `nodes`.
  void allow(const TestVm& vm, std::vector<NodeId> nodes) {
    auto running = world_.running(vm.id);
    ASSERT_TRUE(running.has_value());
    running->numatune = NumatuneMode::kRestrictive;
    running->numatune_nodes = std::move(nodes);
    world_.domains.start(*std::move(running));
  }
  VmChange masked(const TestVm& vm, std::int32_t from, std::int32_t to) {
    allow(vm, {NodeId{from}});
    VmChange change = world_.change(vm, from, to);
    change.memory_mode = MemoryMode::kMask;
    change.memory.allowed_before = {NodeId{from}};
    return change;
  }
  ActionEvent carry_out(const VmChange& change) {
    world_.executor().submit(World::order(7, {change}));
    return finished(world_.run(), 7);
  }
  /// What was done to the set of nodes, in order.
  std::vector<std::string> sets() {
    std::vector<std::string> found;
    for (const std::string& change : world_.domains.changes()) {
      if (change.starts_with("set_memory_nodes")) {
        found.push_back(change);
      }
    }
    return found;
  }

  World world_;
};

TEST_F(MaskTest, WidensMovesNarrowsAndLooksAgain) {
  const TestVm vm = world_.start_vm("web1", 0, kMiB * 64, true);
  const ActionEvent end = carry_out(masked(vm, 0, 1));
  EXPECT_EQ(end.state, ActionState::kDone);
  EXPECT_EQ(sets(), (std::vector<std::string>{"set_memory_nodes web1 to 0-1",
                                              "set_memory_nodes web1 to 1"}));
  EXPECT_EQ(world_.memory_on(vm, 1), kMiB * 64);
  EXPECT_THAT(end.detail, HasSubstr("0 B outside its nodes after narrowing"));
}

TEST_F(MaskTest, StaysWideWhileMuchIsLeft) {
  const TestVm vm = world_.start_vm("web1", 0, kMiB * 64, true);
  world_.memory.pin(vm.process, 0x7f0000000000, kMiB * 8);
  const ActionEvent end = carry_out(masked(vm, 0, 1));
  EXPECT_EQ(sets(), std::vector<std::string>{"set_memory_nodes web1 to 0-1"});
  EXPECT_THAT(end.detail, HasSubstr("its set of memory nodes stays wide"));
}

TEST_F(MaskTest, NarrowsASmallVmOfWhichSomeMegabytesStayBehind) {
  const TestVm vm = world_.start_vm("web1", 0, kMiB * 64, true);
  world_.memory.pin(vm.process, 0x7f0000000000, kMiB * 4);
  carry_out(masked(vm, 0, 1));
  EXPECT_EQ(sets(), (std::vector<std::string>{"set_memory_nodes web1 to 0-1",
                                              "set_memory_nodes web1 to 1"}));
}

TEST_F(MaskTest, AVmThatMayUseEveryNodeIsNotNarrowedFirst) {
  const TestVm vm = world_.start_vm("web1", 0, kMiB * 64, true);
  VmChange change = masked(vm, 0, 1);
  change.memory.allowed_before.clear();
  carry_out(change);
  EXPECT_EQ(sets(), std::vector<std::string>{"set_memory_nodes web1 to 1"});
  EXPECT_EQ(world_.memory_on(vm, 1), kMiB * 64);
}

TEST_F(MaskTest, WideningKeepsNodesThatTheVmGotAfterTheOrderWasMade) {
  const TestVm vm = world_.start_vm("web1", 0, kMiB * 64, true);
  const VmChange change = masked(vm, 0, 1);
  allow(vm, {NodeId{0}, NodeId{2}});
  carry_out(change);
  EXPECT_EQ(sets(), (std::vector<std::string>{"set_memory_nodes web1 to 0-2",
                                              "set_memory_nodes web1 to 1"}));
}

TEST_F(MaskTest, AVmThatMayUseEveryNodeByNowIsNotNarrowedByWidening) {
  const TestVm vm = world_.start_vm("web1", 0, kMiB * 64, true);
  VmChange change = world_.change(vm, 0, 1);
  change.memory_mode = MemoryMode::kMask;
  change.memory.allowed_before = {NodeId{0}};
  carry_out(change);
  EXPECT_EQ(sets(), std::vector<std::string>{"set_memory_nodes web1 to 1"});
}

TEST_F(MaskTest, AChangeThatOnlySetsTheNodesMovesNothing) {
  const TestVm vm = world_.start_vm("web1", 0, kMiB * 64, true);
  VmChange change = masked(vm, 0, 1);
  change.memory = {};
  change.memory.allowed_after = {NodeId{0}, NodeId{1}};
  const ActionEvent end = carry_out(change);
  EXPECT_EQ(end.state, ActionState::kDone);
  EXPECT_EQ(sets(), std::vector<std::string>{"set_memory_nodes web1 to 0-1"});
  EXPECT_EQ(world_.memory_on(vm, 0), kMiB * 64);
  EXPECT_THAT(end.detail, HasSubstr("memory of 'web1' may use nodes 0-1"));
}

TEST_F(MaskTest, ASetThatIsWideAlreadyIsOnlyNarrowed) {
  const TestVm vm = world_.start_vm("web1", 0, kMiB * 64, true);
  VmChange change = masked(vm, 0, 1);
  change.memory.allowed_before = {NodeId{0}, NodeId{1}};
  carry_out(change);
  EXPECT_EQ(sets(), std::vector<std::string>{"set_memory_nodes web1 to 1"});
  EXPECT_EQ(world_.memory_on(vm, 1), kMiB * 64);
}

TEST_F(MaskTest, StaysWideWhereALittleIsLeftForLackOfRoom) {
  const TestVm vm = world_.start_vm("web1", 0, kMiB * 64, true);
  Limits limits = world_.limits();
  limits.node_reserve = {};
  world_.set_limits(limits);
  world_.memory.set_used_by_others(NodeId{1}, kMiB * 196);  // 60 MiB are free
  Order order = World::order(7, {masked(vm, 0, 1)});
  order.reason = Reason::kMemoryPull;  // moves what it can
  world_.executor().submit(order);
  const ActionEvent end = finished(world_.run(), 7);
  EXPECT_EQ(world_.memory_on(vm, 0), kMiB * 4);
  EXPECT_EQ(sets(), std::vector<std::string>{"set_memory_nodes web1 to 0-1"});
  EXPECT_THAT(end.detail, HasSubstr("its set of memory nodes stays wide"));
}

// ---- a set that is to be another for its own sake ----

TEST_F(MaskTest, ASmallerSetIsSetAfterTheMemoryIsThere) {
  const TestVm vm = world_.start_vm("web1", 1, kMiB * 64, true);
  allow(vm, {NodeId{1}});
  VmChange change = world_.change(vm, 1, 0);
  change.pins.clear();
  change.memory.allowed_before = {NodeId{1}};
  change.memory.allowed_after = {NodeId{0}};
  world_.executor().submit(World::order(7, {change}));
  world_.run([&] { return world_.memory_on(vm, 0) >= kMiB * 8; });
  EXPECT_EQ(sets(), std::vector<std::string>{"set_memory_nodes web1 to 0-1"});
  const ActionEvent end = finished(world_.run(), 7);
  EXPECT_EQ(world_.memory_on(vm, 0), kMiB * 64);
  EXPECT_EQ(sets(), (std::vector<std::string>{"set_memory_nodes web1 to 0-1",
                                              "set_memory_nodes web1 to 0"}));
  EXPECT_THAT(end.detail, HasSubstr("0 B outside its nodes after narrowing"));
}

TEST_F(MaskTest, ASmallerSetIsNotSetWhileMuchIsElsewhere) {
  const TestVm vm = world_.start_vm("web1", 1, kMiB * 64, true);
  world_.memory.pin(vm.process, 0x7f0000000000, kMiB * 32);
  allow(vm, {NodeId{1}});
  VmChange change = world_.change(vm, 1, 0);
  change.pins.clear();
  change.memory.allowed_before = {NodeId{1}};
  change.memory.allowed_after = {NodeId{0}};
  const ActionEvent end = carry_out(change);
  EXPECT_EQ(sets(), std::vector<std::string>{"set_memory_nodes web1 to 0-1"});
  EXPECT_THAT(end.detail, HasSubstr("its set of memory nodes stays wide"));
}

TEST_F(MaskTest, ASetThatIsToBeAnotherIsChangedBeforePagesMoveAndStays) {
  const TestVm vm = world_.start_vm("web1", 0, kMiB * 64, true);
  VmChange change = masked(vm, 0, 1);
  change.memory_mode = MemoryMode::kSoft;
  change.memory.allowed_after = {NodeId{0}, NodeId{1}};
  const ActionEvent end = carry_out(change);
  EXPECT_EQ(sets(), std::vector<std::string>{"set_memory_nodes web1 to 0-1"});
  EXPECT_EQ(world_.memory_on(vm, 1), kMiB * 64);
  EXPECT_THAT(end.detail, HasSubstr("it may use memory nodes 0-1"));
}

TEST_F(MaskTest, SoftModeNeverTouchesTheSet) {
  const TestVm vm = world_.start_vm("web1", 0, kMiB * 64, true);
  world_.executor().submit(World::order(7, {world_.change(vm, 0, 1)}));
  world_.run();
  EXPECT_TRUE(sets().empty());
}

TEST_F(MaskTest, ASetThatCannotBeChangedIsSaidAndPagesMoveAnyway) {
  const TestVm vm = world_.start_vm("web1", 0, kMiB * 64, true);
  world_.executor().submit(World::order(7, {masked(vm, 0, 1)}));
  world_.run([&] { return world_.home(vm) == 1; });
  // Next come the end of the last pin's row, the memory's row, the check of the process and the
  // widening.
  world_.faults.arm({world_.faults.calls() + 4,
                     Fault::Kind::kFailsBefore,
                     {ErrorCode::kUnsupported, 0, "the domain refuses"},
                     {}});
  const ActionEvent end = finished(world_.run(), 7);
  EXPECT_THAT(end.detail, HasSubstr("could not be widened: the domain refuses"));
  EXPECT_EQ(end.state, ActionState::kDone);
  EXPECT_EQ(world_.memory_on(vm, 1), kMiB * 64);
}

/// Its memory has come to node 0, and the set that it was found with is to be set next.
class ReleaseWorkTest : public MaskTest {
 protected:
  void bring_home() {
    allow(vm_, {NodeId{1}});
    VmChange change = world_.change(vm_, 1, 0);
    change.pins.clear();
    change.homes = {{0, NodeId{1}, NodeId{}}};
    change.memory.allowed_before = {NodeId{1}};
    change.memory.allowed_after = {NodeId{0}};
    world_.executor().submit(World::order(7, {change}));
    world_.run([&] { return world_.memory_on(vm_, 0) == kMiB * 64; });
  }
  /// While every call to libvirt fails with this.
  std::vector<ActionEvent> fail_for(Microseconds time, ErrorCode code) {
    world_.domains.fail_with(Error{code, 0, "no answer"});
    const Microseconds end = world_.now() + time;
    return world_.run([&] { return world_.now() >= end; });
  }

  const TestVm vm_ = world_.start_vm("web1", 1, kMiB * 64, true);
  static constexpr Microseconds kHour{3'600'000'000};
};

TEST_F(ReleaseWorkTest, ASetThatCannotBeRestoredYetStaysOpenAndIsTriedAgain) {
  bring_home();
  for (const ErrorCode code : {ErrorCode::kUnavailable, ErrorCode::kBusy}) {
    const int calls = world_.faults.calls();
    EXPECT_THAT(fail_for(kHour, code), testing::IsEmpty());
    EXPECT_LT(world_.faults.calls() - calls, 400);
    ASSERT_EQ(world_.executor().transfers().size(), 1U);
    EXPECT_EQ(world_.executor().transfers()[0].problem,
              "its set of memory nodes could not be narrowed: no answer");
  }
  world_.domains.fail_with(std::nullopt);
  const ActionEvent end = finished(world_.run(), 7);
  EXPECT_EQ(end.state, ActionState::kDone);
  EXPECT_FALSE(end.set_failed);
  EXPECT_EQ(sets().back(), "set_memory_nodes web1 to 0");
}

TEST_F(ReleaseWorkTest, WhatLibvirtRefusesIsTriedTenTimesAndThenSaid) {
  bring_home();
  const ActionEvent end = finished(fail_for(kHour, ErrorCode::kUnsupported), 7);
  EXPECT_EQ(end.state, ActionState::kDone);
  EXPECT_TRUE(end.set_failed);
  EXPECT_THAT(end.detail, HasSubstr("could not be narrowed: no answer"));
}

TEST_F(ReleaseWorkTest, ItGoesOnAfterTheProgramWasStopped) {
  bring_home();
  (void)fail_for({10'000'000}, ErrorCode::kUnavailable);
  world_.executor().cancel(vm_.id);
  world_.executor().set_paused(true);
  EXPECT_THAT(world_.run(), testing::IsEmpty());
  EXPECT_EQ(world_.journal.open_actions()->size(), 1U);
  world_.domains.fail_with(std::nullopt);
  world_.restart();
  EXPECT_EQ(finished(world_.run(), 7).state, ActionState::kDone);
  EXPECT_EQ(sets().back(), "set_memory_nodes web1 to 0");
}

TEST_F(ReleaseWorkTest, AYoungerOrderEndsIt) {
  bring_home();
  world_.domains.fail_with(Error{ErrorCode::kUnavailable, 0, "no answer"});
  world_.run([&] { return !world_.executor().transfers().at(0).problem.empty(); });
  world_.domains.fail_with(std::nullopt);
  VmChange change = world_.change(vm_, 0, 1);
  change.memory.allowed_after = {NodeId{0}, NodeId{1}};
  world_.executor().submit(World::order(8, {change}));
  const std::vector<ActionEvent> events = world_.run();
  EXPECT_THAT(finished(events, 7).detail, HasSubstr("superseded by action 8"));
  EXPECT_EQ(finished(events, 8).state, ActionState::kDone);
}

TEST_F(MaskTest, AfterACrashItWidensAgainAndGoesOn) {
  const TestVm vm = world_.start_vm("web1", 0, kMiB * 64, true);
  world_.executor().submit(World::order(7, {masked(vm, 0, 1)}));
  world_.run([&] { return world_.memory_on(vm, 1) >= kMiB * 8; });
  world_.restart();
  EXPECT_EQ(finished(world_.run(), 7).state, ActionState::kDone);
  EXPECT_EQ(sets(), (std::vector<std::string>{"set_memory_nodes web1 to 0-1",
                                              "set_memory_nodes web1 to 0-1",
                                              "set_memory_nodes web1 to 1"}));
  EXPECT_EQ(world_.memory_on(vm, 1), kMiB * 64);
}

}  // namespace
}  // namespace vmnuma::migration
