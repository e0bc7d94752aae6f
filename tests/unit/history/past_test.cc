// SPDX-License-Identifier: Apache-2.0
#include "stats/history/past.h"

#include <filesystem>
#include <fstream>

#include <SQLiteCpp/Database.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/history/child.h"
#include "tests/unit/history/rows.h"

namespace vmnuma::stats::tests {
namespace {

namespace fs = std::filesystem;
using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class PastTest : public HistoryTest {};

TEST_F(PastTest, LooksBackWhileTheHistoryIsOpen) {
  EpochRows epoch = epoch_at(at(seconds(2)));
  epoch.clients = {client_row(1, 0, 10), client_row(2, 0, 10)};
  ASSERT_TRUE(history().append_epoch(epoch));
  ASSERT_TRUE(history().open_action(action_row(1, at(seconds(3)))));
  const auto past = read_past(file(), at(seconds(0)), at(minutes(10)));
  ASSERT_TRUE(past) << past.error().message;
  EXPECT_EQ(past->span, SampleSpan::kEpoch);
  EXPECT_THAT(past->nodes, SizeIs(2));
  // 3 GiB local and 1 GiB remote of each of two clients.
  ASSERT_THAT(past->locality, SizeIs(1));
  EXPECT_EQ(past->locality[0], (LocalityPoint{at(seconds(2)), Bytes{6LL << 30}, Bytes{2LL << 30}}));
  ASSERT_THAT(past->actions, SizeIs(1));
  EXPECT_EQ(past->actions[0].action.id, 1);
}

TEST_F(PastTest, ClientsWhoseMemoryIsNotKnownDoNotCount) {
  EpochRows epoch = epoch_at(at(seconds(2)));
  epoch.clients = {client_row(1, 0, 10), client_row(2, 0, 10)};
  epoch.clients[1].memory.reset();
  ASSERT_TRUE(history().append_epoch(epoch));
  const auto past = read_past(file(), at(seconds(0)), at(minutes(10)));
  ASSERT_TRUE(past);
  EXPECT_EQ(past->locality[0].local, Bytes{3LL << 30});
}

// As earlier versions wrote them: all of its memory was remote then.
TEST_F(PastTest, ClientsWithoutAHomeDoNotCount) {
  EpochRows epoch = epoch_at(at(seconds(2)));
  epoch.clients = {client_row(1, 0, 10), client_row(2, 0, 10)};
  epoch.clients[1].home = {};
  epoch.clients[1].memory = MemorySplit{{}, kGiB * 4};
  ASSERT_TRUE(history().append_epoch(epoch));
  const auto past = read_past(file(), at(seconds(0)), at(minutes(10)));
  ASSERT_TRUE(past);
  EXPECT_EQ(past->locality[0], (LocalityPoint{at(seconds(2)), Bytes{3LL << 30}, Bytes{1LL << 30}}));
}

TEST_F(PastTest, VmsHaveTheAverageOfWhatIsKnownOfTheirFigures) {
  EpochRows epoch = epoch_at(at(seconds(2)));
  epoch.clients = {client_row(1, 0, 10), client_row(2, 0, 10)};
  epoch.vms = {{vm_id(1), {Permille{100}, {}, {}}},
               {vm_id(2), {{}, Permille{30}, Permille{10}, Permille{900}}}};
  ASSERT_TRUE(history().append_epoch(epoch));
  epoch.time = at(seconds(4));
  epoch.vms = {{vm_id(1), {Permille{300}, Permille{7}, {}}}};
  ASSERT_TRUE(history().append_epoch(epoch));
  const auto past = read_past(file(), at(seconds(0)), at(minutes(10)));
  ASSERT_TRUE(past) << past.error().message;
  ASSERT_THAT(past->vms, SizeIs(2));
  EXPECT_EQ(past->vms[0].name, "vm1");
  EXPECT_EQ(past->vms[0].figures, (VmFigures{Permille{200}, Permille{7}, {}}));
  EXPECT_EQ(past->vms[1].figures, (VmFigures{{}, Permille{30}, Permille{10}, Permille{900}}));
}

TEST_F(PastTest, SamplesAreAsFineAsTheTimeAllows) {
  (void)history();
  const auto span_of = [&](auto length) {
    return read_past(file(), at(seconds(0)), at(length)).value().span;
  };
  EXPECT_EQ(span_of(hours(1)), SampleSpan::kEpoch);
  EXPECT_EQ(span_of(minutes(61)), SampleSpan::kMinute);
  EXPECT_EQ(span_of(days(2)), SampleSpan::kMinute);
  EXPECT_EQ(span_of(days(3)), SampleSpan::kHour);
}

TEST_F(PastTest, MissingFileIsNotMade) {
  const auto past = read_past(directory_.path() + "/none", at(seconds(0)), at(seconds(1)));
  ASSERT_FALSE(past);
  EXPECT_EQ(past.error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(directory_.path() + "/none"));
}

TEST_F(PastTest, AFileThatTheUserMayNotReadIsPermissionDenied) {
  reopen();
  history_.reset();
  const auto problem = [&] {
    return in_child([&]() -> Verdict {
      become_nobody();
      const auto past = read_past(file(), at(seconds(0)), at(seconds(1)));
      if (past) {
        return "it was read";
      }
      return past.error().code == ErrorCode::kPermissionDenied
                 ? past.error().message
                 : "not permission-denied: " + past.error().message;
    });
  };
  const fs::perms all_but_writing = fs::perms(0555);
  fs::permissions(directory_.path(), all_but_writing);
  fs::permissions(file(), fs::perms::none);
  EXPECT_EQ(problem(), "cannot read '" + file() + "': Permission denied");
  fs::permissions(file(), fs::perms(0444));
  EXPECT_EQ(problem(),
            "cannot read '" + file() + "': while vmnumad does not run, this is for root only");
  fs::permissions(directory_.path(), fs::perms::all);
}

TEST_F(PastTest, WhatIsNoHistoryIsRefused) {
  std::ofstream(file()) << "this is not a database, and longer than the header of one would be, "
                           "so that it is read as one and found not to be";
  const auto past = read_past(file(), at(seconds(0)), at(seconds(1)));
  ASSERT_FALSE(past);
  EXPECT_THAT(past.error().message, HasSubstr(file()));
}

TEST_F(PastTest, FileOfAnotherVersionIsRefused) {
  reopen();
  history_.reset();
  {
    SQLite::Database database(file(), SQLite::OPEN_READWRITE);
    database.exec("PRAGMA user_version = 999");
  }
  const auto past = read_past(file(), at(seconds(0)), at(seconds(1)));
  ASSERT_FALSE(past);
  EXPECT_EQ(past.error().code, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace vmnuma::stats::tests
