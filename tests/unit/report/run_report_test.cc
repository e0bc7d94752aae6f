// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stats/history/history.h"
#include "tests/support/fake_daemon.h"
#include "tests/support/views.h"
#include "tools/vmnuma/run.h"

namespace vmnuma::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class RunReportTest : public ::testing::Test {
 protected:
  int run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"report", "--socket", socket_});
    const auto invocation = parse_arguments(arguments, tests::kNoonUnixS);
    EXPECT_TRUE(invocation) << invocation.error().text;
    Surroundings surroundings{out_, err_, false, {}, std::chrono::milliseconds(60000)};
    return tools::run(*invocation, surroundings);
  }
  void make_history() { ASSERT_TRUE(stats::History::open({.path = file_})); }

  tests::TempDirectory directory_;
  std::string file_ = directory_.path() + "/history.sqlite";
  std::string socket_ = directory_.path() + "/none";
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(RunReportTest, DaemonSaysWhereTheHistoryIs) {
  make_history();
  tests::FakeDaemon daemon(tests::FakeDaemon::answering(
      [this](const balancer::Command& command) -> Result<balancer::Answer> {
        if (std::holds_alternative<balancer::HostRequest>(command)) {
          return tests::host_view();
        }
        balancer::StatusView status = tests::status_view();
        status.history.path = file_;
        return status;
      }));
  socket_ = daemon.socket_path();
  EXPECT_EQ(run({"--html"}), kExitOk) << err_.str();
  EXPECT_THAT(out_.str(), StartsWith("<!DOCTYPE html>"));
  EXPECT_THAT(out_.str(), HasSubstr("<h3>Node 0</h3>"));
}

TEST_F(RunReportTest, HistoryIsEnoughWithoutADaemon) {
  make_history();
  EXPECT_EQ(run({"--history", file_}), kExitOk);
  EXPECT_THAT(out_.str(), HasSubstr("No samples."));
  EXPECT_EQ(run({"--history", file_, "--html"}), kExitOk);
  EXPECT_THAT(out_.str(), HasSubstr("Not known: cannot connect"));
  EXPECT_EQ(run({"--history", file_, "--json"}), kExitOk);
  EXPECT_THAT(out_.str(), HasSubstr("\"since\":\"2025-01-30T12:00:00Z\""));
}

TEST_F(RunReportTest, APageIsNoJson) {
  make_history();
  EXPECT_EQ(run({"--history", file_, "--html", "--json"}), kExitUsage);
  EXPECT_EQ(out_.str(), "");
  EXPECT_THAT(err_.str(), HasSubstr("--html and --json exclude each other"));
}

TEST_F(RunReportTest, MissingHistoryIsExitOneWithItsName) {
  EXPECT_EQ(run({"--history", file_}), kExitRefused);
  EXPECT_EQ(out_.str(), "");
  EXPECT_EQ(err_.str(), "vmnuma: there is no history '" + file_ + "'\n");
}

TEST_F(RunReportTest, FullOutputIsAnError) {
  make_history();
  out_.setstate(std::ios::badbit);
  EXPECT_EQ(run({"--history", file_}), kExitRefused);
  EXPECT_EQ(err_.str(), "vmnuma: cannot write to standard output\n");
}

TEST_F(RunReportTest, TimeMustBeInThePast) {
  const auto invocation = parse_arguments(
      std::vector<std::string>{"report", "--since", "2030-01-01"}, tests::kNoonUnixS);
  ASSERT_FALSE(invocation);
  EXPECT_THAT(invocation.error().text, StartsWith("vmnuma: --since must be in the past"));
  const auto nonsense =
      parse_arguments(std::vector<std::string>{"report", "--since", "x"}, tests::kNoonUnixS);
  ASSERT_FALSE(nonsense);
  EXPECT_THAT(nonsense.error().text, HasSubstr("'x' is not a time"));
}

}  // namespace
}  // namespace vmnuma::tools
