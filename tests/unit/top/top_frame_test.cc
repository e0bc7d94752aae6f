// SPDX-License-Identifier: Apache-2.0
// Frames as text in tests/golden/top. VMNUMA_UPDATE_GOLDEN=1 rewrites the files; read the
// difference before committing it.
#include "tools/vmnuma/top/top_frame.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/golden.h"
#include "tests/support/time_zone.h"
#include "tests/unit/top/small_host.h"

namespace vmnuma::tools {
namespace {

using ::testing::AnyOf;
using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::Not;

class TopFrameTest : public ::testing::Test {
 private:
  tests::TimeZone zone_{"UTC"};
};

std::string golden(const std::string& name, const std::string& text) {
  return tests::golden(std::string(VMNUMA_SOURCE_DIR) + "/tests/golden/top/" + name, text);
}

/// A host with so many nodes and clients of two sorts, none of which is in trouble.
TopData many(std::int32_t nodes, std::int32_t vms) {
  TopData data;
  data.host.status = tests::status_view();
  data.host.epoch_length_ms = 2000;
  data.host.status.mode = balancer::Mode::kActive;
  data.host.status.degraded.clear();
  data.host.status.transfers.clear();
  data.host.status.nodes = nodes;
  data.host.status.vms = vms;
  data.host.status.clients = vms;
  for (std::int32_t i = 0; i < nodes; ++i) {
    balancer::NodeView node = small_host().nodes[1];
    node.node = {i};
    data.host.nodes.push_back(node);
  }
  for (std::int32_t i = 0; i < vms; ++i) {
    TopClient client = small_host().clients[1];
    client.vm = fmt::format("vm{:03}", i);
    client.vm_uuid = client.vm;
    client.client = 0;
    client.home = {i % nodes};
    client.owed_ms = vms - i;  // so the order is that of the numbers
    data.host.clients.push_back(client);
  }
  return data;
}

TopData one_vm_looked_at() {
  TopData data{small_host(), "", std::nullopt};
  data.detail = TopDetail{tests::explain_view(), tests::history_view()};
  return data;
}

TEST_F(TopFrameTest, AnAssumedHomeIsInParentheses) {
  TopData data = many(2, 2);
  data.host.clients[1].home_assumed = true;
  const std::string text = plain_text(top_frame(data, {}, {24, 80}));
  EXPECT_THAT(text, ::testing::ContainsRegex("vm000/0 +0 "));
  EXPECT_THAT(text, ::testing::ContainsRegex("vm001/0 +\\(1\\) "));
}

TEST_F(TopFrameTest, HostFits80By24) {
  const TopData data{small_host(), "", std::nullopt};
  const std::string text = plain_text(top_frame(data, {}, {24, 80}));
  EXPECT_EQ(text, golden("host-80x24.txt", text));
}

TEST_F(TopFrameTest, OfARecordingTheHeadSaysWhenItWasMade) {
  TopData data{small_host(), "", std::nullopt};
  EXPECT_THAT(plain_text(top_frame(data, {}, {24, 80})), Not(HasSubstr("recorded")));
  data.host.status.recorded_unix_s = tests::kNoonUnixS;
  EXPECT_THAT(plain_text(top_frame(data, {}, {24, 80})),
              HasSubstr("\nrecorded 2025-01-31 12:00:00\n"));
  EXPECT_THAT(top_text(data.host), HasSubstr("\nrecorded 2025-01-31 12:00:00\n"));
}

TEST_F(TopFrameTest, ANarrowScreenHasTheKeysThatAreMissedMostAndNoneCutOff) {
  const TopData data{small_host(), "", std::nullopt};
  const auto last_line = [&](std::size_t columns, const TopState& state) {
    std::string text = plain_text(top_frame(data, state, {24, columns}));
    text.pop_back();
    return text.substr(text.rfind('\n') + 1);
  };
  EXPECT_EQ(last_line(80, {}),
            "page 1/1  q quit  ? help  Enter why  / find  olmfhn order  x memory  Space hold");
  EXPECT_EQ(last_line(50, {}), "page 1/1  q quit  ? help  Enter why  Space hold");
  TopState state;
  state.frozen = true;
  EXPECT_EQ(last_line(40, state), "page 1/1  q quit  ? help  FROZEN");
}

TEST_F(TopFrameTest, WideTerminalHasWiderBarsAndNames) {
  TopData data = many(4, 12);
  data.host.clients[2].vm = "a-name-that-is-longer-than-sixteen-characters";
  const std::string text = plain_text(top_frame(data, {}, {24, 132}));
  EXPECT_EQ(text, golden("host-132x24.txt", text));
}

TEST_F(TopFrameTest, VmIsExplainedWithItsMoves) {
  TopState state;
  state.page = TopPage::kVm;
  const std::string text = plain_text(top_frame(one_vm_looked_at(), state, {40, 80}));
  EXPECT_EQ(text, golden("vm-80x40.txt", text));
}

TEST_F(TopFrameTest, HelpFits80By24) {
  TopState state;
  state.page = TopPage::kHelp;
  const std::string text = plain_text(top_frame(TopData{}, state, {24, 80}));
  EXPECT_EQ(text, golden("help-80x24.txt", text));
  EXPECT_EQ(most_scrolled(TopData{}, state, {24, 80}), 0U);
}

TEST_F(TopFrameTest, MemoryOfEachClientOnEachNode) {
  TopData data{small_host(), "", std::nullopt};
  data.host.clients[0].bytes_by_node = {6 * kGiB.value, 2 * kGiB.value};
  data.host.clients[1].bytes_by_node = {0, 8 * kGiB.value};
  TopState state;
  state.page = TopPage::kMemory;
  const std::string text = plain_text(top_frame(data, state, {24, 80}));
  EXPECT_THAT(text, ::testing::StartsWith("VM/CLIENT    node 0    node 2\n"
                                          "db7/0            -         -\n"
                                          "web1/0     6.0 GiB*  2.0 GiB\n"
                                          "web1/1               8.0 GiB*\n"));
}

TEST_F(TopFrameTest, WhatIsTypedAndAnsweredIsInTheLastLine) {
  TopData data{small_host(), "", std::nullopt};
  TopState state;
  state.filter = "web";
  state.entry = TopEntry::kFilter;
  EXPECT_THAT(plain_text(top_frame(data, state, {24, 80})),
              HasSubstr("\nShow VMs whose name contains: web_"));
  state.entry = TopEntry::kNone;
  data.answer = "it moves";
  EXPECT_THAT(plain_text(top_frame(data, state, {24, 80})), HasSubstr("\nit moves"));
  data.answer.clear();
  const std::string text = plain_text(top_frame(data, state, {24, 80}));
  EXPECT_THAT(text, HasSubstr("\n/web  Esc all  page 1/1 "));
  EXPECT_THAT(text, Not(HasSubstr("db7/0")));
}

TEST_F(TopFrameTest, TextWithoutATerminalHasEveryNodeAndClient) {
  TopData data = many(20, 100);
  data.host.status.transfers.assign(9, tests::status_view().transfers[0]);
  const std::string text = top_text(data.host);
  EXPECT_THAT(text, HasSubstr("\nnode 19 "));
  EXPECT_THAT(text, HasSubstr("\nvm099/0 "));
  EXPECT_THAT(text, Not(HasSubstr("more")));
  const std::string small = top_text(small_host());
  EXPECT_EQ(small, golden("once.txt", small));
}

TEST_F(TopFrameTest, HostWithNothingToBalanceStillShowsItsNodesAndClients) {
  TopData data = many(1, 3);
  data.host.status.nothing_to_balance = "nothing to balance: only node 0 has CPUs";
  const std::string text = plain_text(top_frame(data, {}, {24, 80}));
  EXPECT_THAT(text, HasSubstr("\nnothing to balance: only node 0 has CPUs"));
  EXPECT_THAT(text, HasSubstr("\nnode 0 "));
  EXPECT_THAT(text, HasSubstr("\nvm002/0 "));
}

TEST_F(TopFrameTest, FrameIsAlwaysExactlyAsLargeAsTheTerminal) {
  TopData data = many(8, 30);
  data.host.status.transfers.assign(9, tests::status_view().transfers[0]);
  data.host.status.degraded = tests::status_view().degraded;
  data.host.status.nothing_to_balance = "nothing to balance";
  data.problem = "cannot connect";
  data.detail = TopDetail{tests::explain_view(), tests::history_view()};
  for (const TopPage page : {TopPage::kHost, TopPage::kVm, TopPage::kMemory, TopPage::kHelp}) {
    TopState state;
    state.page = page;
    for (std::size_t rows = 0; rows <= 60; rows += rows < 15 ? 1 : 15) {
      for (const std::size_t columns : {1U, 40U, 79U, 80U, 200U}) {
        state.scrolled = rows;
        const auto lines = top_frame(data, state, {rows, columns});
        ASSERT_EQ(lines.size(), rows);
        for (const Line& line : lines) {
          ASSERT_LE(width_of(line), columns);
        }
      }
    }
  }
}

TEST_F(TopFrameTest, SelectedClientIsAlwaysShown) {
  const TopData data = many(4, 100);
  TopState state;
  for (const TopClient& client : data.host.clients) {
    state.vm_uuid = client.vm_uuid;
    std::size_t selected = 0;
    for (const Line& line : top_frame(data, state, {24, 80})) {
      if (!line.empty() && line.front().style == Style::kSelected) {
        ++selected;
        EXPECT_THAT(plain_text({line}), HasSubstr(client.vm + "/0"));
      }
    }
    EXPECT_EQ(selected, 1U) << client.vm;
  }
}

TEST_F(TopFrameTest, AClickOnARowChoosesTheClientOfThatRowOnScreensOfEveryHeight) {
  TopData data = many(8, 30);
  data.host.status.transfers.assign(9, tests::status_view().transfers[0]);
  for (std::size_t rows = 1; rows <= 40; ++rows) {
    const auto lines = top_frame(data, {}, {rows, 80});
    for (std::size_t row = 0; row < lines.size(); ++row) {
      const auto client = client_at(data, {}, {rows, 80}, row);
      const std::string text = plain_text({lines[row]});
      EXPECT_EQ(client ? client->vm : "", text.starts_with("vm0") ? text.substr(0, 5) : "")
          << "row " << row << " of " << rows << ": " << text;
    }
  }
}

TEST_F(TopFrameTest, WhatDoesNotFitIsCounted) {
  TopData data = many(20, 100);
  data.host.status.transfers.assign(9, tests::status_view().transfers[0]);
  const std::string text = plain_text(top_frame(data, {}, {24, 80}));
  // 24 rows less head, two headers and footer are 19: 4 transfers, 7 nodes, 8 clients.
  EXPECT_THAT(text, HasSubstr("\nand 14 more nodes\n"));
  EXPECT_THAT(text, HasSubstr("\nand 6 more transfers\n"));
  EXPECT_THAT(text, HasSubstr("page 1/13"));
}

TEST_F(TopFrameTest, FiguresThatAreNotOfNowAreMarked) {
  TopData data = many(2, 2);
  data.problem = "cannot connect to '/s'";
  EXPECT_THAT(plain_text(top_frame(data, {}, {24, 80})),
              HasSubstr("\nout of date: cannot connect to '/s'\n"));
}

TEST_F(TopFrameTest, HostWithoutVmsSaysSo) {
  TopData data = many(2, 0);
  EXPECT_THAT(plain_text(top_frame(data, {}, {24, 80})), HasSubstr("\nNo VM runs.\n"));
  EXPECT_EQ(top_frame(TopData{}, {}, {24, 80}).size(), 24U);
}

TEST_F(TopFrameTest, VmThatIsGoneSaysSo) {
  TopData data{small_host(), "", std::nullopt};
  TopState state;
  state.page = TopPage::kVm;
  EXPECT_THAT(plain_text(top_frame(data, state, {5, 80})), HasSubstr("asking the daemon"));
  data.detail = TopDetail{failure(ErrorCode::kNotFound, "there is no running VM 'x'"),
                          failure(ErrorCode::kUnavailable, "there is no history")};
  const std::string text = plain_text(top_frame(data, state, {24, 80}));
  EXPECT_THAT(text, HasSubstr("there is no running VM 'x'\n"));
  EXPECT_THAT(text, HasSubstr("there is no history\n"));
}

TEST_F(TopFrameTest, TextOfAVmScrollsToItsLastLine) {
  TopState state;
  state.page = TopPage::kVm;
  const TopData data = one_vm_looked_at();
  state.scrolled = 1000;
  const std::string end = plain_text(top_frame(data, state, {10, 80}));
  EXPECT_THAT(
      end,
      HasSubstr(
          "There are more; choose which to show with --limit, --since and --until.\nEsc back"));
  state.scrolled = 0;
  EXPECT_THAT(plain_text(top_frame(data, state, {10, 80})), ::testing::StartsWith("VM web1 "));
}

}  // namespace
}  // namespace vmnuma::tools
