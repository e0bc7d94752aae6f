// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/arguments/report_shape.h"

#include <gtest/gtest.h>

#include "stats/reports/tables.h"
#include "tests/support/views.h"

namespace vmnuma::tools {
namespace {

/// Groups 13424 on node 0 and 16408 without a home.
const stats::Report kClients = tests::report();

std::string shaped(const ReportShape& shape) {
  return text_of(kClients, shape);
}

/// As sched-stats prints it.
std::string shaped_for_scripts(ReportShape shape) {
  shape.for_scripts = true;
  return shaped(shape);
}

TEST(ReportShapeTest, NothingAskedForIsTheWholeTable) {
  EXPECT_EQ(shaped_for_scripts({}),
            "groupName  groupID  homeNode\nvm.4711    13424    0\nvm.4712    16408    -1\n");
}

TEST(ReportShapeTest, PeopleSeeTheNamesOfVmsFirst) {
  EXPECT_EQ(shaped({}),
            "vmName  groupName  groupID  homeNode\n"
            "web1    vm.4711    13424    0\n"
            "db 7    vm.4712    16408    -1\n");
  EXPECT_EQ(shaped({.format = ListFormat::kCsv}),
            "vmName,groupName,groupID,homeNode\nweb1,vm.4711,13424,0\ndb 7,vm.4712,16408,-1\n");
  EXPECT_EQ(shaped({.format = ListFormat::kName}), "web1\ndb 7\n");
}

TEST(ReportShapeTest, RowsAreChosenByTheirNumber) {
  EXPECT_EQ(shaped_for_scripts({.ids = {16408, 1}}),
            "groupName  groupID  homeNode\nvm.4712    16408    -1\n");
  EXPECT_EQ(shaped_for_scripts({.ids = {1}}), "groupName  groupID  homeNode\n");
}

TEST(ReportShapeTest, GroupIsChosenByNameOrNumber) {
  const std::string row = "groupName  groupID  homeNode\nvm.4711    13424    0\n";
  EXPECT_EQ(shaped_for_scripts({.group = "vm.4711"}), row);
  EXPECT_EQ(shaped_for_scripts({.group = "13424"}), row);
}

TEST(ReportShapeTest, ColumnsComeInTheOrderAskedFor) {
  EXPECT_EQ(shaped({.columns = {"homeNode", "groupName"}}),
            "homeNode  groupName\n0         vm.4711\n-1        vm.4712\n");
}

TEST(ReportShapeTest, ValuesCanBeSeparatedByCommas) {
  EXPECT_EQ(shaped_for_scripts({.format = ListFormat::kCsv}),
            "groupName,groupID,homeNode\nvm.4711,13424,0\nvm.4712,16408,-1\n");
  stats::Report report = kClients;
  report.extra_columns.clear();
  report.rows = {{"a,\"b\"", std::int64_t{1}, std::int64_t{2}}};
  EXPECT_EQ(text_of(report, {.format = ListFormat::kCsv}),
            "groupName,groupID,homeNode\n\"a,\"\"b\"\"\",1,2\n");
}

TEST(ReportShapeTest, AnEmptyValueKeepsItsPlaceAmongThoseSeparatedByCommas) {
  stats::Report report = kClients;
  report.extra_columns.clear();
  report.rows = {{"", std::int64_t{1}, ""}};
  EXPECT_EQ(text_of(report, {.format = ListFormat::kCsv}), "groupName,groupID,homeNode\n,1,\n");
}

TEST(ReportShapeTest, NodesAreChosenByTheirNumber) {
  const std::vector<stats::PnodeRow> nodes{{.node = 0}, {.node = 2}};
  EXPECT_EQ(text_of(stats::pnode_table(nodes), {.ids = {2}, .columns = {"nodeID"}}), "nodeID\n2\n");
  const std::vector<stats::LatencyRow> pairs{{.cpu_node = 0, .memory_node = 2}, {.cpu_node = 2}};
  EXPECT_EQ(text_of(stats::latency_table(pairs), {.ids = {0}, .columns = {"memNode"}}),
            "memNode\n2\n");
}

TEST(ReportShapeTest, OnlyPeopleGetAColumnThatIsNotEsxis) {
  const std::vector<stats::PnodeRow> nodes{{.node = 0, .used_ms = 95, .non_vm_ms = 40}};
  const stats::Report report = stats::pnode_table(nodes);
  EXPECT_EQ(text_of(report, {}),
            "nodeID  used  idle  entitled  owed  loadAvgPct  nVcpu  freeMem  totalMem  nonVm\n"
            "0       95    -     -         -     -           -      -        -         40\n");
  EXPECT_EQ(text_of(report, {.for_scripts = true}),
            "nodeID  used  idle  entitled  owed  loadAvgPct  nVcpu  freeMem  totalMem\n"
            "0       95    0     0         0     0           0      0        0\n");
}

TEST(ReportShapeTest, EveryTypeCanBeShaped) {
  for (const std::string_view type : stats::report_types()) {
    EXPECT_TRUE(check_shape({}, std::string(type))) << type;
  }
  const auto unknown = check_shape({}, "numa-pnodes");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message, "there is no table 'numa-pnodes'; did you mean 'numa-pnode'?");
}

}  // namespace
}  // namespace vmnuma::tools
