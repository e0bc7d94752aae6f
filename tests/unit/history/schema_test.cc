// SPDX-License-Identifier: Apache-2.0
#include "stats/history/schema.h"

#include <functional>
#include <string>
#include <vector>

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>
#include <SQLiteCpp/Statement.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "placement/model/vm_figures.h"
#include "stats/history/actions.h"
#include "stats/history/samples.h"
#include "tests/unit/history/rows.h"

namespace vmnuma::stats::tests {
namespace {

class SchemaTest : public ::testing::Test {
 protected:
  std::int64_t number(const char* query) { return database_.execAndGet(query).getInt64(); }
  /// Instructions that SQLite carries out.
  std::int64_t steps_of(const std::function<void()>& work) {
    std::int64_t steps = 0;
    const auto count = [](void* counted) {
      ++*static_cast<std::int64_t*>(counted);
      return 0;
    };
    sqlite3_progress_handler(database_.getHandle(), 1, count, &steps);
    work();
    sqlite3_progress_handler(database_.getHandle(), 0, nullptr, nullptr);
    return steps;
  }
  SQLite::Database database_{":memory:", SQLite::OPEN_READWRITE};
};

TEST_F(SchemaTest, MakesStrictTablesOnly) {
  migrate(database_, migrations());
  EXPECT_EQ(number("PRAGMA user_version"), newest_version());
  EXPECT_EQ(number("SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND type = 'table'"
                   " AND name NOT LIKE 'sqlite_%' AND NOT strict"),
            0);
  EXPECT_EQ(number("SELECT count(*) FROM sqlite_schema WHERE name IN ('meta', 'action', 'step',"
                   " 'node_sample', 'client_sample', 'vm_sample')"),
            6);
}

TEST_F(SchemaTest, DoesNothingToAFileThatIsUpToDate) {
  migrate(database_, migrations());
  database_.exec("INSERT INTO meta VALUES ('k', 'v')");
  migrate(database_, migrations());
  EXPECT_EQ(number("SELECT count(*) FROM meta"), 1);
}

TEST_F(SchemaTest, BringsAnOlderFileUpToDateAndKeepsItsRows) {
  const std::vector<const char*> first = {"CREATE TABLE a (x INTEGER) STRICT"};
  const std::vector<const char*> second = {first[0],
                                           "ALTER TABLE a ADD COLUMN y INTEGER NOT NULL DEFAULT 7"};
  migrate(database_, first);
  database_.exec("INSERT INTO a VALUES (1)");
  migrate(database_, second);
  EXPECT_EQ(number("PRAGMA user_version"), 2);
  EXPECT_EQ(number("SELECT y FROM a WHERE x = 1"), 7);
}

TEST_F(SchemaTest, AFileOfTheFirstVersionKeepsItsVms) {
  migrate(database_, migrations().first(1));
  database_.exec("INSERT INTO vm (uuid, name, last_seen_ms) VALUES ('u', 'web', 5)");
  migrate(database_, migrations());
  EXPECT_EQ(number("SELECT count(*) FROM vm WHERE name = 'web' AND last_seen_ms = 5 AND"
                   " memory_mib = 0 AND shares = 100 AND guest_os = ''"),
            1);
}

TEST_F(SchemaTest, NodesOfTheSecondVersionKeepTheirSamples) {
  migrate(database_, migrations().first(2));
  database_.exec(
      "INSERT INTO node_sample VALUES (60, 1, 0, 30, 2000000, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)");
  migrate(database_, migrations());
  EXPECT_EQ(number("SELECT count(*) FROM node_sample WHERE total_kib = 10 AND threads_us IS NULL"),
            1);
}

TEST_F(SchemaTest, VmsOfTheThirdVersionGetAColumnForEachFigure) {
  migrate(database_, migrations().first(3));
  database_.exec("INSERT INTO vm_sample VALUES (0, 1, 1, 1, 2000000, 1, 2, 3)");
  migrate(database_, migrations());
  add_vm_figures(database_);
  add_vm_figures(database_);
  EXPECT_EQ(number("SELECT count(*) FROM pragma_table_info('vm_sample')"),
            5 + static_cast<std::int64_t>(kVmFigures.size()));
  EXPECT_EQ(number("SELECT count(*) FROM vm_sample WHERE memory_full_permille = 3 AND"
                   " huge_page_permille IS NULL"),
            1);
}

TEST_F(SchemaTest, ActionsOfTheFourthVersionKeepWhatWasPredicted) {
  migrate(database_, migrations().first(4));
  for (const char* reason : {"load-move", "admission"}) {
    database_.exec(std::string("INSERT INTO action VALUES (NULL, 1, 2, '") + reason +
                   "', 'open', '', 'text', 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17)");
  }
  database_.exec("INSERT INTO step VALUES (1, 1, 'pin', NULL)");
  migrate(database_, migrations());
  EXPECT_EQ(number("SELECT count(*) FROM action WHERE id = 1 AND predicted_lost_before_us = 3 AND"
                   " predicted_lost_after_us = 4 AND predicted_cost_us = 5 AND"
                   " predicted_imbalance_before = 6 AND predicted_imbalance_after = 7 AND"
                   " predicted_locality_before = 8 AND predicted_locality_after = 9 AND"
                   " measured_lost_before_us = 10 AND took_ms = 17 AND state = 'open'"),
            1);
  EXPECT_EQ(number("SELECT count(*) FROM action WHERE id = 2 AND predicted_lost_before_us IS NULL"
                   " AND predicted_locality_after IS NULL AND measured_lost_before_us = 10"),
            1);
  EXPECT_EQ(number("SELECT count(*) FROM step"), 1);
  EXPECT_EQ(number("SELECT count(*) FROM pragma_table_info('action') WHERE name LIKE 'former%'"),
            0);
}

TEST_F(SchemaTest, HomesOfTheSeventhVersionOfWhichNothingElseIsLeftGo) {
  migrate(database_, migrations().first(7));
  database_.exec("INSERT INTO vm (uuid, name, last_seen_ms) VALUES ('seen', 'web', 5)");
  database_.exec(
      "INSERT INTO action (id, time_ms, epoch, reason, state, detail, order_text) VALUES"
      " (1, 1, 1, 'load-move', 'open', '', '')");
  database_.exec("INSERT INTO relocation VALUES (1, 0, 'moved', 'db', 0, 0, 1, 0, NULL)");
  database_.exec("INSERT INTO home VALUES ('seen', 0, 1), ('moved', 0, 1), ('forgotten', 0, 1)");
  migrate(database_, migrations());
  EXPECT_EQ(number("SELECT count(*) FROM home"), 2);
  EXPECT_EQ(number("SELECT count(*) FROM home WHERE vm = 'forgotten'"), 0);
}

TEST_F(SchemaTest, AFailedStepLeavesTheVersionBeforeIt) {
  const std::vector<const char*> steps = {
      "CREATE TABLE a (x INTEGER) STRICT",
      "CREATE TABLE b (x INTEGER) STRICT; CREATE TABLE a (x INTEGER) STRICT"};
  EXPECT_THROW(migrate(database_, steps), SQLite::Exception);
  EXPECT_EQ(number("PRAGMA user_version"), 1);
  EXPECT_EQ(number("SELECT count(*) FROM sqlite_schema WHERE name = 'b'"), 0);
}

TEST_F(SchemaTest, TheActionsOfAVmAreFoundWithoutReadingThoseOfOthers) {
  migrate(database_, migrations().first(7));
  ASSERT_TRUE(open_action(database_, action_row(1)));
  ActionRow other = action_row(1);
  other.relocations.front().vm = vm_id(2);
  other.relocations.front().vm_name = "vm2";
  const auto add_others = [&](std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      ++other.id;
      ASSERT_TRUE(open_action(database_, other));
    }
  };
  add_others(9);
  migrate(database_, migrations());
  const auto find_vm1 = [&] {
    for (const char* vm : {"vm1", "00000000-0000-0000-0000-000000000001"}) {
      const auto found = recent_actions(database_, {.vm = vm});
      ASSERT_TRUE(found);
      ASSERT_EQ(found->size(), 1U);
    }
  };
  const std::int64_t steps = steps_of(find_vm1);
  add_others(990);
  EXPECT_LT(steps_of(find_vm1), 2 * steps);
}

TEST_F(SchemaTest, TheDemandOfAVmIsReadFromAnIndexAlone) {
  migrate(database_, migrations());
  SQLite::Statement plan(database_, "EXPLAIN QUERY PLAN " + demand_query(SampleSpan::kMinute));
  std::string text;
  while (plan.executeStep()) {
    text += plan.getColumn("detail").getString() + '\n';
  }
  EXPECT_NE(text.find("client_sample USING COVERING INDEX demand_by_vm"), std::string::npos)
      << text;
}

}  // namespace
}  // namespace vmnuma::stats::tests
