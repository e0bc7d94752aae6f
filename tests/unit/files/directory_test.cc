// SPDX-License-Identifier: Apache-2.0
#include "stats/files/directory.h"

#include <string>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "stats/files/read_parsed.h"
#include "tests/support/fake_host.h"

namespace vmnuma::stats {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class DirectoryTest : public testing::Test {
 protected:
  tests::FakeHost host_;
  files::Directory root_ = files::Directory::open(host_.path()).value();
  std::string scratch_;
};

TEST_F(DirectoryTest, ReadsBelowItsRootOnly) {
  host_.write("proc/stat", "fake\n");
  EXPECT_EQ(root_.read("proc/stat").value(), "fake\n");
}

TEST_F(DirectoryTest, NamesThePathOfWhatIsMissing) {
  const auto missing = root_.read("proc/stat");
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(missing.error().errno_value, ENOENT);
  EXPECT_EQ(missing.error().message,
            "cannot open '" + host_.path() + "/proc/stat': No such file or directory");
}

TEST_F(DirectoryTest, DoesNotOpenAFileAsADirectory) {
  host_.write("file", "x");
  const auto directory = root_.directory("file");
  ASSERT_FALSE(directory.has_value());
  EXPECT_EQ(directory.error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(files::Directory::open(host_.path() + "/nothing").has_value());
}

TEST_F(DirectoryTest, StaysWithTheDirectoryItOpened) {
  host_.write("proc/7/stat", "first\n");
  const files::Directory process = root_.directory("proc/7").value();
  host_.remove("proc/7");
  host_.write("proc/7/stat", "another process with the same number\n");
  const auto text = process.read("stat");
  ASSERT_FALSE(text.has_value());
  EXPECT_EQ(text.error().code, ErrorCode::kNotFound);
}

TEST_F(DirectoryTest, ReadsFilesOfAnySize) {
  const std::string large(100'000, 'x');
  host_.write("large", large);
  host_.write("empty", "");
  EXPECT_EQ(root_.read("large").value(), large);
  EXPECT_EQ(root_.read("empty").value(), "");
  EXPECT_EQ(root_.file("large").value().read(scratch_).value(), large);
  EXPECT_EQ(root_.file("empty").value().read(scratch_).value(), "");
}

TEST_F(DirectoryTest, ReadsFilesThatExactlyFillTheBuffer) {
  const std::string page(4096, 'x');
  host_.write("page", page);
  EXPECT_EQ(root_.read("page").value(), page);
  EXPECT_EQ(root_.file("page").value().read(scratch_).value(), page);
}

TEST_F(DirectoryTest, RefusesWhatIsNoRegularFile) {
  const files::Directory live = files::Directory::open("/").value();
  const auto endless = live.read("dev/zero");
  ASSERT_FALSE(endless.has_value());
  EXPECT_EQ(endless.error().message, "'/dev/zero' is not a regular file");
  EXPECT_EQ(live.file("dev/zero").error().code, ErrorCode::kInvalidArgument);
}

TEST_F(DirectoryTest, RefusesFilesThatAreTooLarge) {
  host_.write("large", "");
  ASSERT_EQ(::truncate((host_.path() + "/large").c_str(), files::kMostBytesOfAFile + 1), 0);
  EXPECT_EQ(root_.read("large").error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(root_.file("large").value().read(scratch_).error().code, ErrorCode::kCorrupt);
}

TEST_F(DirectoryTest, ReadsAKeptFileAnewEachTime) {
  host_.write("counter", "first\n");
  const files::KeptFile counter = root_.file("counter").value();
  EXPECT_EQ(counter.read(scratch_).value(), "first\n");
  host_.write("counter", "2\n");
  EXPECT_EQ(counter.read(scratch_).value(), "2\n");
}

TEST_F(DirectoryTest, ListsNamesInOrder) {
  host_.write("list/b", "");
  host_.write("list/a10/x", "");
  host_.write("list/a2", "");
  EXPECT_THAT(root_.directory("list").value().names().value(), ElementsAre("a10", "a2", "b"));
}

TEST_F(DirectoryTest, AnEntryKeepsItsInodeAndAnotherHasAnother) {
  const auto proc = files::Directory::open("/proc").value();
  const std::string self = std::to_string(::getpid());
  const auto inode = proc.inode_of(self);
  ASSERT_TRUE(inode.has_value()) << inode.error().message;
  EXPECT_EQ(proc.inode_of(self).value(), *inode);
  EXPECT_NE(proc.inode_of("1").value(), *inode);
  EXPECT_EQ(proc.inode_of("no-such-process").error().code, ErrorCode::kNotFound);
}

TEST_F(DirectoryTest, HasALinkCountThatFollowsSubdirectories) {
  host_.write("group/vcpu0/x", "");
  const files::Directory group = root_.directory("group").value();
  const auto before = group.link_count().value();
  if (before < 3) {
    GTEST_SKIP() << "the file system of '" << host_.path() << "' does not count sub-directories";
  }
  host_.write("group/vcpu1/x", "");
  EXPECT_EQ(group.link_count().value(), before + 1);
}

TEST_F(DirectoryTest, LeavesNoDescriptorToAChildProgram) {
  host_.write("file", "x");
  const files::FileDescriptor probe(::open("/", O_PATH | O_CLOEXEC));
  const int first_free = ::dup(probe.get());
  ::close(first_free);
  const files::KeptFile kept = root_.file("file").value();  // takes the lowest free descriptor
  EXPECT_EQ(::fcntl(first_free, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

TEST_F(DirectoryTest, TellsAFullDescriptorTableFromAMissingFile) {
  host_.write("file", "x");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = 0;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto file = root_.file("file");
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_FALSE(file.has_value());
  EXPECT_EQ(file.error().code, ErrorCode::kIo);
  EXPECT_EQ(file.error().errno_value, EMFILE);
}

TEST_F(DirectoryTest, NamesTheFileThatCannotBeParsed) {
  host_.write("value", "x\n");
  const auto parse = [](std::string_view) -> Result<int> {
    return failure(ErrorCode::kCorrupt, "bad");
  };
  EXPECT_THAT(read_parsed(root_, "value", parse).error().message,
              HasSubstr("while reading '" + host_.path() + "/value': bad"));
  EXPECT_THAT(read_parsed(root_.file("value").value(), scratch_, parse).error().message,
              HasSubstr("while reading '" + host_.path() + "/value': bad"));
}

}  // namespace
}  // namespace vmnuma::stats
