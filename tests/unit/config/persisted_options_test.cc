// SPDX-License-Identifier: Apache-2.0
#include "balancer/config/persisted_options.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temp_directory.h"

namespace vmnuma::balancer {
namespace {

using ::testing::HasSubstr;

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
  ASSERT_TRUE(apply_persisted_options(loaded));
  EXPECT_EQ(loaded, config());
}

TEST_F(PersistedOptionsTest, PersistedOptionIsStrongerThanTheFile) {
  ASSERT_TRUE(persist_option(directory_.path(), "Numa.MigThreshold", 7));
  Config loaded = config();
  loaded.options.mig_threshold = 3;
  loaded.origins["Numa.MigThreshold"] = Origin::kFile;
  ASSERT_TRUE(apply_persisted_options(loaded));
  EXPECT_EQ(loaded.options.mig_threshold, 7);
  EXPECT_EQ(loaded.origin_of("Numa.MigThreshold"), Origin::kPersisted);
}

TEST_F(PersistedOptionsTest, KeepsWhatWasPersistedBefore) {
  ASSERT_TRUE(persist_option(directory_.path(), "Numa.MigThreshold", 7));
  ASSERT_TRUE(persist_option(directory_.path(), "Numa.SwapInterval", 8));
  ASSERT_TRUE(persist_option(directory_.path(), "Numa.MigThreshold", 9));
  Config loaded = config();
  ASSERT_TRUE(apply_persisted_options(loaded));
  EXPECT_EQ(loaded.options.mig_threshold, 9);
  EXPECT_EQ(loaded.options.swap_interval, 8);
}

TEST_F(PersistedOptionsTest, RefusesWhatIsNoOptionOrOutOfRange) {
  EXPECT_EQ(persist_option(directory_.path(), "Numa.Mig", 7).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(persist_option(directory_.path(), "Numa.MigThreshold", 101).error().code,
            ErrorCode::kInvalidArgument);
  EXPECT_FALSE(std::filesystem::exists(file()));
}

TEST_F(PersistedOptionsTest, DamagedFileIsReportedAndKept) {
  write("[options]\nNuma.MigThreshold = \"7\"\n");
  Config loaded = config();
  const auto applied = apply_persisted_options(loaded);
  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().message,
            file() + ":2: 'Numa.MigThreshold' is a string, but must be an integer");
  EXPECT_EQ(loaded, config());
  EXPECT_FALSE(persist_option(directory_.path(), "Numa.SwapInterval", 8));
  EXPECT_GT(std::filesystem::file_size(file()), 0U);
}

TEST_F(PersistedOptionsTest, OnlyOptionsMayStandInTheFile) {
  write("mode = \"active\"\n");
  Config loaded = config();
  const auto applied = apply_persisted_options(loaded);
  ASSERT_FALSE(applied);
  EXPECT_THAT(applied.error().message, HasSubstr("there is no key 'mode' in this file"));
}

TEST_F(PersistedOptionsTest, MissingStateDirectoryIsAnError) {
  EXPECT_EQ(persist_option(directory_.path() + "/none", "Numa.MigThreshold", 7).error().code,
            ErrorCode::kNotFound);
}

}  // namespace
}  // namespace vmnuma::balancer
