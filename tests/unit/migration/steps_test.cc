// SPDX-License-Identifier: Apache-2.0
#include "migration/steps.h"

#include <set>

#include <gtest/gtest.h>

namespace vmnuma::migration {
namespace {

using Next = ResumePoint::Next;

/// Two VMs, two pins and one pin.
Order swap_order() {
  VmChange web;
  web.vm_name = "web1";
  web.pins = {{PinChange::Thread::kVcpu, 3, {}, {CpuId{8}, CpuId{9}}},
              {PinChange::Thread::kEmulator, 0, {CpuId{0}}, {CpuId{8}}}};
  web.memory.quotas = {{NodeId{1}, kGiB}};
  VmChange db;
  db.vm_name = "db1";
  db.pins = {{PinChange::Thread::kIoThread, 2, {CpuId{8}}, {CpuId{0}}}};
  db.memory.quotas = {{NodeId{3}, kGiB}, {NodeId{0}, kGiB}};
  return {.action = 1, .epoch = 1, .reason = {}, .changes = {web, db}, .predicted = {}};
}

JournalStep done(std::int32_t number) {
  return {number, "", std::string(kStepSucceeded)};
}
JournalStep begun(std::int32_t number) {
  return {number, "", std::nullopt};
}
JournalStep failed(std::int32_t number) {
  return {number, "", "it did not work"};
}

TEST(StepsTest, NumbersAreUniqueAndCountUpInTheOrderOfWork) {
  const Order order = swap_order();
  EXPECT_EQ(pin_steps(order), (std::vector<PinStep>{{0, 0}, {0, 1}, {1, 0}}));
  const std::vector<std::int32_t> numbers{pin_number(0),           pin_number(1),
                                          pin_number(2),           memory_number(order, 0),
                                          memory_number(order, 1), undo_number(order, 2),
                                          undo_number(order, 1),   undo_number(order, 0)};
  EXPECT_EQ(numbers, (std::vector<std::int32_t>{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(StepsTest, TextsNameTheThreadTheVmAndTheTarget) {
  const Order order = swap_order();
  EXPECT_EQ(pin_text(order, {0, 0}), "vCPU 3 of 'web1' to CPUs 8-9");
  EXPECT_EQ(pin_text(order, {0, 1}), "emulator of 'web1' to CPUs 8");
  EXPECT_EQ(pin_text(order, {1, 0}), "I/O thread 2 of 'db1' to CPUs 0");
  EXPECT_EQ(undo_text(order, {0, 0}), "vCPU 3 of 'web1' back to any CPU");
  EXPECT_EQ(undo_text(order, {0, 1}), "emulator of 'web1' back to CPUs 0");
  EXPECT_EQ(memory_text(order.changes[0]), "memory of 'web1' to node 1");
  EXPECT_EQ(memory_text(order.changes[1]), "memory of 'db1' to nodes 0,3");
}

TEST(StepsTest, StatesHaveNames) {
  EXPECT_EQ(name_of(ActionState::kDone), "done");
  EXPECT_EQ(name_of(ActionState::kUndone), "undone");
  EXPECT_EQ(name_of(ActionState::kDropped), "dropped");
}

TEST(ResumePointTest, NothingWasDoneBeforeTheFirstStep) {
  EXPECT_EQ(resume_point({swap_order(), {}}), (ResumePoint{Next::kNothingDone, 0}));
}

TEST(ResumePointTest, PinsThatWereBegunAreTakenBack) {
  EXPECT_EQ(resume_point({swap_order(), {begun(1)}}), (ResumePoint{Next::kUndoPins, 1}));
  EXPECT_EQ(resume_point({swap_order(), {done(1), begun(2)}}), (ResumePoint{Next::kUndoPins, 2}));
  EXPECT_EQ(resume_point({swap_order(), {done(1), failed(2)}}), (ResumePoint{Next::kUndoPins, 2}));
  EXPECT_EQ(resume_point({swap_order(), {done(1), done(2), begun(3)}}),
            (ResumePoint{Next::kUndoPins, 3}));
}

TEST(ResumePointTest, MemoryGoesOnWhenAllPinsWereMade) {
  EXPECT_EQ(resume_point({swap_order(), {done(1), done(2), done(3)}}),
            (ResumePoint{Next::kMoveMemory, 0}));
  EXPECT_EQ(resume_point({swap_order(), {done(1), done(2), done(3), begun(4)}}),
            (ResumePoint{Next::kMoveMemory, 0}));
}

TEST(ResumePointTest, AnUndoThatHadBegunIsBroughtToItsEnd) {
  EXPECT_EQ(resume_point({swap_order(), {done(1), done(2), done(3), begun(6)}}),
            (ResumePoint{Next::kUndoPins, 3}));
  EXPECT_EQ(resume_point({swap_order(), {done(1), failed(2), done(7), begun(8)}}),
            (ResumePoint{Next::kUndoPins, 2}));
}

TEST(ResumePointTest, AnOrderWithoutPinsGoesOnOnceItsMemoryWasBegun) {
  Order order = swap_order();
  for (VmChange& change : order.changes) {
    change.pins.clear();
  }
  EXPECT_EQ(resume_point({order, {}}), (ResumePoint{Next::kNothingDone, 0}));
  EXPECT_EQ(resume_point({order, {begun(1)}}), (ResumePoint{Next::kMoveMemory, 0}));
}

}  // namespace
}  // namespace vmnuma::migration
