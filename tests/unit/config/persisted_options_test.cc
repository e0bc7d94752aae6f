// SPDX-License-Identifier: Apache-2.0
#include "balancer/config/persisted_options.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/support/temp_directory.h"

namespace vmnuma::balancer {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class PersistedOptionsTest : public ::testing::Test {
 protected:
  [[nodiscard]] Config config() const {
    Config config;
    config.state_dir = directory_.path();
    return config;
  }
  [[nodiscard]] std::string file() const { return directory_.path() + "/options.toml"; }
  void write(std::string_view text) const { std::ofstream(file()) << text; }

  tests::TempDirectory directory_;
};

TEST_F(PersistedOptionsTest, MissingFileChangesNothing) {
  Config loaded = config();
  apply_persisted_options(loaded, Damaged::kSetAside);
  EXPECT_THAT(loaded.notices, IsEmpty());
  EXPECT_EQ(loaded, config());
}

TEST_F(PersistedOptionsTest, PersistedOptionIsStrongerThanTheFile) {
  ASSERT_TRUE(persist_option(directory_.path(), "Numa.MigThreshold", 7));
  Config loaded = config();
  loaded.options.mig_threshold = 3;
  loaded.origins["Numa.MigThreshold"] = Origin::kFile;
  apply_persisted_options(loaded, Damaged::kSetAside);
  EXPECT_THAT(loaded.notices, IsEmpty());
  EXPECT_EQ(loaded.options.mig_threshold, 7);
  EXPECT_EQ(loaded.origin_of("Numa.MigThreshold"), Origin::kPersisted);
}

TEST_F(PersistedOptionsTest, KeepsWhatWasPersistedBefore) {
  ASSERT_TRUE(persist_option(directory_.path(), "Numa.MigThreshold", 7));
  ASSERT_TRUE(persist_option(directory_.path(), "Numa.SwapInterval", 8));
  ASSERT_TRUE(persist_option(directory_.path(), "Numa.MigThreshold", 9));
  Config loaded = config();
  apply_persisted_options(loaded, Damaged::kSetAside);
  EXPECT_THAT(loaded.notices, IsEmpty());
  EXPECT_EQ(loaded.options.mig_threshold, 9);
  EXPECT_EQ(loaded.options.swap_interval, 8);
}

TEST_F(PersistedOptionsTest, RefusesWhatIsNoOptionOrOutOfRange) {
  EXPECT_EQ(persist_option(directory_.path(), "Numa.Mig", 7).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(persist_option(directory_.path(), "Numa.MigThreshold", 101).error().code,
            ErrorCode::kInvalidArgument);
  EXPECT_FALSE(std::filesystem::exists(file()));
}

TEST_F(PersistedOptionsTest, AnOptionOfAnotherVersionIsSetAsideAndTheOthersGoOn) {
  write("[options]\n\"Numa.FromTheFuture\" = 1\n\"Numa.SwapInterval\" = 8\n");
  Config loaded = config();
  apply_persisted_options(loaded, Damaged::kSetAside);
  ASSERT_THAT(loaded.notices, SizeIs(1));
  EXPECT_THAT(loaded.notices[0], HasSubstr(file() + ":2: "));
  EXPECT_THAT(loaded.notices[0], HasSubstr("Numa.FromTheFuture"));
  EXPECT_THAT(loaded.notices[0],
              HasSubstr("it was set aside as '" + file() + ".damaged-1'; 1 of "));
  EXPECT_EQ(loaded.options.swap_interval, 8);
  EXPECT_EQ(loaded.origin_of("Numa.SwapInterval"), Origin::kPersisted);
  EXPECT_TRUE(std::filesystem::exists(file() + ".damaged-1"));

  Config again = config();
  apply_persisted_options(again, Damaged::kSetAside);
  EXPECT_THAT(again.notices, IsEmpty());
  EXPECT_EQ(again.options.swap_interval, 8);
}

TEST_F(PersistedOptionsTest, GarbageIsSetAsideAndNothingOfItCounts) {
  for (const int number : {1, 2}) {
    write("\x01 = [[[");
    Config loaded = config();
    apply_persisted_options(loaded, Damaged::kSetAside);
    ASSERT_THAT(loaded.notices, SizeIs(1));
    EXPECT_EQ(loaded.options, config().options);
    EXPECT_FALSE(std::filesystem::exists(file()));
    EXPECT_TRUE(std::filesystem::exists(file() + ".damaged-" + std::to_string(number)));
  }
  EXPECT_TRUE(persist_option(directory_.path(), "Numa.SwapInterval", 8));
}

TEST_F(PersistedOptionsTest, APipeInPlaceOfTheFileIsSetAside) {
  ASSERT_EQ(::mkfifo(file().c_str(), 0600), 0);
  Config loaded = config();
  apply_persisted_options(loaded, Damaged::kSetAside);
  ASSERT_THAT(loaded.notices, SizeIs(1));
  EXPECT_THAT(loaded.notices[0], HasSubstr("is not a regular file"));
  EXPECT_FALSE(std::filesystem::exists(file()));
}

TEST_F(PersistedOptionsTest, AProgramThatOnlyLooksChangesNothing) {
  write("[options]\nNuma.MigThreshold = \"7\"\n");
  Config loaded = config();
  apply_persisted_options(loaded, Damaged::kLeave);
  ASSERT_THAT(loaded.notices, SizeIs(1));
  EXPECT_THAT(loaded.notices[0],
              HasSubstr(file() + ":2: 'Numa.MigThreshold' is a string, but must be an integer"));
  EXPECT_FALSE(persist_option(directory_.path(), "Numa.SwapInterval", 8));
  EXPECT_GT(std::filesystem::file_size(file()), 0U);
}

TEST_F(PersistedOptionsTest, OnlyOptionsMayStandInTheFile) {
  write("mode = \"active\"\n");
  Config loaded = config();
  apply_persisted_options(loaded, Damaged::kLeave);
  ASSERT_THAT(loaded.notices, SizeIs(1));
  EXPECT_THAT(loaded.notices[0], HasSubstr("there is no key 'mode' in this file"));
}

TEST_F(PersistedOptionsTest, MissingStateDirectoryIsAnError) {
  EXPECT_EQ(persist_option(directory_.path() + "/none", "Numa.MigThreshold", 7).error().code,
            ErrorCode::kNotFound);
}

}  // namespace
}  // namespace vmnuma::balancer
