// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/top/top_state.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vmnuma::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TopClient client(const std::string& name, std::int64_t demand_ms, std::int64_t owed_ms) {
  TopClient view;
  view.vm = name;
  view.vm_uuid = "uuid-of-" + name;
  view.vcpus = 2;
  view.home = {0};
  view.demand_ms = demand_ms;
  view.owed_ms = owed_ms;
  view.memory_bytes = 64 * kMiB.value;
  view.local_bytes = 64 * kMiB.value;
  return view;
}

TopHost three_clients() {
  TopHost host;
  host.epoch_length_ms = 2000;
  host.clients = {client("a", 4000, 10), client("b", 1000, 30), client("c", 2000, 20)};
  return host;
}

std::vector<std::string> names(const TopHost& host, const TopState& state) {
  std::vector<std::string> found;
  for (const TopClient& row : ordered_clients(host, state)) {
    found.push_back(row.vm);
  }
  return found;
}

TopState pressed(TopState state, std::initializer_list<KeyPress> keys, const TopHost& host) {
  for (const KeyPress& key : keys) {
    state = after_key(std::move(state), key, host, /*page_rows=*/2, /*most_scrolled=*/5);
  }
  return state;
}

KeyPress character(char key) {
  return {TopKey::kCharacter, key};
}

TEST(TopStateTest, TheClientThatIsOwedMostComesFirst) {
  EXPECT_THAT(names(three_clients(), {}), ElementsAre("b", "c", "a"));
}

TEST(TopStateTest, TheFilterLeavesWhatMatchesInAnyCase) {
  TopHost host = three_clients();
  host.clients.push_back(client("Web-A", 1, 1));
  TopState state = pressed({}, {character('/'), character('A')}, host);
  EXPECT_EQ(state.entry, TopEntry::kFilter);
  EXPECT_THAT(names(host, state), ElementsAre("a", "Web-A"));
  state = pressed(state, {{TopKey::kErase}, character('q'), {TopKey::kEnter}}, host);
  EXPECT_EQ(state.entry, TopEntry::kNone);
  EXPECT_FALSE(state.quits);
  EXPECT_THAT(names(host, state), IsEmpty());
  EXPECT_THAT(names(host, pressed(state, {{TopKey::kBack}}, host)), ::testing::SizeIs(4));
}

TEST(TopStateTest, AMoveIsCommandedByEnterAndNotByEscape) {
  const TopHost host = three_clients();
  const TopState typed = pressed(
      {}, {{TopKey::kDown}, character('v'), character('1'), character('x'), character('2')}, host);
  EXPECT_EQ(typed.command, std::nullopt);
  EXPECT_EQ(entry_text(host, typed),
            "Move VM c, client 0, to node (Enter does, Esc does not): 12_");
  EXPECT_EQ(pressed(typed, {{TopKey::kEnter}}, host).command,
            balancer::Command(balancer::MoveRequest{"uuid-of-c", {12}, 0}));
  EXPECT_EQ(pressed(typed, {{TopKey::kBack}}, host).command, std::nullopt);
  EXPECT_EQ(pressed({}, {character('v'), {TopKey::kEnter}}, host).command, std::nullopt);
}

TEST(TopStateTest, WhatIsAskedAboutIsWhatIsConfirmed) {
  TopHost host = three_clients();
  const TopState asked = pressed({}, {character('R')}, host);  // of the first row, "b"
  EXPECT_THAT(entry_text(host, asked), ::testing::HasSubstr("VM b:"));
  for (TopClient& row : host.clients) {
    row.owed_ms = row.vm == "a" ? 99 : 1;  // which is the first row from now on
  }
  EXPECT_EQ(pressed(asked, {character('y')}, host).command,
            balancer::Command(balancer::ReleaseRequest{"uuid-of-b"}));
  EXPECT_EQ(pressed(asked, {character('n')}, host).command, std::nullopt);
  host.clients.erase(host.clients.begin() + 1);
  EXPECT_EQ(pressed(asked, {character('y')}, host).command, std::nullopt);
}

