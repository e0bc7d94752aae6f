// SPDX-License-Identifier: Apache-2.0
#include "stats/files/open.h"

#include <fstream>
#include <string>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/temp_directory.h"

namespace vmnuma::files {
namespace {

TEST(OpenToReadTest, OpensRegularFilesAndThoseOfTheKernel) {
  const tests::TempDirectory directory;
  const std::string path = directory.path() + "/f";
  std::ofstream(path) << "text";
  for (const std::string& name :
       {path, std::string("/proc/self/stat"), std::string("/sys/devices/system/cpu/online")}) {
    const auto fd = open_to_read(AT_FDCWD, name, name);
    ASSERT_TRUE(fd) << fd.error().message;
    EXPECT_NE(::fcntl(fd->get(), F_GETFD) & FD_CLOEXEC, 0);
  }
}

TEST(OpenToReadTest, RefusesPipesDirectoriesAndDevicesAndWaitsForNone) {
  const tests::TempDirectory directory;
  const std::string pipe = directory.path() + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& name : {pipe, directory.path(), std::string("/dev/zero")}) {
    const auto fd = open_to_read(AT_FDCWD, name, name);
    ASSERT_FALSE(fd);
    EXPECT_EQ(fd.error().code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(fd.error().message, "'" + name + "' is not a regular file");
  }
}

TEST(OpenToLockTest, MakesTheFileAndRefusesLinksAndPipes) {
  const tests::TempDirectory directory;
  const std::string path = directory.path() + "/lock";
  for (int i = 0; i < 2; ++i) {
    const auto fd = open_to_lock(path);
    ASSERT_TRUE(fd) << fd.error().message;
    EXPECT_NE(::fcntl(fd->get(), F_GETFD) & FD_CLOEXEC, 0);
    // A file system that went read-only has a lock, too.
    EXPECT_EQ(::fcntl(fd->get(), F_GETFL) & O_ACCMODE, O_RDONLY);
  }
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07037U, 0U);
  const std::string link = directory.path() + "/link";
  ASSERT_EQ(::symlink(path.c_str(), link.c_str()), 0);
  EXPECT_FALSE(open_to_lock(link));
  const std::string pipe = directory.path() + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const auto refused = open_to_lock(pipe);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "'" + pipe + "' is not a regular file");
}

TEST(OpenToReadTest, ErrorsSayWhatTheCallerCallsTheFile) {
  const auto fd = open_to_read(AT_FDCWD, "/nothing/here", "the thing");
  ASSERT_FALSE(fd);
  EXPECT_EQ(fd.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(fd.error().message, "cannot open 'the thing': No such file or directory");
}

}  // namespace
}  // namespace vmnuma::files
