// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/top/top_cells.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/top/small_host.h"
#include "tools/vmnuma/text/text.h"

namespace vmnuma::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(TopCellsTest, BarIsAsFullAsItsShare) {
  EXPECT_EQ(bar(0, 6), "......");
  EXPECT_EQ(bar(500, 6), "|||...");
  EXPECT_EQ(bar(1000, 6), "||||||");
}

TEST(TopCellsTest, BarNeverLeavesItsWidthAndShowsTheSmallestShare) {
  EXPECT_EQ(bar(1, 6), "|.....");
  EXPECT_EQ(bar(25000, 6), "||||||");
  EXPECT_EQ(bar(-5, 6), "......");
  EXPECT_EQ(bar(500, 0), "");
}

TEST(TopCellsTest, WhatOthersUseStandsBehindTheFirstPart) {
  EXPECT_EQ(bar(500, 340, 6), "|||##.");
  EXPECT_EQ(bar(20, 970, 6), "|####.");  // 99 % of six characters are five
  EXPECT_EQ(bar(0, 1000, 6), "######");
  EXPECT_EQ(bar(500, 0, 6), "|||...");
  EXPECT_EQ(bar(500, 1, 6), "|||#..");     // however small
  EXPECT_EQ(bar(1400, 300, 6), "|||||#");  // however little room there is
  EXPECT_EQ(bar(1000, 1000, 0), "");
}

TEST(TopCellsTest, RowsAreAsWideAsTheTerminalAndGrowWithIt) {
  const TopHost host = small_host();
  std::size_t last_bar = 0;
  for (std::size_t columns = 60; columns <= 300; ++columns) {
    const TopGrid grid = grid_for(columns);
    EXPECT_GE(grid.bar, last_bar);
    last_bar = grid.bar;
    for (const auto& node : host.nodes) {
      EXPECT_LE(width_of(node_line(host, node, grid)), columns);
    }
    for (const auto& client : host.clients) {
      EXPECT_LE(width_of(client_line(host, client, grid)), columns);
    }
    EXPECT_LE(width_of(header_text("VM/CLIENT", "HOME", grid)), columns);
  }
  EXPECT_EQ(width_of(node_line(host, host.nodes[0], grid_for(80))), 80U);
  EXPECT_EQ(grid_for(10).bar, 0U);  // digits only
}

TEST(TopCellsTest, NodeShowsLoadOwedUsedMemoryAndItsClientsLocality) {
  const TopHost host = small_host();
  // Node 2: VMs want 3 % and others use 40 % of it, 3 of 31000 ms owed, 4 of 64 GiB used, all of
  // its client's memory local.
  EXPECT_EQ(plain_text({node_line(host, host.nodes[1], grid_for(80))}),
            "node 2             16    4 |#....   3% ......   0% |.....    4.0 GiB |||||| 100%\n");
}

TEST(TopCellsTest, NodeWithoutReadingsShowsNone) {
  const TopHost host = small_host();
  const std::string text = plain_text({node_line(host, host.nodes[0], grid_for(80))});
  EXPECT_THAT(text, StartsWith("node 0             32   34           -           -"));
  EXPECT_THAT(text, HasSubstr("||||..  75%"));  // of web1/0's 8 GiB, 6 are local
}

TEST(TopCellsTest, ClientThatMovesIsMarked) {
  const TopHost host = small_host();
  // 3520 of 4 x 2000 ms wanted, 300 of them owed, 8 of node 0's 64 GiB.
  EXPECT_EQ(plain_text({client_line(host, host.clients[0], grid_for(80))}),
            "web1/0          *   0    4 ||....  44% |.....   8% |.....    8.0 GiB ||||..  75%\n");
}

TEST(TopCellsTest, ClientWithoutHomeAndMemoryShowsThat) {
  const TopHost host = small_host();
  EXPECT_EQ(plain_text({client_line(host, host.clients[2], grid_for(80))}),
            "db7/0               -   30 ||||..  76% |.....  12%                 -           -\n");
}

TEST(TopCellsTest, LongNamesKeepTheirEnd) {
  TopHost host = small_host();
  host.clients[0].vm = "instance-0000002a";
  EXPECT_THAT(plain_text({client_line(host, host.clients[0], grid_for(80))}),
              StartsWith("instan...0002a/0* "));
  EXPECT_EQ(grid_with_names_of(host).name, 19U);
  EXPECT_THAT(plain_text({client_line(host, host.clients[0], grid_with_names_of(host))}),
              StartsWith("instance-0000002a/0* "));
}

TEST(TopCellsTest, RowsWithWideCharactersAreAsWideAsOthers) {
  TopHost host = small_host();
  for (const char* name :
       {"虚拟机", "虚拟机虚拟机虚拟机", "a虚拟机虚拟机虚拟机", "虚拟机虚拟机虚拟机a"}) {
    host.clients[0].vm = name;
    EXPECT_EQ(width_of(client_line(host, host.clients[0], grid_for(80))), 80U) << name;
  }
}

TEST(TopCellsTest, NamesCannotSteerTheTerminal) {
  TopHost host = small_host();
  host.clients[0].vm = "\x1b[2J";
  EXPECT_THAT(plain_text({client_line(host, host.clients[0], grid_for(80))}),
              StartsWith("\\x1b[2J/0"));
  host.status.transfers[0].vm = "\x1b[2J";
  EXPECT_THAT(plain_text({transfer_line(host.status.transfers[0], grid_for(80))}),
              StartsWith("> \\x1b[2J/1"));
}

TEST(TopCellsTest, TransferShowsHowFarItIs) {
  EXPECT_EQ(plain_text({transfer_line(tests::status_view().transfers[0], grid_for(80))}),
            "> web1/1         to 1,3 ||||....... 37%, 5.0 GiB left, 125.0 MiB/s, running\n");
}

TEST(TopCellsTest, TransferThatHasJustBegunDoesNotSayThatNothingIsLeft) {
  balancer::TransferView transfer = tests::status_view().transfers[0];
  transfer.bytes_done = transfer.bytes_remaining = transfer.rate_bytes_per_second = 0;
  EXPECT_EQ(plain_text({transfer_line(transfer, grid_for(80))}),
            "> web1/1         to 1,3 ........... amount not counted yet, running\n");
  transfer.bytes_remaining = std::int64_t{5} << 30U;
  EXPECT_EQ(plain_text({transfer_line(transfer, grid_for(80))}),
            "> web1/1         to 1,3 ........... 0%, 5.0 GiB left, running\n");
}

}  // namespace
}  // namespace vmnuma::tools
