// SPDX-License-Identifier: Apache-2.0
#include "balancer/config/file.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

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

TEST(FileTest, NamedPipeDoesNotBlock) {
  const tests::TempDirectory directory;
  const std::string path = directory.path() + "/pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const auto text = read_file(path, 10);
  ASSERT_FALSE(text);
  EXPECT_THAT(text.error().message, HasSubstr("is not a regular file"));
}

TEST(FileTest, ReadsUpToTheLimitAndNoFurther) {
  const tests::TempDirectory directory;
  const std::string path = directory.path() + "/f";
  std::ofstream(path) << "0123456789";
  ASSERT_TRUE(read_file(path, 10));
  EXPECT_EQ(*read_file(path, 10), "0123456789");
  const auto text = read_file(path, 9);
  ASSERT_FALSE(text);
  EXPECT_THAT(text.error().message, HasSubstr("is larger than 9 bytes"));
}

TEST(FileTest, ReplacesAFileWholly) {
  const tests::TempDirectory directory;
  const std::string path = directory.path() + "/f";
  ASSERT_TRUE(replace_file(path, "a longer first text"));
  ASSERT_TRUE(replace_file(path, "second"));
  EXPECT_EQ(*read_file(path, 100), "second");
  EXPECT_FALSE(std::filesystem::exists(path + ".new"));
}

TEST(FileTest, LeavesTheOldFileWhereTheNewOneCannotBeWritten) {
  const tests::TempDirectory directory;
  const std::string path = directory.path() + "/f";
  ASSERT_TRUE(replace_file(path, "first"));
  // A directory in the place of the new file makes creating it fail.
  std::filesystem::create_directory(path + ".new");
  EXPECT_FALSE(replace_file(path, "second"));
  EXPECT_EQ(*read_file(path, 100), "first");
}

}  // namespace
}  // namespace vmnuma::balancer