TEST(TopStateTest, PauseIsTakenBackByTheSameKey) {
  TopHost host = three_clients();
  EXPECT_EQ(pressed({}, {character('p'), character('y')}, host).command,
            balancer::Command(balancer::PauseRequest{}));
  host.status.mode = balancer::Mode::kPaused;
  EXPECT_EQ(pressed({}, {character('p'), character('y')}, host).command,
            balancer::Command(balancer::ResumeRequest{}));
  EXPECT_EQ(pressed({}, {character('p'), {TopKey::kEnter}}, host).command, std::nullopt);
}

TEST(TopStateTest, EachOrderHasItsKey) {
  TopHost host = three_clients();
  host.clients[1].memory_bytes = 100 * kMiB.value;
  host.clients[2].local_bytes = kMiB.value;
  host.clients[0].home = {3};
  host.clients[2].home = {1};
  const auto order_of = [&](char key) { return names(host, pressed({}, {character(key)}, host)); };
  EXPECT_THAT(order_of('o'), ElementsAre("b", "c", "a"));
  EXPECT_THAT(order_of('l'), ElementsAre("a", "c", "b"));
  EXPECT_THAT(order_of('m'), ElementsAre("b", "a", "c"));
  EXPECT_THAT(order_of('f'), ElementsAre("c", "b", "a"));  // 1 of 64, 64 of 100, all
  EXPECT_THAT(order_of('h'), ElementsAre("b", "c", "a"));
  EXPECT_THAT(order_of('n'), ElementsAre("a", "b", "c"));
}

TEST(TopStateTest, UnknownLocalityComesLast) {
  TopHost host = three_clients();
  host.clients[0].local_bytes = std::nullopt;
  EXPECT_THAT(names(host, pressed({}, {character('f')}, host)), ElementsAre("b", "c", "a"));
}

TEST(TopStateTest, OrderCanBeReversedAndAnewOneIsNot) {
  const TopHost host = three_clients();
  const TopState reversed = pressed({}, {character('r')}, host);
  EXPECT_THAT(names(host, reversed), ElementsAre("a", "c", "b"));
  EXPECT_FALSE(pressed(reversed, {character('n')}, host).reversed);
}

TEST(TopStateTest, SelectionMovesAndStopsAtTheEnds) {
  const TopHost host = three_clients();  // b, c, a
  EXPECT_EQ(pressed({}, {{TopKey::kUp}}, host).vm_uuid, "uuid-of-b");
  EXPECT_EQ(pressed({}, {{TopKey::kDown}}, host).vm_uuid, "uuid-of-c");
  EXPECT_EQ(pressed({}, {{TopKey::kDown}, {TopKey::kDown}, {TopKey::kDown}}, host).vm_uuid,
            "uuid-of-a");
  EXPECT_EQ(pressed({}, {{TopKey::kPageDown}}, host).vm_uuid, "uuid-of-a");
  EXPECT_EQ(pressed({}, {{TopKey::kLast}, {TopKey::kPageUp}}, host).vm_uuid, "uuid-of-b");
  EXPECT_EQ(pressed({}, {{TopKey::kLast}, {TopKey::kFirst}}, host).vm_uuid, "uuid-of-b");
}

TEST(TopStateTest, SelectedClientStaysSelectedInAnotherOrder) {
  const TopHost host = three_clients();
  const TopState state = pressed({}, {{TopKey::kDown}, character('n')}, host);
  EXPECT_EQ(state.vm_uuid, "uuid-of-c");
  EXPECT_EQ(selected_row(ordered_clients(host, state), state), 2U);
}

TEST(TopStateTest, FirstRowIsSelectedWhenTheClientIsGone) {
  TopHost host = three_clients();
  const TopState state = pressed({}, {{TopKey::kLast}}, host);
  host.clients.erase(host.clients.begin());
  EXPECT_EQ(selected_row(ordered_clients(host, state), state), 0U);
  EXPECT_EQ(pressed(state, {{TopKey::kEnter}}, host).vm_uuid, "uuid-of-b");
}

TEST(TopStateTest, ClientsOfOneVmAreToldApart) {
  TopHost host = three_clients();
  host.clients[1].vm_uuid = host.clients[0].vm_uuid;
  host.clients[1].client = 1;
  const TopState state = pressed({}, {{TopKey::kFirst}}, host);
  EXPECT_EQ(state.client, 1);
  EXPECT_EQ(selected_row(ordered_clients(host, state), state), 0U);
}

