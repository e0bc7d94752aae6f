// SPDX-License-Identifier: Apache-2.0
/// What open() makes of a file that is not as it should be.
#include <filesystem>
#include <fstream>
#include <iterator>

#include <SQLiteCpp/Database.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "stats/history/loads.h"
#include "stats/history/schema.h"
#include "tests/unit/history/child.h"
#include "tests/unit/history/rows.h"

namespace vmnuma::stats::tests {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr fs::perms kReadOnlyDirectory{0555};

class OpenTest : public HistoryTest {
 protected:
  void TearDown() override { fs::permissions(directory_.path(), fs::perms::owner_all); }
  // A closed history with one action in it.
  void make_history() {
    ASSERT_TRUE(history().open_action(action_row(1)));
    for (int i = 0; i < 100; ++i) {
      ASSERT_TRUE(history().append_epoch(epoch_at(at(seconds(2 * i)))));
    }
    history_.reset();
  }
  void write(const std::string& path, const std::string& content) {
    std::ofstream(path, std::ios::binary) << content;
  }
  static std::string read(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::string aside(int number) const { return file() + ".damaged-" + std::to_string(number); }
  // The file was set aside as it was, and the new one is empty and works.
  void expect_set_aside(const std::string& content, const std::string& reason) {
    reopen();
    EXPECT_THAT(history().notice(), HasSubstr(reason));
    EXPECT_THAT(history().notice(), HasSubstr(file()));
    EXPECT_THAT(history().notice(), HasSubstr(aside(1)));
    EXPECT_EQ(read(aside(1)), content);
    EXPECT_THAT(history().recent_actions({}).value(), IsEmpty());
    EXPECT_TRUE(history().open_action(action_row(1)));
    EXPECT_TRUE(history().append_epoch(epoch_at(at(seconds(0)))));
    reopen();
    EXPECT_EQ(history().notice(), "");
    EXPECT_THAT(history().recent_actions({}).value(), SizeIs(1));
  }
  void expect_version_set_aside(std::int32_t version, const std::string& reason) {
    std::string content = read(file());
    content[63] = static_cast<char>(version);  // user_version: fileformat2.html, 1.3
    write(file(), content);
    expect_set_aside(content, reason);
  }
  ErrorCode open_error(const fs::path& path) {
    const auto opened = History::open({.path = path});
    EXPECT_FALSE(opened);
    return opened ? ErrorCode::kUnsupported : opened.error().code;
  }
};

TEST_F(OpenTest, CreatesANewFileWithoutNotice) {
  reopen();
  EXPECT_EQ(history().notice(), "");
  EXPECT_EQ(history().path(), file());
  EXPECT_EQ(fs::status(file()).permissions(),
            fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read);
  EXPECT_EQ(number("PRAGMA application_id"), kApplicationId);
  EXPECT_EQ(number("PRAGMA user_version"), kSchemaVersion);
}

TEST_F(OpenTest, AcceptsAnEmptyFile) {
  write(file(), "");
  reopen();
  EXPECT_EQ(history().notice(), "");
}

TEST_F(OpenTest, AMissingDirectoryIsNotFound) {
  const auto opened = History::open({.path = directory_.path() + "/none/history.sqlite"});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(opened.error().errno_value, ENOENT);
  EXPECT_THAT(opened.error().message, HasSubstr("/none/history.sqlite'"));
}

TEST_F(OpenTest, AFileForADirectoryIsNotFound) {
  write(directory_.path() + "/file", "x");
  EXPECT_EQ(open_error(directory_.path() + "/file/history.sqlite"), ErrorCode::kNotFound);
}

TEST_F(OpenTest, APipeForTheFileIsAnErrorWithoutWaitingForItsWriter) {
  make_history();
  for (const char* suffix : {"-journal", "-wal", ""}) {
    fs::remove(file() + suffix);
    ASSERT_EQ(::mkfifo((file() + suffix).c_str(), 0600), 0);
    EXPECT_EQ(open_error(file()), ErrorCode::kInvalidArgument);
    EXPECT_EQ(read_vm_loads(file(), "", [](VmLoads&&) { return true; }).error().code,
              ErrorCode::kInvalidArgument);
    fs::remove(file() + suffix);
  }
}

TEST_F(OpenTest, ADirectoryForTheFileIsAnError) {
  fs::create_directory(file());
  EXPECT_EQ(open_error(file()), ErrorCode::kIo);
  EXPECT_TRUE(fs::is_directory(file()));
}

TEST_F(OpenTest, AnEmptyPathIsInvalid) {
  EXPECT_EQ(open_error(""), ErrorCode::kInvalidArgument);
}

TEST_F(OpenTest, TooFewBytesAreInvalid) {
  options_.max_bytes = 4096;
  EXPECT_EQ(History::open(options_).error().code, ErrorCode::kInvalidArgument);
}

TEST_F(OpenTest, AReadOnlyDirectoryIsPermissionDenied) {
  fs::permissions(directory_.path(), kReadOnlyDirectory);
  EXPECT_EQ(in_child([&]() -> Verdict {
              become_nobody();
              const auto opened = History::open(options_);
              if (opened) {
                return "it was opened";
              }
              return opened.error().code == ErrorCode::kPermissionDenied ? ""
                                                                         : opened.error().message;
            }),
            "");
}

TEST_F(OpenTest, AReadOnlyFileIsPermissionDenied) {
  make_history();
  fs::permissions(file(), fs::perms(0444));
  fs::permissions(directory_.path(), fs::perms::all);
  EXPECT_EQ(in_child([&]() -> Verdict {
              become_nobody();
              const auto opened = History::open(options_);
              if (opened) {
                return "it was opened";
              }
              return opened.error().code == ErrorCode::kPermissionDenied ? ""
                                                                         : opened.error().message;
            }),
            "");
  EXPECT_FALSE(fs::exists(aside(1)));
}

TEST_F(OpenTest, AFileWithoutRoomForItsLogBesideItIsAnError) {
  make_history();
  fs::permissions(file(), fs::perms::all);
  fs::permissions(directory_.path(), kReadOnlyDirectory);
  EXPECT_EQ(in_child([&]() -> Verdict {
              become_nobody();
              const auto opened = History::open(options_);
              if (opened) {
                return "it was opened";
              }
              return opened.error().code == ErrorCode::kPermissionDenied ? ""
                                                                         : opened.error().message;
            }),
            "");
}

TEST_F(OpenTest, SetsGarbageAside) {
  const std::string garbage(10000, '#');
  write(file(), garbage);
  expect_set_aside(garbage, "is damaged");
}

TEST_F(OpenTest, SetsAFewBytesOfGarbageAside) {
  write(file(), "hello");
  expect_set_aside("hello", "is damaged");
}

TEST_F(OpenTest, SetsATruncatedFileAside) {
  make_history();
  fs::resize_file(file(), fs::file_size(file()) / 2);
  expect_set_aside(read(file()), "is damaged");
}

TEST_F(OpenTest, SetsAFileTruncatedInsideAPageAside) {
  make_history();
  fs::resize_file(file(), fs::file_size(file()) / 2 + 100);
  expect_set_aside(read(file()), "is damaged");
}

TEST_F(OpenTest, SetsAFileWithADamagedPageAside) {
  make_history();
  std::string content = read(file());
  ASSERT_GT(content.size(), 12U * 4096);
  content.replace(4096 * 3, 4096UL * 8, 4096UL * 8, '\x5a');
  write(file(), content);
  expect_set_aside(content, "is damaged");
}

TEST_F(OpenTest, SetsAFileWithoutItsTablesAside) {
  make_history();
  std::string content = read(file());
  content.replace(100, 4096 - 100, 4096 - 100, '\0');  // the page that lists them, after the header
  write(file(), content);
  expect_set_aside(content, "is damaged");
}

TEST_F(OpenTest, SetsAnOlderVersionAside) {
  make_history();
  expect_version_set_aside(kSchemaVersion - 1, "has version 7, older than 8");
}

TEST_F(OpenTest, SetsANewerVersionAside) {
  make_history();
  expect_version_set_aside(kSchemaVersion + 1, "has version 9, newer than 8");
}

TEST_F(OpenTest, SetsAnotherProgramsDatabaseAside) {
  {
    SQLite::Database foreign(file(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    foreign.exec("CREATE TABLE t (x)");
  }
  expect_set_aside(read(file()), "belongs to another program");
}

TEST_F(OpenTest, SetsTheLogAsideWithItsFile) {
  write(file(), std::string(5000, '#'));
  write(file() + "-wal", "log");
  write(file() + "-shm", "index");
  expect_set_aside(std::string(5000, '#'), "is damaged");
  EXPECT_EQ(read(aside(1) + "-wal"), "log");
}

TEST_F(OpenTest, KeepsTheLastThreeThatWereSetAside) {
  for (int i = 1; i <= 5; ++i) {
    write(file(), "garbage " + std::to_string(i));
    reopen();
    history_.reset();
  }
  EXPECT_FALSE(fs::exists(aside(1)));
  EXPECT_FALSE(fs::exists(aside(2)));
  for (int i = 3; i <= 5; ++i) {
    EXPECT_EQ(read(aside(i)), "garbage " + std::to_string(i));
  }
}

TEST_F(OpenTest, AnotherProgramsLockIsBusyAndSetsNothingAside) {
  make_history();
  SQLite::Database other(file(), SQLite::OPEN_READWRITE);
  other.exec("PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE");
  EXPECT_EQ(open_error(file()), ErrorCode::kBusy);
  EXPECT_FALSE(fs::exists(aside(1)));
}

TEST_F(OpenTest, SaysWhyAFileCannotBeSetAside) {
  const std::string garbage(5000, '#');
  write(file(), garbage);
  fs::permissions(file(), fs::perms::all);
  fs::permissions(directory_.path(), kReadOnlyDirectory);
  EXPECT_EQ(in_child([&]() -> Verdict {
              become_nobody();
              const auto opened = History::open(options_);
              if (opened) {
                return "it was opened";
              }
              return opened.error().message.find("aside") != std::string::npos
                         ? ""
                         : opened.error().message;
            }),
            "");
  EXPECT_EQ(read(file()), garbage);
}

}  // namespace
}  // namespace vmnuma::stats::tests
