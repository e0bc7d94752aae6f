// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/history/rows.h"

namespace vmnuma::stats::tests {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using JournalTest = HistoryTest;

std::vector<std::int64_t> ids(const Result<std::vector<PastAction>>& actions) {
  std::vector<std::int64_t> ids;
  for (const PastAction& past : actions.value()) {
    ids.push_back(past.action.id);
  }
  return ids;
}

TEST_F(JournalTest, GivesBackAnOpenActionWithItsStepsAfterReopening) {
  const ActionRow action = action_row(1);
  ASSERT_TRUE(history().open_action(action));
  ASSERT_TRUE(history().begin_step(1, 1, "pin vCPU 0 to 4-7"));
  ASSERT_TRUE(history().end_step(1, 1, "ok"));
  ASSERT_TRUE(history().begin_step(1, 2, "pin vCPU 1 to 4-7"));
  reopen();
  const auto open = history().open_actions();
  ASSERT_TRUE(open) << open.error().message;
  EXPECT_THAT(
      *open,
      ElementsAre(OpenAction{
          action, {{1, "pin vCPU 0 to 4-7", "ok"}, {2, "pin vCPU 1 to 4-7", std::nullopt}}}));
}

TEST_F(JournalTest, WhatIsOverBeforeItBeganIsNeverOpen) {
  ActionRow action = action_row(1);
  action.reason = "admission";
  action.order_text = "";
  ASSERT_TRUE(history().record_action(action, ActionState::kDropped, "its start was refused"));
  EXPECT_THAT(history().open_actions().value(), IsEmpty());
  reopen();
  EXPECT_THAT(history().recent_actions({}).value(),
              ElementsAre(PastAction{action, ActionState::kDropped, "its start was refused", {}}));
  EXPECT_EQ(history().last_action_id().value(), 1);
  EXPECT_FALSE(history().record_action(action, ActionState::kDropped, "again"));
  EXPECT_FALSE(history().record_action(action_row(2), ActionState::kOpen, ""));
  EXPECT_THAT(ids(history().recent_actions({})), ElementsAre(1));
}

TEST_F(JournalTest, KeepsBothRelocationsOfASwapInOrder) {
  ActionRow action = action_row(1);
  action.reason = "load-swap";
  action.relocations.push_back({.vm = vm_id(2),
                                .vm_name = "vm2",
                                .client = 3,
                                .from = {1},
                                .to = {0},
                                .memory = Bytes{7},
                                .spills_to = {2}});
  ASSERT_TRUE(history().open_action(action));
  EXPECT_THAT(history().open_actions().value(), ElementsAre(OpenAction{action, {}}));
}

TEST_F(JournalTest, KeepsWhatWasNotPredictedAsNotKnown) {
  ActionRow action = action_row(1);
  action.predicted = {.known = false};
  ASSERT_TRUE(history().open_action(action));
  ASSERT_TRUE(history().open_action(action_row(2)));
  reopen();
  EXPECT_THAT(history().open_actions().value(),
              ElementsAre(OpenAction{action, {}}, OpenAction{action_row(2), {}}));
  EXPECT_EQ(number("SELECT count(*) FROM action WHERE predicted_lost_before_us IS NULL AND"
                   " predicted_cost_us IS NULL AND predicted_locality_after IS NULL"),
            1);
}

TEST_F(JournalTest, KeepsAFirstPlacementAsComingFromNowhere) {
  ActionRow action = action_row(1);
  action.relocations[0].from = NodeId{};
  ASSERT_TRUE(history().open_action(action));
  EXPECT_EQ(history().open_actions().value()[0].action.relocations[0].from, NodeId{});
  EXPECT_EQ(number("SELECT from_node IS NULL FROM relocation"), 1);
}

TEST_F(JournalTest, KeepsAnActionWithoutRelocations) {
  ActionRow action = action_row(1);
  action.relocations.clear();
  ASSERT_TRUE(history().open_action(action));
  EXPECT_THAT(history().open_actions().value(), ElementsAre(OpenAction{action, {}}));
}

TEST_F(JournalTest, KeepsTextAsItIs) {
  ActionRow action = action_row(1);
  action.order_text = std::string("a'b\"c\n\0d\xc3\xa9", 10);
  action.relocations[0].vm_name = "Robert'); DROP TABLE action;--";
  ASSERT_TRUE(history().open_action(action));
  EXPECT_EQ(history().open_actions().value()[0].action, action);
}

TEST_F(JournalTest, ClosedActionsAreNoLongerOpen) {
  for (const std::int64_t id : {1, 2, 3}) {
    ASSERT_TRUE(history().open_action(action_row(id)));
  }
  ASSERT_TRUE(history().close_action(1, ActionState::kDone, ""));
  ASSERT_TRUE(history().close_action(2, ActionState::kUndone, "VM 'vm1' ended"));
  ASSERT_TRUE(history().close_action(3, ActionState::kDropped, "no room on node 1"));
  EXPECT_THAT(history().open_actions().value(), IsEmpty());
  const auto actions = history().recent_actions({}).value();
  ASSERT_THAT(actions, SizeIs(3));
  EXPECT_EQ(actions[0].state, ActionState::kDropped);
  EXPECT_EQ(actions[0].detail, "no room on node 1");
  EXPECT_EQ(actions[1].state, ActionState::kUndone);
  EXPECT_EQ(actions[2].state, ActionState::kDone);
}

TEST_F(JournalTest, TellsTheOrdersThatWereNotTakenBackOldestFirst) {
  EXPECT_THAT(history().orders_carried_out().value(), IsEmpty());
  for (const std::int64_t id : {4, 1, 2, 3}) {
    ASSERT_TRUE(history().open_action(action_row(id)));
  }
  ASSERT_TRUE(history().close_action(1, ActionState::kDone, ""));
  ASSERT_TRUE(history().close_action(2, ActionState::kUndone, "VM 'vm1' ended"));
  ASSERT_TRUE(history().close_action(3, ActionState::kDropped, "no room on node 1"));
  EXPECT_THAT(history().orders_carried_out().value(),
              ElementsAre(action_row(1).order_text, action_row(4).order_text));
}

TEST_F(JournalTest, AStepBegunAgainReplacesTheFormerRecord) {
  ASSERT_TRUE(history().open_action(action_row(1)));
  ASSERT_TRUE(history().begin_step(1, 1, "pin"));
  ASSERT_TRUE(history().end_step(1, 1, "ok"));
  ASSERT_TRUE(history().begin_step(1, 1, "pin back"));
  EXPECT_THAT(history().open_actions().value()[0].steps,
              ElementsAre(StepRow{1, "pin back", std::nullopt}));
}

TEST_F(JournalTest, RefusesANumberThatWasUsed) {
  ASSERT_TRUE(history().open_action(action_row(5)));
  const auto again = history().open_action(action_row(5));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(again.error().message, HasSubstr(file()));
  EXPECT_THAT(again.error().message, HasSubstr("5"));
}

TEST_F(JournalTest, SaysNotFoundForWhatIsNotThere) {
  EXPECT_EQ(history().begin_step(9, 1, "x").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(history().end_step(9, 1, "x").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(history().close_action(9, ActionState::kDone, "").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(history().set_outcome(9, {}).error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(history().open_action(action_row(9)));
  EXPECT_EQ(history().end_step(9, 1, "x").error().code, ErrorCode::kNotFound);
}

TEST_F(JournalTest, AClosedActionTakesNoMoreSteps) {
  ASSERT_TRUE(history().open_action(action_row(1)));
  ASSERT_TRUE(history().begin_step(1, 1, "pin"));
  ASSERT_TRUE(history().close_action(1, ActionState::kDone, ""));
  EXPECT_EQ(history().begin_step(1, 2, "x").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(history().end_step(1, 1, "x").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(history().close_action(1, ActionState::kUndone, "").error().code, ErrorCode::kNotFound);
}

TEST_F(JournalTest, CannotCloseAsOpen) {
  ASSERT_TRUE(history().open_action(action_row(1)));
  EXPECT_EQ(history().close_action(1, ActionState::kOpen, "").error().code,
            ErrorCode::kInvalidArgument);
}

TEST_F(JournalTest, NumbersAreNeverUsedAgainEvenAfterActionsAreGivenUp) {
  EXPECT_EQ(history().last_action_id().value(), 0);
  ASSERT_TRUE(history().open_action(action_row(41)));
  ASSERT_TRUE(history().close_action(41, ActionState::kDone, ""));
  ASSERT_TRUE(history().append_epoch(epoch_at(at(days(400) - hours(6)))));
  ASSERT_TRUE(history().append_epoch(epoch_at(at(days(400)))));  // deletes it: older than a year
  EXPECT_THAT(history().recent_actions({}).value(), IsEmpty());
  reopen();
  EXPECT_EQ(history().last_action_id().value(), 41);
}

TEST_F(JournalTest, PutsTheMeasuredOutcomeNextToThePrediction) {
  ASSERT_TRUE(history().open_action(action_row(1)));
  ASSERT_TRUE(history().close_action(1, ActionState::kDone, ""));
  EXPECT_EQ(history().recent_actions({}).value()[0].outcome, std::nullopt);
  ActionOutcome outcome{.lost_before = CpuTime{880'000},
                        .lost_after = CpuTime{120'000},
                        .imbalance_before = Permille{310},
                        .imbalance_after = Permille{50},
                        .locality_before = Permille{990},
                        .locality_after = Permille{950},
                        .moved = Bytes{123456789},
                        .took = milliseconds(1500)};
  ASSERT_TRUE(history().set_outcome(1, outcome));
  EXPECT_EQ(history().recent_actions({}).value()[0].outcome, outcome);
  outcome.locality_before.reset();  // and again, now without knowing where the memory was
  outcome.locality_after.reset();
  ASSERT_TRUE(history().set_outcome(1, outcome));
  EXPECT_EQ(history().recent_actions({}).value()[0].outcome, outcome);
  EXPECT_EQ(history().recent_actions({}).value()[0].action, action_row(1));
}

class JournalFilterTest : public HistoryTest {
 protected:
  // 1: vm1 0->1 load-move, hour 0; 2: vm2 1->2 locality-move, hour 1; 3: swap of vm1 1->2 and vm3
  // 2->1, hour 2.
  void SetUp() override {
    ASSERT_TRUE(history().open_action(action_row(1, at(hours(0)))));
    ActionRow second = action_row(2, at(hours(1)));
    second.reason = "locality-move";
    second.relocations = {{.vm = vm_id(2), .vm_name = "vm2", .from = {1}, .to = {2}}};
    ASSERT_TRUE(history().open_action(second));
    ActionRow third = action_row(3, at(hours(2)));
    third.reason = "load-swap";
    third.relocations = {{.vm = vm_id(1), .vm_name = "vm1", .from = {1}, .to = {2}},
                         {.vm = vm_id(3), .vm_name = "vm3", .from = {2}, .to = {1}}};
    ASSERT_TRUE(history().open_action(third));
  }
};

TEST_F(JournalFilterTest, ListsNewestFirst) {
  EXPECT_THAT(ids(history().recent_actions({})), ElementsAre(3, 2, 1));
}

TEST_F(JournalFilterTest, ListsNoMoreThanTheLimit) {
  EXPECT_THAT(ids(history().recent_actions({.limit = 2})), ElementsAre(3, 2));
  EXPECT_THAT(ids(history().recent_actions({.limit = 0})), IsEmpty());
}

TEST_F(JournalFilterTest, FindsAVmByItsUuidAlsoIfAnotherIsNamedLikeThat) {
  ActionRow other = action_row(4, at(hours(3)));
  other.relocations = {
      {.vm = vm_id(7), .vm_name = "00000000-0000-0000-0000-000000000002", .from = {1}, .to = {2}}};
  ASSERT_TRUE(history().open_action(other));
  EXPECT_THAT(ids(history().recent_actions({.vm = "00000000-0000-0000-0000-000000000002"})),
              ElementsAre(2));
}

TEST_F(JournalFilterTest, FindsAVmByNameOrUuidInAnyRelocation) {
  EXPECT_THAT(ids(history().recent_actions({.vm = "vm1"})), ElementsAre(3, 1));
  EXPECT_THAT(ids(history().recent_actions({.vm = "vm3"})), ElementsAre(3));
  EXPECT_THAT(ids(history().recent_actions({.vm = "00000000-0000-0000-0000-000000000002"})),
              ElementsAre(2));
  EXPECT_THAT(ids(history().recent_actions({.vm = "vm"})), IsEmpty());
}

TEST_F(JournalFilterTest, FindsAUuidInUpperCase) {
  VmId id;
  id.uuid.fill(0xab);
  ActionRow action = action_row(4);
  action.relocations[0].vm = id;
  ASSERT_TRUE(history().open_action(action));
  EXPECT_THAT(ids(history().recent_actions({.vm = "ABABABAB-ABAB-ABAB-ABAB-ABABABABABAB"})),
              ElementsAre(4));
}

TEST_F(JournalFilterTest, FindsANodeThatWasLeftOrReached) {
  EXPECT_THAT(ids(history().recent_actions({.node = NodeId{0}})), ElementsAre(1));
  EXPECT_THAT(ids(history().recent_actions({.node = NodeId{2}})), ElementsAre(3, 2));
}

TEST_F(JournalFilterTest, KnowsEveryVmThatMovedOrWasSampled) {
  EpochRows epoch = epoch_at(at(hours(3)));
  epoch.clients = {client_row(1, 0, 10), client_row(9, 0, 10)};
  ASSERT_TRUE(history().append_epoch(epoch));
  const auto vms = history().past_vms();
  ASSERT_TRUE(vms);
  std::vector<std::string> names;
  for (const PastVm& vm : *vms) {
    names.push_back(vm.name);
  }
  EXPECT_THAT(names, ElementsAre("vm1", "vm2", "vm3", "vm9"));
  EXPECT_EQ(vms->front().uuid, "00000000-0000-0000-0000-000000000001");
}

TEST_F(JournalFilterTest, CriteriaAddUp) {
  EXPECT_THAT(ids(history().recent_actions({.since = at(hours(1))})), ElementsAre(3, 2));
  EXPECT_THAT(ids(history().recent_actions({.until = at(hours(2))})), ElementsAre(2, 1));
  EXPECT_THAT(ids(history().recent_actions({.since = at(hours(1)), .until = at(hours(2))})),
              ElementsAre(2));
  EXPECT_THAT(ids(history().recent_actions({.until = at(hours(1)), .vm = "vm1"})), ElementsAre(1));
  EXPECT_THAT(ids(history().recent_actions({.reason = "load-swap"})), ElementsAre(3));
  EXPECT_THAT(ids(history().recent_actions({.since = at(hours(1)), .vm = "vm1"})), ElementsAre(3));
  EXPECT_THAT(ids(history().recent_actions({.vm = "vm1", .reason = "locality-move"})), IsEmpty());
}

}  // namespace
}  // namespace vmnuma::stats::tests