TEST(TopStateTest, EnterLooksAtTheSelectedVmAndEscapeReturns) {
  const TopHost host = three_clients();
  const TopState vm = pressed({}, {{TopKey::kDown}, {TopKey::kEnter}}, host);
  EXPECT_EQ(vm.page, TopPage::kVm);
  EXPECT_EQ(vm.vm_uuid, "uuid-of-c");
  EXPECT_EQ(pressed(vm, {{TopKey::kBack}}, host).page, TopPage::kHost);
  EXPECT_EQ(pressed(vm, {character('q')}, host).page, TopPage::kHost);
  EXPECT_FALSE(pressed(vm, {character('q')}, host).quits);
}

TEST(TopStateTest, PageOfTextScrollsWithinItsText) {
  const TopHost host = three_clients();
  const TopState help = pressed({}, {character('?')}, host);
  EXPECT_EQ(help.page, TopPage::kHelp);
  EXPECT_EQ(pressed(help, {{TopKey::kDown}}, host).scrolled, 1U);
  EXPECT_EQ(pressed(help, {{TopKey::kLast}, {TopKey::kDown}}, host).scrolled, 5U);
  EXPECT_EQ(pressed(help, {{TopKey::kPageDown}, {TopKey::kUp}}, host).scrolled, 1U);
  EXPECT_EQ(pressed(help, {{TopKey::kUp}}, host).scrolled, 0U);
  EXPECT_EQ(pressed(help, {character('n')}, host).order, TopOrder::kOwed);
  TopState far = help;
  far.scrolled = 100;  // the text became shorter
  EXPECT_EQ(pressed(far, {{TopKey::kUp}}, host).scrolled, 4U);
}

TEST(TopStateTest, HostWithoutVmsTakesEveryKey) {
  const TopHost host;
  for (const TopKey key :
       {TopKey::kUp, TopKey::kDown, TopKey::kPageUp, TopKey::kPageDown, TopKey::kFirst,
        TopKey::kLast, TopKey::kEnter, TopKey::kBack, TopKey::kErase}) {
    EXPECT_EQ(pressed({}, {{key}}, host), TopState{});
  }
  EXPECT_THAT(ordered_clients(host, {}), IsEmpty());
}

TEST(TopStateTest, UnknownCharactersDoNothing) {
  for (int key = 0; key < 128; ++key) {
    const char c = static_cast<char>(key);
    if (std::string_view("olmfhnrq?xvRp/ ").find(c) == std::string_view::npos) {
      EXPECT_EQ(pressed({}, {character(c)}, three_clients()), TopState{}) << key;
    }
  }
}

TEST(TopStateTest, SpaceFreezesAndGoesOn) {
  const TopState frozen = pressed({}, {character(' ')}, {});
  EXPECT_TRUE(frozen.frozen);
  EXPECT_FALSE(pressed(frozen, {character(' ')}, {}).frozen);
  EXPECT_TRUE(pressed({}, {character('q')}, {}).quits);
}

TEST(TopStateTest, SharesOfNothingAreNoneAndLargeOnesFit) {
  EXPECT_EQ(share_permille(5, 0), std::nullopt);
  EXPECT_EQ(share_permille(std::nullopt, 10), std::nullopt);
  EXPECT_EQ(share_permille(5, std::nullopt), std::nullopt);
  EXPECT_EQ(share_permille(-5, 10), 0);
  EXPECT_EQ(share_permille(1, 3), 333);
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(share_permille(kMost, kMost), 1000);
  EXPECT_EQ(local_permille(TopClient{}), std::nullopt);
}

TEST(TopStateTest, OwedIsAShareOfWhatAClientIsEntitledToAsInList) {
  TopClient view = client("a", 4000, 10);
  EXPECT_EQ(owed_permille(view), std::nullopt);
  view.entitled_ms = 40;
  EXPECT_EQ(owed_permille(view), 250);
  view.entitled_ms = view.owed_ms = 0;
  EXPECT_EQ(owed_permille(view), 0);
}

TEST(TopStateTest, EveryOrderHasAKeyAndAName) {
  EXPECT_EQ(pressed({}, {character('f')}, three_clients()).order, TopOrder::kLocality);
  EXPECT_EQ(name_of(TopOrder::kLocality), "locality");
  EXPECT_EQ(name_of(static_cast<TopOrder>(99)), "unknown");
}

}  // namespace
}  // namespace vmnuma::tools
