// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "balancer/config/config.h"
#include "tests/support/temp_directory.h"

namespace vmnuma::balancer {
namespace {

using ::testing::HasSubstr;

TEST(LoadConfigTest, MissingDefaultFileGivesDefaults) {
  const tests::TempDirectory directory;
  const auto config = load_config(directory.path() + "/vmnuma.toml", FileIs::kOptional);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(*config, Config{});
}

TEST(LoadConfigTest, MissingNamedFileIsAnError) {
  const tests::TempDirectory directory;
  const std::string path = directory.path() + "/mine.toml";
  const auto config = load_config(path, FileIs::kRequired);
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(config.error().message, "while reading the configuration: cannot open '" + path +
                                        "': No such file or directory");
}

TEST(LoadConfigTest, ProblemsCarryThePath) {
  const tests::TempDirectory directory;
  const std::string path = directory.path() + "/vmnuma.toml";
  std::ofstream(path) << "\nmode = 7\n";
  const auto config = load_config(path, FileIs::kOptional);
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().message, path + ":2: 'mode' is an integer, but must be a string");
}

TEST(LoadConfigTest, WhatIsNoRegularFileIsAnErrorEvenAsDefault) {
  const tests::TempDirectory directory;
  const auto config = load_config(directory.path(), FileIs::kOptional);
  ASSERT_FALSE(config);
  EXPECT_THAT(config.error().message, HasSubstr("is not a regular file"));
}

}  // namespace
}  // namespace vmnuma::balancer
