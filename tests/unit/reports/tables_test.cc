// SPDX-License-Identifier: Apache-2.0
#include "stats/reports/tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/reports/rows.h"

namespace vmnuma::stats::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(TablesTest, PnodeIsAsEsxiPrintsIt) {
  EXPECT_EQ(format_report(pnode_table(pnode_samples())), golden("numa-pnode.txt"));
}

TEST(TablesTest, ClientsAreAsEsxiPrintsThem) {
  EXPECT_EQ(format_report(client_table(client_samples())), golden("numa-clients.txt"));
}

TEST(TablesTest, ScriptsGetNumbersWhereThereIsNoValue) {
  EXPECT_EQ(format_report(with_numbers_only(client_table(client_samples()))),
            golden("numa-clients.scripts.txt"));
  EXPECT_EQ(format_report(with_numbers_only(migration_table(migration_samples()))),
            golden("numa-migration.scripts.txt"));
  EXPECT_EQ(format_report(with_numbers_only(cnode_table(cnode_samples()))),
            golden("numa-cnode.scripts.txt"));
}

TEST(TablesTest, MigrationIsAsEsxiPrintsIt) {
  EXPECT_EQ(format_report(migration_table(migration_samples())), golden("numa-migration.txt"));
}

TEST(TablesTest, CnodeIsAsEsxiPrintsIt) {
  EXPECT_EQ(format_report(cnode_table(cnode_samples())), golden("numa-cnode.txt"));
}

TEST(TablesTest, GlobalIsOneNameAndValueALine) {
  const std::vector<GlobalRow> rows = {{"nodes", 2}, {"clients", 5}, {"remoteMemory", 6868992}};
  EXPECT_EQ(format_report(global_table(rows)), golden("numa-global.txt"));
}

// The names and their order as sched-stats of ESXi 6.5 to 8.0 has them.
TEST(TablesTest, ColumnsAreThereWithoutRows) {
  EXPECT_EQ(format_report(pnode_table({})),
            "nodeID  used  idle  entitled  owed  loadAvgPct  nVcpu  freeMem  totalMem\n");
  EXPECT_THAT(client_table({}).columns,
              ElementsAre("groupName", "groupID", "clientID", "homeNode", "affinity", "nWorlds",
                          "vmmWorlds", "localMem", "remoteMem", "currLocal%", "cummLocal%"));
  EXPECT_THAT(
      migration_table({}).columns,
      ElementsAre("groupName", "groupID", "clientID", "balanceMig", "loadMig", "localityMig",
                  "longTermMig", "monitorMig", "loadSwap", "localitySwap", "pageMigRate"));
  EXPECT_THAT(cnode_table({}).columns,
              ElementsAre("groupName", "groupID", "clientID", "nodeID", "time", "timePct", "memory",
                          "memoryPct", "anonMem", "anonMemPct", "avgEpochs", "memMigHere"));
  EXPECT_EQ(format_report(global_table({})), "");
}

TEST(TablesTest, OnlyJsonHasTheVmsOwnName) {
  const std::vector<ClientRow> rows = {
      {.key = {"vm.1", 2, 0, "a VM with blanks", "c7a5fdbd-edaf-9455-926a-d65c16db1809"}}};
  const Report report = client_table(rows);
  EXPECT_EQ(report.type, "numa-clients");
  EXPECT_THAT(report.extra_columns, ElementsAre("vmName", "vmUuid"));
  EXPECT_THAT(report.extra_cells,
              ElementsAre(ElementsAre(Cell{"a VM with blanks"},
                                      Cell{"c7a5fdbd-edaf-9455-926a-d65c16db1809"})));
  EXPECT_EQ(format_report(report).find("blanks"), std::string::npos);
}

TEST(TablesTest, JsonHasTheCpusOfClientsWhereSomeDoNotHaveTheirHomeWhole) {
  std::vector<ClientRow> rows(2);
  EXPECT_THAT(client_table(rows).extra_columns, ElementsAre("vmName", "vmUuid"));
  rows[1].cpus = "0-3,8";
  const Report report = client_table(rows);
  EXPECT_THAT(report.extra_columns, ElementsAre("vmName", "vmUuid", "cpus"));
  EXPECT_EQ(report.extra_cells.at(0).at(2), Cell{std::string()});
  EXPECT_EQ(report.extra_cells.at(1).at(2), Cell{std::string("0-3,8")});
  EXPECT_EQ(report.columns, client_table({}).columns);
}

TEST(TablesTest, WhatOthersUseOfANodeIsNextToEsxisColumns) {
  std::vector<PnodeRow> rows = pnode_samples();
  rows[0].non_vm_ms = 40;
  const Report report = pnode_table(rows);
  EXPECT_THAT(report.extra_columns, ElementsAre("nonVm"));
  EXPECT_EQ(report.extra_cells.at(0).at(0), Cell{std::int64_t{40}});
  EXPECT_EQ(report.extra_cells.at(1).at(0), Cell{NoValue{}});
}

TEST(TablesTest, EveryRowHasACellForEveryColumn) {
  for (const Report& report :
       {pnode_table(pnode_samples()), client_table(client_samples()),
        migration_table(migration_samples()), cnode_table(cnode_samples())}) {
    for (const std::vector<Cell>& row : report.rows) {
      EXPECT_EQ(row.size(), report.columns.size()) << report.type;
    }
  }
}

TEST(TablesTest, AWordNeverSplitsOrVanishes) {
  Report report{
      "t", {"a", "b", "c"}, {{Cell{"x y\tz\n"}, Cell{""}, Cell{std::int64_t{-7}}}}, {}, {}};
  EXPECT_EQ(format_report(report), "a       b  c\nx_y_z_  -  -7\n");
}

TEST(TablesTest, ARaggedTableIsPrintedAsItIs) {
  Report report{"t", {"a"}, {{Cell{"x"}, Cell{"y"}}, {}}, {}, {}};
  EXPECT_EQ(format_report(report), "a\nx  y\n\n");
}

}  // namespace
}  // namespace vmnuma::stats::tests
