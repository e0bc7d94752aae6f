// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/arguments/sched_stats.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vmnuma::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

using Arguments = std::vector<std::string>;

std::string sched_stats_complaint(const Arguments& arguments) {
  const auto invocation = parse_sched_stats_arguments(arguments);
  if (invocation) {
    return "accepted";
  }
  EXPECT_EQ(invocation.error().code, kExitUsage);
  return invocation.error().text.substr(0, invocation.error().text.find('\n'));
}

TEST(SchedStatsTest, AsksForATable) {
  const auto invocation = parse_sched_stats_arguments(Arguments{"-t", "numa-clients"});
  ASSERT_TRUE(invocation) << invocation.error().text;
  EXPECT_EQ(std::get<balancer::Command>(invocation->command),
            balancer::Command(balancer::StatsRequest{"numa-clients"}));
  EXPECT_EQ(invocation->socket_path, "/run/vmnuma/vmnuma.sock");
  EXPECT_FALSE(invocation->json);
}

TEST(SchedStatsTest, SocketMayBeNamed) {
  const auto invocation =
      parse_sched_stats_arguments(Arguments{"--socket", "/s", "-t", "numa-pnode"});
  ASSERT_TRUE(invocation) << invocation.error().text;
  EXPECT_EQ(invocation->socket_path, "/s");
}

TEST(SchedStatsTest, HelpListsTheTables) {
  const auto help = parse_sched_stats_arguments(Arguments{"-h"});
  ASSERT_FALSE(help);
  EXPECT_EQ(help.error().code, kExitOk);
  EXPECT_THAT(help.error().text, StartsWith("Usage: sched-stats -t TYPE"));
  EXPECT_THAT(help.error().text, HasSubstr("\n                      numa-pnode\n"));
}

TEST(SchedStatsTest, RowsAndColumnsCanBeChosen) {
  const auto invocation = parse_sched_stats_arguments(Arguments{
      "-t", "numa-clients", "-g", "vm.4711", "-l", "7,8", "-z", "homeNode,groupName", "-q"});
  ASSERT_TRUE(invocation) << invocation.error().text;
  EXPECT_EQ(invocation->shape, (ReportShape{{7, 8},
                                            "vm.4711",
                                            {"homeNode", "groupName"},
                                            ListFormat::kCsv,
                                            /*for_scripts=*/true}));
}

TEST(SchedStatsTest, ChoicesThatFitNoRowAreNamed) {
  EXPECT_EQ(sched_stats_complaint({"-t", "numa-pnode", "-l", "0,x"}),
            "sched-stats: -l takes numbers such as '0,1', not '0,x'");
  EXPECT_EQ(sched_stats_complaint({"-t", "numa-pnode", "-l", ""}),
            "sched-stats: -l takes numbers such as '0,1', not ''");
  EXPECT_EQ(sched_stats_complaint({"-t", "numa-clients", "-g", ""}),
            "sched-stats: -g: must not be empty");
  EXPECT_EQ(sched_stats_complaint({"-t", "numa-pnode", "-z", "nodeId"}),
            "sched-stats: numa-pnode has no column 'nodeId'; did you mean 'nodeID'?");
  EXPECT_EQ(sched_stats_complaint({"-t", "numa-global", "-l", "1"}),
            "sched-stats: rows of numa-global have no number by which to choose them");
  EXPECT_EQ(sched_stats_complaint({"-t", "numa-pnode", "-g", "vm.1"}),
            "sched-stats: rows of numa-pnode have no group");
}

TEST(SchedStatsTest, ResettingIsRefusedWithAnotherWay) {
  EXPECT_THAT(sched_stats_complaint({"-r"}), HasSubstr("take the difference"));
}

TEST(SchedStatsTest, WrongArgumentsAreNamed) {
  EXPECT_EQ(sched_stats_complaint({}), "sched-stats: a table is needed, such as '-t numa-pnode'");
  EXPECT_EQ(sched_stats_complaint({"-t"}), "sched-stats: -t needs a value");
  EXPECT_EQ(sched_stats_complaint({"-t", ""}),
            "sched-stats: a table is needed, such as '-t numa-pnode'");
  EXPECT_EQ(sched_stats_complaint({"-t", "numa-pnodes"}),
            "sched-stats: there is no table 'numa-pnodes'; did you mean 'numa-pnode'?");
  EXPECT_EQ(sched_stats_complaint({"-w", "1"}), "sched-stats: '-w' is not supported");
  EXPECT_EQ(sched_stats_complaint({"numa-pnode"}), "sched-stats: 'numa-pnode' is not supported");
}

}  // namespace
}  // namespace vmnuma::tools
