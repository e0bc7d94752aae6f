// SPDX-License-Identifier: Apache-2.0
#include "stats/files/file.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/support/temp_directory.h"

namespace vmnuma::files {
namespace {

using ::testing::HasSubstr;

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

TEST(FileTest, ReadsAFileWholeThatIsLargerThanMostAre) {
  const tests::TempDirectory directory;
  const std::string path = directory.path() + "/f";
  std::string written(100'000, 'a');
  written[16 * 1024] = written[64 * 1024 - 1] = 'b';
  std::ofstream(path) << written;
  EXPECT_EQ(*read_file(path, written.size()), written);
  EXPECT_EQ(*read_file(path, 10 * written.size()), written);
  EXPECT_FALSE(read_file(path, written.size() - 1));
}

TEST(FileTest, ReplacesAFileWholly) {
  const tests::TempDirectory directory;
  const std::string path = directory.path() + "/f";
  ASSERT_TRUE(replace_file(path, "a longer first text"));
  ASSERT_TRUE(replace_file(path, "second"));
  EXPECT_EQ(*read_file(path, 100), "second");
  EXPECT_FALSE(std::filesystem::exists(path + ".new"));
}

TEST(FileTest, WritesToNoPipeInThePlaceOfTheNewFile) {
  const tests::TempDirectory directory;
  const std::string path = directory.path() + "/f";
  ASSERT_EQ(::mkfifo((path + ".new").c_str(), 0600), 0);
  EXPECT_FALSE(replace_file(path, "text"));
}

TEST(FileTest, AFullDiskIsSaidAndLeavesTheOldFile) {
  const tests::TempDirectory directory;
  const std::string path = directory.path() + "/f";
  ASSERT_TRUE(replace_file(path, "first"));
  std::filesystem::create_symlink("/dev/full", path + ".new");
  EXPECT_FALSE(replace_file(path, "second"));  // nor is a link followed
  EXPECT_EQ(*read_file(path, 100), "first");
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
}  // namespace vmnuma::files
