// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/support/fake_daemon.h"
#include "tests/support/views.h"
#include "tests/unit/doctor/fake_root.h"
#include "tools/vmnuma/run.h"

namespace vmnuma::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class ExamineTest : public ::testing::Test {
 protected:
  ExamineTest() {
    make_well(root_);
    root_.run(::getpid(), "vmnumad", "CapEff:\t0000000000880000\n");  // the fake daemon
    status_.mode = balancer::Mode::kActive;
    status_.degraded.clear();
    status_.version = VMNUMA_VERSION;
  }

  int run(std::vector<std::string> arguments = {}) {
    tests::FakeDaemon daemon(tests::FakeDaemon::answering(
        [this](const balancer::Command&) -> Result<balancer::Answer> { return status_; }));
    return run_at(daemon.socket_path(), std::move(arguments));
  }

  int run_at(const std::string& socket_path, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(),
                     {"doctor", "--socket", socket_path, "--root", root_.path()});
    const auto invocation = parse_arguments(arguments, tests::kNoonUnixS);
    EXPECT_TRUE(invocation) << invocation.error().text;
    Surroundings surroundings{out_, err_, false, {}, std::chrono::milliseconds(60000)};
    surroundings.colours = colours_;
    return tools::run(*invocation, surroundings);
  }

  tests::FakeRoot root_;
  balancer::StatusView status_ = tests::status_view();
  std::ostringstream out_;
  std::ostringstream err_;
  bool colours_ = false;
};

TEST_F(ExamineTest, WellIsExitZero) {
  EXPECT_EQ(run(), kExitOk) << out_.str();
  EXPECT_THAT(out_.str(), StartsWith("ok       daemon      vmnumad "));
  EXPECT_THAT(out_.str(), Not(HasSubstr("\x1b")));
  EXPECT_EQ(err_.str(), "");
}

TEST_F(ExamineTest, NotesAreExitZero) {
  root_.write("sys/devices/system/node/online", "0\n");
  EXPECT_EQ(run(), kExitOk) << out_.str();
}

TEST_F(ExamineTest, WarningsAreExitFour) {
  root_.write("proc/sys/kernel/numa_balancing", "2\n");
  EXPECT_EQ(run(), 4) << out_.str();
}

TEST_F(ExamineTest, ErrorsAreExitFive) {
  root_.write("sys/fs/cgroup/cgroup.controllers", "\n");
  EXPECT_EQ(run(), 5) << out_.str();
}

TEST_F(ExamineTest, AbsentDaemonIsAFindingAndTheRestIsLookedAt) {
  EXPECT_EQ(run_at(root_.path() + "/none", {}), kExitBroken);
  EXPECT_THAT(out_.str(), StartsWith("error    daemon      cannot connect to"));
  EXPECT_THAT(out_.str(), HasSubstr("\nok       cgroup "));
  EXPECT_EQ(err_.str(), "");
}

TEST_F(ExamineTest, OfASimulatedHostOnlyTheDaemonIsLookedAt) {
  status_.uri = std::string(balancer::kSimulatedUri) + "shifts";
  root_.write("sys/fs/cgroup/cgroup.controllers", "\n");  // an error of a real host
  EXPECT_EQ(run(), kExitOk) << out_.str();
  EXPECT_THAT(out_.str(), HasSubstr("host is another one (simulated:shifts)"));
  EXPECT_THAT(out_.str(), Not(HasSubstr("cgroup")));
  EXPECT_THAT(out_.str(), Not(HasSubstr("CAP_SYS_NICE")));
}

TEST_F(ExamineTest, LooksAtTheProcessThatListensOnItsSocket) {
  root_.run(700, "vmnumad", "CapEff:\t0000000000000000\n");
  EXPECT_EQ(run(), kExitOk) << out_.str();
  root_.run(::getpid(), "vmnumad", "CapEff:\t0000000000000000\n");
  EXPECT_EQ(run(), kExitBroken);
}

TEST_F(ExamineTest, JsonIsOneLine) {
  EXPECT_EQ(run({"--json"}), kExitOk);
  EXPECT_THAT(out_.str(), StartsWith(R"({"worst":"ok","findings":[{"check":"daemon")"));
  const std::string text = out_.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
}

TEST_F(ExamineTest, TerminalGetsColours) {
  colours_ = true;
  EXPECT_EQ(run(), kExitOk);
  EXPECT_THAT(out_.str(), StartsWith("\x1b[32mok\x1b[0m "));
}

TEST_F(ExamineTest, RootThatIsNoDirectoryIsAWrongCommandLine) {
  std::ostringstream out;
  const auto invocation =
      parse_arguments(std::vector<std::string>{"doctor", "--root", root_.path() + "/none"}, 0);
  ASSERT_TRUE(invocation);
  Surroundings surroundings{out, err_, false, {}, std::chrono::milliseconds(1)};
  EXPECT_EQ(tools::run(*invocation, surroundings), kExitUsage);
  EXPECT_THAT(err_.str(), HasSubstr("/none"));
}

}  // namespace
}  // namespace vmnuma::tools
