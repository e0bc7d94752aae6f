// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/history_rows.h"

#include <gtest/gtest.h>

#include "balancer/service/history_answer.h"
#include "placement/model/text.h"

namespace vmnuma::balancer {
namespace {

const std::vector<stats::PastVm> kPast{{"c7a5fdbd-edaf-9455-926a-d65c16db1809", "web1"},
                                       {"11111111-2222-3333-4444-555555555555", "db7"}};

std::vector<VmDescription> running() {
  VmDescription vm;
  vm.id = parse_vm_id("00000000-0000-0000-0000-00000000000a").value();
  vm.name = "mail1";
  return {vm};
}

std::string message_for(const std::string& name) {
  const Result<std::string> found = vm_name(name, kPast, running());
  return found ? "it is " + *found : found.error().message;
}

TEST(HistoryRowsTest, KnowsVmsOfThePastAndOfThePresentByBothTheirNames) {
  for (const char* name :
       {"web1", "c7a5fdbd-edaf-9455-926a-d65c16db1809", "C7A5FDBD-EDAF-9455-926A-D65C16DB1809"}) {
    EXPECT_EQ(message_for(name), "it is web1") << name;
  }
  for (const char* name : {"mail1", "00000000-0000-0000-0000-00000000000a"}) {
    EXPECT_EQ(message_for(name), "it is mail1") << name;
  }
}

TEST(HistoryRowsTest, AUuidIsThatOfAVmBeforeItIsAName) {
  VmDescription posing;
  posing.id = parse_vm_id("00000000-0000-0000-0000-00000000000b").value();
  posing.name = kPast[1].uuid;
  EXPECT_EQ(vm_name(kPast[1].uuid, kPast, {posing}), "db7");
}

TEST(HistoryRowsTest, AStartThatWasNotAdmittedIsARowOfTheHistory) {
  const stats::WallTime now{std::chrono::seconds(1'763'900'000)};
  const VmId vm = parse_vm_id(kPast.front().uuid).value();
  const stats::ActionRow row = not_admitted_row({7, 12, vm, "web1", "why"}, now);
  const HistoryView view = history_view({{row, stats::ActionState::kDropped, "why", {}}}, 10);
  ASSERT_EQ(view.moves.size(), 1U);
  const HistoryRowView& shown = view.moves.front();
  EXPECT_EQ(shown.action, 7);
  EXPECT_EQ(shown.vm, "web1");
  EXPECT_EQ(shown.vm_uuid, kPast.front().uuid);
  EXPECT_EQ(shown.reason, "admission");
  EXPECT_EQ(shown.state, "dropped");
  EXPECT_EQ(shown.detail, "why");
  EXPECT_EQ(shown.time_unix_s, 1'763'900'000);
  EXPECT_LT(shown.from.value, 0);
  EXPECT_LT(shown.to.value, 0);
  EXPECT_EQ(shown.predicted, PredictionView{}) << "nothing was predicted";
}

TEST(HistoryRowsTest, ASpillIsARowWithItsSecondNode) {
  migration::Order order{.action = 7, .epoch = 1, .reason = Reason::kSpill};
  order.changes.push_back({.vm_name = "web1", .homes = {{0, {1}, {1}, {2}}}});
  const HistoryView view =
      history_view({{action_row(order, stats::WallTime{}), stats::ActionState::kOpen, "", {}}}, 10);
  ASSERT_EQ(view.moves.size(), 1U);
  EXPECT_EQ(view.moves[0].from, NodeId{1});
  EXPECT_EQ(view.moves[0].to, NodeId{1});
  EXPECT_EQ(view.moves[0].spills_to, NodeId{2});
}

TEST(HistoryRowsTest, WhatWasNotKnownIsNotZero) {
  migration::Order order{.action = 7, .epoch = 1, .reason = Reason::kInitialPlacement};
  order.changes.push_back({.vm_name = "web1", .homes = {{0, {-1}, {1}}}});
  for (const bool known : {true, false}) {
    order.predicted.known = known;
    const HistoryView view = history_view(
        {{action_row(order, stats::WallTime{}), stats::ActionState::kOpen, "", {}}}, 10);
    ASSERT_EQ(view.moves.size(), 1U);
    EXPECT_EQ(view.moves[0].predicted.lost_before_ms, known ? Figure(0) : Figure());
    EXPECT_EQ(view.moves[0].predicted.imbalance_after_pct, known ? Figure(0) : Figure());
    EXPECT_EQ(view.moves[0].predicted.locality_after_pct, known ? Figure(0) : Figure());
  }
}

TEST(HistoryRowsTest, SuggestsTheNameThatAnUnknownOneIsMostLike) {
  EXPECT_EQ(message_for("web2"),
            "there is no VM 'web2', neither running nor in the history; did you mean 'web1'?");
  EXPECT_EQ(message_for("mail"),
            "there is no VM 'mail', neither running nor in the history; did you mean 'mail1'?");
  EXPECT_EQ(message_for("xxxxxxxxxxxx"),
            "there is no VM 'xxxxxxxxxxxx', neither running nor in the history");
  EXPECT_EQ(vm_name("web1", {}, {}).error().code, ErrorCode::kNotFound);
}

TEST(HistoryRowsTest, ANodeThatTheHostLacksIsUnknown) {
  Topology topology;
  for (const std::int32_t node : {0, 1, 3}) {
    topology.nodes.emplace_back().id = {node};
  }
  EXPECT_TRUE(check_node_is_known({3}, topology));
  const Result<void> unknown = check_node_is_known({2}, topology);
  EXPECT_EQ(unknown.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(unknown.error().message, "there is no node 2, this host has nodes 0-1,3");
}

}  // namespace
}  // namespace vmnuma::balancer
