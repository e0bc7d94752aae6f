// SPDX-License-Identifier: Apache-2.0
#include "stats/history/schema.h"

#include <functional>
#include <string>

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

/// Instructions that SQLite carries out.
std::int64_t steps_of(SQLite::Database& database, const std::function<void()>& work) {
  std::int64_t steps = 0;
  const auto count = [](void* counted) {
    ++*static_cast<std::int64_t*>(counted);
    return 0;
  };
  sqlite3_progress_handler(database.getHandle(), 1, count, &steps);
  work();
  sqlite3_progress_handler(database.getHandle(), 0, nullptr, nullptr);
  return steps;
}

class SchemaTest : public ::testing::Test {
 protected:
  std::int64_t number(const char* query) { return database_.execAndGet(query).getInt64(); }
  SQLite::Database database_{":memory:", SQLite::OPEN_READWRITE};
};

TEST_F(SchemaTest, MakesStrictTablesOnly) {
  create_tables(database_);
  EXPECT_EQ(number("PRAGMA user_version"), kSchemaVersion);
  EXPECT_EQ(number("SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND type = 'table'"
                   " AND name NOT LIKE 'sqlite_%' AND NOT strict"),
            0);
  EXPECT_EQ(number("SELECT count(*) FROM sqlite_schema WHERE name IN ('meta', 'action', 'step',"
                   " 'node_sample', 'client_sample', 'vm_sample')"),
            6);
}

TEST_F(SchemaTest, VmsHaveAColumnForEachFigure) {
  create_tables(database_);
  add_vm_figures(database_);
  add_vm_figures(database_);
  EXPECT_EQ(number("SELECT count(*) FROM pragma_table_info('vm_sample')"),
            5 + static_cast<std::int64_t>(kVmFigures.size()));
}

TEST_F(SchemaTest, OfAFailureNothingIsLeft) {
  database_.exec("CREATE TABLE home (x INTEGER) STRICT");
  EXPECT_THROW(create_tables(database_), SQLite::Exception);
  EXPECT_EQ(number("PRAGMA application_id"), 0);
  EXPECT_EQ(number("PRAGMA user_version"), 0);
  EXPECT_EQ(number("SELECT count(*) FROM sqlite_schema"), 1);
}

TEST_F(HistoryTest, TheActionsOfAVmAreFoundWithoutReadingThoseOfOthers) {
  ASSERT_TRUE(history().open_action(action_row(1)));
  ActionRow other = action_row(1);
  other.relocations.front().vm = vm_id(2);
  other.relocations.front().vm_name = "vm2";
  const auto add_others = [&](std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      ++other.id;
      ASSERT_TRUE(history().record_action(other, ActionState::kDone, ""));
    }
  };
  const auto steps_to_find_vm1 = [&] {
    SQLite::Database database(file(), SQLite::OPEN_READONLY);
    return steps_of(database, [&] {
      for (const char* vm : {"vm1", "00000000-0000-0000-0000-000000000001"}) {
        const auto found = recent_actions(database, {.vm = vm});
        ASSERT_TRUE(found);
        ASSERT_EQ(found->size(), 1U);
      }
    });
  };
  add_others(9);
  const std::int64_t steps = steps_to_find_vm1();
  add_others(990);
  EXPECT_LT(steps_to_find_vm1(), 2 * steps);
}

TEST_F(SchemaTest, TheDemandOfAVmIsReadFromAnIndexAlone) {
  create_tables(database_);
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
