// SPDX-License-Identifier: Apache-2.0
/// A history whose disk or neighbours make trouble while it is open.
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
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class TroubleTest : public HistoryTest {
 protected:
  static EpochRows epoch(int number, int clients = 100) {
    EpochRows epoch = epoch_at(at(seconds(2 * number)));
    for (int client = 0; client < clients; ++client) {
      epoch.clients.push_back(client_row(1, client, number));
    }
    return epoch;
  }
};

TEST_F(TroubleTest, AFullDiskIsNoSpaceAndGoesOnWhenThereIsSome) {
  const Verdict verdict = in_child([&]() -> Verdict {
    if (Verdict mounted = mount_small_disk(directory_.path(), 1024); !mounted.empty()) {
      return mounted;
    }
    auto opened = History::open(options_);
    if (!opened) {
      return opened.error().message;
    }
    History& history = **opened;
    const std::string ballast = directory_.path() + "/ballast";
    int stored = 0;
    for (; stored < 20; ++stored) {
      if (auto appended = history.append_epoch(epoch(stored)); !appended) {
        return appended.error().message;
      }
    }
    {
      std::ofstream out(ballast, std::ios::binary);
      while (out.write(std::string(4096, 'x').data(), 4096).flush()) {
      }
    }
    Result<void> appended;
    for (int i = 0; i < 100 && appended; ++i) {
      appended = history.append_epoch(epoch(stored));
      stored += appended ? 1 : 0;
    }
    if (appended) {
      return "the disk was never full";
    }
    if (appended.error().code != ErrorCode::kNoSpace) {
      return "not no-space: " + appended.error().message;
    }
    if (const auto intent = history.open_action(action_row(1));
        !intent && intent.error().code != ErrorCode::kNoSpace) {
      return "not no-space: " + intent.error().message;
    }
    if (stored_nodes().size() != 2 * static_cast<std::size_t>(stored)) {
      return "what was stored cannot be read";
    }
    fs::remove(ballast);
    if (auto again = history.append_epoch(epoch(stored)); !again) {
      return "still failing: " + again.error().message;
    }
    return {};
  });
  if (verdict.starts_with(kCannot)) {
    GTEST_SKIP() << verdict;
  }
  EXPECT_EQ(verdict, "");
}

TEST_F(TroubleTest, ADiskFullFromTheBeginningIsNoSpaceAndDamagesNothing) {
  const Verdict verdict = in_child([&]() -> Verdict {
    if (Verdict mounted = mount_small_disk(directory_.path(), 32); !mounted.empty()) {
      return mounted;
    }
    auto opened = History::open(options_);
    if (opened) {
      return "it was opened";
    }
    if (opened.error().code != ErrorCode::kNoSpace) {
      return "not no-space: " + opened.error().message;
    }
    opened = History::open(options_);
    if (opened || opened.error().code != ErrorCode::kNoSpace) {
      return "the second time it is something else";
    }
    return {};
  });
  if (verdict.starts_with(kCannot)) {
    GTEST_SKIP() << verdict;
  }
  EXPECT_EQ(verdict, "");
}

TEST_F(TroubleTest, AnotherProgramsLockIsBusyAndGoesOnAfterIt) {
  ASSERT_TRUE(history().append_epoch(epoch(0)));
  SQLite::Database other(file(), SQLite::OPEN_READWRITE);
  other.exec("BEGIN IMMEDIATE");
  const auto appended = history().append_epoch(epoch(1));
  ASSERT_FALSE(appended);
  EXPECT_EQ(appended.error().code, ErrorCode::kBusy);
  other.exec("COMMIT");
  EXPECT_TRUE(history().append_epoch(epoch(1)));
}

TEST_F(TroubleTest, ALongReadDoesNotLetTheLogGrowWithoutEnd) {
  ASSERT_TRUE(history().append_epoch(epoch(0, /*clients=*/1)));
  SQLite::Database reader(file(), SQLite::OPEN_READONLY);
  reader.exec("BEGIN; SELECT count(*) FROM node_sample");
  // Notes of 4 MB are the quickest way to a long log.
  const std::string note(4 << 20, 'x');
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(history().set_meta("note", note));
  }
  ASSERT_GT(fs::file_size(file() + "-wal"), std::uintmax_t{64} << 20);
  const auto appended = history().append_epoch(epoch(1));
  ASSERT_FALSE(appended);
  EXPECT_EQ(appended.error().code, ErrorCode::kBusy);
  EXPECT_THAT(appended.error().message, HasSubstr("reading"));
  reader.exec("COMMIT");
  EXPECT_TRUE(history().append_epoch(epoch(1)));
  EXPECT_LT(fs::file_size(file() + "-wal"), std::uintmax_t{16} << 20);
}

TEST_F(TroubleTest, DamageWhileOpenIsCorruptAndSetAsideAtTheNextStart) {
  for (int i = 0; i < 500; ++i) {  // more than SQLite keeps in memory
    ASSERT_TRUE(history().append_epoch(epoch(i)));
  }
  reopen();  // folds the log into the file
  ASSERT_GT(fs::file_size(file()), std::uintmax_t{5} << 19);
  EXPECT_FALSE(history().is_damaged());
  {
    std::fstream out(file(), std::ios::binary | std::ios::in | std::ios::out);
    out.seekp(4096);
    out << std::string(fs::file_size(file()) - 4096, '\x5a');
  }
  // By now the oldest epochs are to be deleted, and SQLite has to read them from the file.
  const auto appended = history().append_epoch(epoch_at(at(std::chrono::hours(2))));
  ASSERT_FALSE(appended);
  EXPECT_EQ(appended.error().code, ErrorCode::kCorrupt);
  EXPECT_TRUE(history().is_damaged());
  reopen();
  EXPECT_THAT(history().notice(), HasSubstr("set aside"));
  EXPECT_TRUE(history().append_epoch(epoch(201)));
  EXPECT_FALSE(history().is_damaged());
}

TEST_F(TroubleTest, AFileThatIsKnownToBeDamagedIsSetAsideWhateverItLooksLike) {
  ASSERT_TRUE(history().append_epoch(epoch(0)));
  history_.reset();
  options_.is_damaged = true;
  EXPECT_THAT(history().notice(), HasSubstr("is damaged; it was set aside"));
  EXPECT_THAT(stored_nodes(), IsEmpty());
  history_.reset();
  fs::remove(file());
  EXPECT_EQ(history().notice(), "") << "there is nothing to set aside";
}

}  // namespace
}  // namespace vmnuma::stats::tests
