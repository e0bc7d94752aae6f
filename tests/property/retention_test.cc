// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/history/rows.h"

namespace vmnuma::stats::tests {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::Ge;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::SizeIs;

class RetentionTest : public HistoryTest {
 protected:
  void append(WallTime time, int clients = 1) {
    EpochRows epoch = epoch_at(time);
    for (int i = 0; i < clients; ++i) {
      epoch.clients.push_back(client_row(static_cast<std::uint8_t>(i + 1), 0, 1'000'000));
    }
    const auto appended = history().append_epoch(epoch);
    ASSERT_TRUE(appended) << appended.error().message;
  }
  // How many different times a span has.
  std::int64_t times(int span, const std::string& table = "node_sample") {
    return number("SELECT count(DISTINCT time_ms) FROM " + table +
                  " WHERE span = " + std::to_string(span));
  }
};

TEST_F(RetentionTest, KeepsEpochsForAnHour) {
  for (int i = 0; i <= 900; ++i) {  // two and a half hours, an epoch every 10 s
    append(at(seconds(10 * i)));
  }
  EXPECT_EQ(times(0), 361);  // an hour, both ends included
  EXPECT_EQ(times(0, "client_sample"), 361);
  EXPECT_EQ(times(60), 150);
  EXPECT_EQ(times(3600), 2);
}

TEST_F(RetentionTest, KeepsMinutesForThirtyDaysAndHoursForAYear) {
  // An epoch every 12 hours for 400 days.
  for (int i = 0; i <= 400 * 2; ++i) {
    append(at(hours(12 * i)));
  }
  EXPECT_THAT(times(60), AllOf(Ge(30 * 2), Le(30 * 2 + 1)));
  EXPECT_THAT(times(3600), AllOf(Ge(365 * 2 - 1), Le(365 * 2 + 1)));
}

TEST_F(RetentionTest, KeepsEverythingAsLongAsItIsTold) {
  options_.kept = {std::chrono::minutes(10), std::chrono::days(1), std::chrono::days(2),
                   std::chrono::days(3)};
  reopen();
  ASSERT_TRUE(history().open_action(action_row(1)));
  ASSERT_TRUE(history().close_action(1, ActionState::kDone, ""));
  for (int i = 0; i <= 24 * 5; ++i) {  // an epoch every half an hour, then one more in between
    append(at(std::chrono::minutes(30 * i)));
  }
  EXPECT_THAT(history().recent_actions({}).value(), SizeIs(1));  // after 2.5 days
  append(at(std::chrono::minutes(30 * 24 * 5 + 1)));
  EXPECT_EQ(times(0), 2);
  EXPECT_THAT(times(60), AllOf(Ge(47), Le(49)));
  EXPECT_THAT(times(3600), AllOf(Ge(47), Le(49)));
  for (int i = 0; i <= 24 * 2; ++i) {
    append(at(std::chrono::minutes(30 * 24 * 5 + 30 * i)));
  }
  EXPECT_THAT(history().recent_actions({}).value(), SizeIs(0));
}

TEST_F(RetentionTest, KeepsClosedActionsForAYearAndOpenOnesForEver) {
  ASSERT_TRUE(history().open_action(action_row(1)));
  ASSERT_TRUE(history().open_action(action_row(2)));
  ASSERT_TRUE(history().begin_step(2, 1, "pin"));
  ASSERT_TRUE(history().close_action(2, ActionState::kDone, ""));
  append(at(days(364)));
  append(at(days(364) + seconds(2)));
  EXPECT_THAT(history().recent_actions({}).value(), SizeIs(2));
  append(at(days(366) - hours(6)));
  append(at(days(366)));
  const auto left = history().recent_actions({}).value();
  ASSERT_THAT(left, SizeIs(1));
  EXPECT_EQ(left[0].action.id, 1);
  EXPECT_EQ(number("SELECT count(*) FROM relocation"), 1);
  EXPECT_EQ(number("SELECT count(*) FROM step"), 0);
}

TEST_F(RetentionTest, AClockThatJumpsAheadAndBackPrunesNothing) {
  ASSERT_TRUE(history().open_action(action_row(1)));
  ASSERT_TRUE(history().close_action(1, ActionState::kDone, ""));
  for (int i = 0; i < 200; ++i) {
    append(at(minutes(i)));
  }
  const std::int64_t before = times(60);
  for (int i = 0; i < 59; ++i) {  // for less than an hour it is ten years later
    append(at(days(3650) + minutes(i)));
  }
  append(at(minutes(201)));
  EXPECT_EQ(
      number("SELECT count(DISTINCT time_ms) FROM node_sample WHERE span = 60 AND time_ms < " +
             std::to_string(at(minutes(200)).time_since_epoch().count())),
      before + 1);  // the last minute is over now
  EXPECT_THAT(history().recent_actions({}).value(), SizeIs(1));
}

TEST_F(RetentionTest, AClockThatStaysAheadPrunesInTheEnd) {
  for (int i = 0; i < 10; ++i) {
    append(at(minutes(i)));
  }
  for (int i = 0; i < 80; ++i) {
    append(at(days(3650) + minutes(i)));
  }
  EXPECT_EQ(number("SELECT count(*) FROM node_sample WHERE time_ms < " +
                   std::to_string(at(days(1)).time_since_epoch().count())),
            0);
}

TEST_F(RetentionTest, ForgetsTheNamesOfVmsOnlyAfterTheirHours) {
  append(at(seconds(0)), /*clients=*/2);
  for (int i = 1; i <= 367 * 2; ++i) {  // every 12 hours; VM 2 is gone
    append(at(hours(12 * i)), /*clients=*/1);
    if (i == 364 * 2) {
      EXPECT_EQ(number("SELECT count(*) FROM vm"), 2);
    }
  }
  EXPECT_EQ(number("SELECT count(*) FROM vm"), 1);
  EXPECT_EQ(number("SELECT count(*) FROM client_sample WHERE vm NOT IN (SELECT number FROM vm)"),
            0);
}

TEST_F(RetentionTest, DeletesABacklogInSlices) {
  for (int i = 0; i < 200; ++i) {
    append(at(seconds(2 * i)));
  }
  // Ten hours later all of them are too old. No epoch deletes more than four of them, so each is
  // short.
  std::int64_t before = times(0);
  for (int i = 0; i < 60; ++i) {
    append(at(hours(10) + seconds(2 * i)));
    const std::int64_t after = times(0);
    EXPECT_GE(after, before + 1 - 4);
    before = after;
  }
  EXPECT_LE(before, 60);
}

TEST_F(RetentionTest, NeverDeletesEpochsThatAreNotAveraged) {
  for (int minute = 0; minute < 10; ++minute) {
    append(at(minutes(minute)));
  }
  append(at(hours(30)));  // far beyond an hour: minute 9 was not yet averaged, and is now
  append(at(hours(30) + seconds(2)));
  EXPECT_EQ(times(60), 10);
}

class BoundedRetentionTest : public RetentionTest {
 protected:
  BoundedRetentionTest() { options_.max_bytes = 1 << 20; }
  std::uintmax_t size() const { return std::filesystem::file_size(file()); }
};

TEST_F(BoundedRetentionTest, StaysBelowItsBytesAndKeepsTheNewest) {
  // 100 clients make about 8 KB an epoch: 300 epochs are more than 2 MB.
  for (int i = 0; i < 300; ++i) {
    append(at(seconds(2 * i)), /*clients=*/100);
    EXPECT_LE(size(), std::uintmax_t{1} << 20);
  }
  EXPECT_GT(times(0), 60);
  EXPECT_EQ(number("SELECT max(time_ms) FROM client_sample WHERE span = 0"),
            at(seconds(598)).time_since_epoch().count());
}

TEST_F(BoundedRetentionTest, GivesUpDetailBeforeHoursAndActions) {
  ASSERT_TRUE(history().open_action(action_row(1)));
  ASSERT_TRUE(history().close_action(1, ActionState::kDone, ""));
  for (int i = 0; i < 600; ++i) {  // ten hours, an epoch a minute
    append(at(minutes(i)), /*clients=*/100);
  }
  EXPECT_EQ(times(3600), 9);
  EXPECT_LT(times(60), 200);
  EXPECT_THAT(history().recent_actions({}).value(), SizeIs(1));
}

TEST_F(BoundedRetentionTest, GivesUpTheOldestOfHoursAndActionsLast) {
  for (int i = 0; i < 1000; ++i) {  // 40 000 rows of hours, more than fit
    append(at(hours(i)), /*clients=*/40);
    if (i % 20 == 0) {
      ASSERT_TRUE(history().open_action(action_row(i + 1, at(hours(i)))));
      ASSERT_TRUE(history().close_action(i + 1, ActionState::kDone, ""));
    }
  }
  EXPECT_LE(size(), std::uintmax_t{1} << 20);
  const std::int64_t oldest_hour = number("SELECT min(time_ms) FROM node_sample WHERE span = 3600");
  EXPECT_GT(oldest_hour, at(hours(300)).time_since_epoch().count());
  EXPECT_GE(number("SELECT min(time_ms) FROM action"), oldest_hour - 21 * 3'600'000);
  EXPECT_GT(number("SELECT count(*) FROM action"), 5);
}

TEST_F(BoundedRetentionTest, ShrinksAFileThatIsLargerThanANewLimit) {
  options_.max_bytes = 8 << 20;
  for (int i = 0; i < 500; ++i) {
    append(at(seconds(2 * i)), /*clients=*/100);
  }
  ASSERT_GT(size(), std::uintmax_t{2} << 20);
  options_.max_bytes = 1 << 20;
  reopen();
  for (int i = 500; i < 900; ++i) {
    append(at(seconds(2 * i)), /*clients=*/100);
  }
  history_.reset();  // folds the log into the file
  EXPECT_LE(size(), std::uintmax_t{1} << 20);
}

TEST_F(BoundedRetentionTest, StaysBelowItsBytesAlthoughTheClockWentBack) {
  for (int i = 0; i < 90; ++i) {
    append(at(days(3650) + seconds(2 * i)), /*clients=*/100);
  }
  for (int i = 0; i < 300; ++i) {
    append(at(seconds(2 * i)), /*clients=*/100);
  }
  EXPECT_LE(size(), std::uintmax_t{1} << 20);
  EXPECT_GT(number("SELECT count(*) FROM node_sample WHERE span = 0 AND time_ms < " +
                   std::to_string(at(days(1)).time_since_epoch().count())),
            60);
}

}  // namespace
}  // namespace vmnuma::stats::tests
