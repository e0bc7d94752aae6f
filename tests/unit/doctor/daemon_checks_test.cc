// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/doctor/daemon_checks.h"

#include <cerrno>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/views.h"
#include "tests/unit/doctor/fake_root.h"

namespace vmnuma::tools {
namespace {

using balancer::Mode;
using balancer::StatusView;
using ::testing::Contains;
using ::testing::HasSubstr;

constexpr Peer kDaemon{700, 997};

StatusView well() {
  StatusView status = tests::status_view();
  status.mode = Mode::kActive;
  status.degraded.clear();
  return status;
}

std::vector<Finding> found(const StatusView& status) {
  return check_daemon(status, "0.1.0");
}

TEST(DaemonChecksTest, GoodDaemonHasNothingToMend) {
  const std::vector<Finding> findings = found(well());
  EXPECT_EQ(findings.size(), 1U);
  EXPECT_EQ(worst_of(findings), Severity::kOk);
}

TEST(DaemonChecksTest, WhatTheStartHasSetAsideIsAWarning) {
  StatusView status = well();
  status.notices = {"'options.toml' was set aside"};
  EXPECT_EQ(worst_of(found(status)), Severity::kWarning);
  EXPECT_EQ(found(status).back().what, status.notices.front());
}

TEST(DaemonChecksTest, MissingRightsAreLeftToTheirOwnCheck) {
  StatusView status = well();
  status.notices = {"vmnumad lacks CAP_SYS_NICE, which it needs to move memory"};
  EXPECT_EQ(worst_of(found(status)), Severity::kOk);
}

TEST(DaemonChecksTest, HostWithNothingToBalanceIsAllRight) {
  StatusView status = well();
  status.nothing_to_balance = "nothing to balance: only node 0 has CPUs";
  EXPECT_EQ(worst_of(found(status)), Severity::kOk);
  EXPECT_EQ(found(status).back().what, status.nothing_to_balance);
}

TEST(DaemonChecksTest, AbsentDaemonIsAnErrorAndOneThatRefusesUsIsAnother) {
  const auto absent =
      check_daemon(failure(ErrorCode::kUnavailable, "cannot connect to '/s'", ENOENT), "0.1.0");
  ASSERT_EQ(absent.size(), 1U);
  EXPECT_EQ(absent[0].severity, Severity::kError);
  EXPECT_THAT(absent[0].lines, Contains("systemctl enable --now vmnumad"));
  const auto refused =
      check_daemon(failure(ErrorCode::kUnavailable, "cannot connect to '/s'", EACCES), "0.1.0");
  EXPECT_EQ(refused[0].severity, Severity::kError);
  EXPECT_THAT(refused[0].mend, HasSubstr("group vmnuma"));
}

TEST(DaemonChecksTest, DaemonThatOnlyLooksIsANote) {
  StatusView status = well();
  for (const Mode mode : {Mode::kDryRun, Mode::kObserve}) {
    status.mode = mode;
    EXPECT_EQ(worst_of(found(status)), Severity::kNote);
    EXPECT_THAT(found(status)[0].mend, HasSubstr("mode = \"active\""));
  }
  status.mode = Mode::kPaused;
  EXPECT_THAT(found(status)[0].lines, Contains("vmnuma resume"));
}

TEST(DaemonChecksTest, DegradedModeIsNotAllRight) {
  StatusView status = well();
  status.mode = Mode::kDegraded;
  EXPECT_EQ(found(status)[0].severity, Severity::kNote);
}

TEST(DaemonChecksTest, AnotherSocketInTheConfigurationIsNoted) {
  const tests::FakeRoot root;
  EXPECT_TRUE(check_socket(root.path(), "/run/vmnuma/vmnuma.sock").empty());
  root.write("etc/vmnuma/vmnuma.toml", "socket_path = \"/run/own.sock\"\n");
  EXPECT_TRUE(check_socket(root.path(), "/run/own.sock").empty());
  const auto other = check_socket(root.path(), "/run/vmnuma/vmnuma.sock");
  ASSERT_EQ(other.size(), 1U);
  EXPECT_THAT(other[0].lines, Contains("vmnuma --socket /run/own.sock doctor"));
}

TEST(DaemonChecksTest, WhatElseIsMissingIsToldOnce) {
  StatusView status = well();
  status.degraded = {{"history", "the disk is full", 0}};
  status.history.state = "the disk is full";
  const std::vector<Finding> findings = found(status);
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[1].what, "history is missing: the disk is full");
}

TEST(DaemonChecksTest, WhatTheTopologyCheckTellsIsNotToldTwice) {
  StatusView status = well();
  const std::size_t findings = found(status).size();
  status.degraded = {{"/sys/devices/system/node/node0/cpulist", "CPU 3 is left out", 0}};
  EXPECT_EQ(found(status).size(), findings);
  status.uri = balancer::kSimulatedUri;  // nothing else of a simulated host is looked at
  EXPECT_EQ(worst_of(found(status)), Severity::kError);
}

TEST(DaemonChecksTest, HistoryThatIsNotWrittenIsAWarning) {
  StatusView status = well();
  status.history.state = "switched off";
  EXPECT_EQ(worst_of(found(status)), Severity::kWarning);
  status.history.state = "ok; a damaged file was set aside";
  EXPECT_EQ(worst_of(found(status)), Severity::kOk);
}

TEST(DaemonChecksTest, WakeUpsThatAreWantedAndNotCountedAreAWarning) {
  StatusView status = well();
  status.wakeup_pairs.reset();
  EXPECT_EQ(worst_of(found(status)), Severity::kWarning);
  EXPECT_THAT(found(status).back().lines, Contains("systemctl enable --now vmnuma-wakeups"));
  status.wants_wakeups = false;
  EXPECT_EQ(worst_of(found(status)), Severity::kOk);
}

TEST(DaemonChecksTest, DaemonOfAnotherVersionIsAWarning) {
  const std::vector<Finding> findings = check_daemon(well(), "0.2.0");
  EXPECT_EQ(worst_of(findings), Severity::kWarning);
  EXPECT_THAT(findings.back().lines, Contains("systemctl restart vmnumad"));
}

TEST(DaemonChecksTest, RightsAreReadFromTheProcess) {
  const tests::FakeRoot root;
  make_well(root);
  EXPECT_EQ(check_rights(root.root(), kDaemon).severity, Severity::kOk);
  root.run(700, "vmnumad", "CapEff:\t0000000000080000\n");
  EXPECT_EQ(check_rights(root.root(), kDaemon).severity, Severity::kError);
  EXPECT_THAT(check_rights(root.root(), kDaemon).what, HasSubstr("lacks CAP_SYS_NICE,"));
  root.run(700, "vmnumad", "CapEff:\t0000000000800000\n");
  EXPECT_THAT(check_rights(root.root(), kDaemon).what, HasSubstr("lacks CAP_SYS_PTRACE,"));
  root.run(700, "vmnumad", "CapEff:\t0000000000000000\n");
  EXPECT_THAT(check_rights(root.root(), kDaemon).what,
              HasSubstr("lacks CAP_SYS_PTRACE and CAP_SYS_NICE,"));
}

TEST(DaemonChecksTest, RightsAreThoseOfTheProcessThatAnswersAndOfNoOther) {
  const tests::FakeRoot root;
  make_well(root);
  root.run(42, "vmnumad", "CapEff:\t0000000000000000\n");  // a user's own
  EXPECT_EQ(check_rights(root.root(), kDaemon).severity, Severity::kOk);
  EXPECT_EQ(check_rights(root.root(), Peer{42, 1000}).severity, Severity::kError);
  EXPECT_THAT(check_rights(root.root(), Peer{42, 1000}).what, HasSubstr("(pid 42, uid 1000)"));
  const Finding nobody =
      check_rights(root.root(), failure(ErrorCode::kUnavailable, "nobody listens"));
  EXPECT_EQ(nobody.severity, Severity::kNote);
  EXPECT_EQ(nobody.what, "not checked: nobody listens");
}

TEST(DaemonChecksTest, WhatHasACheckOfItsOwnIsNotToldTwice) {
  StatusView status = well();
  status.mode = Mode::kDegraded;
  status.degraded = {
      {"cgroup", "there is no cgroup v2", 0}, {"schedstat", "no", 0}, {"libvirt", "gone", 0}};
  EXPECT_EQ(found(status).size(), 1U);
}

TEST(DaemonChecksTest, RightsThatCannotBeReadAreNotJudged) {
  const tests::FakeRoot root;
  EXPECT_EQ(check_rights(root.root(), kDaemon).severity, Severity::kNote);
  root.run(700, "vmnumad", "CapEff:\tzz\n");
  EXPECT_EQ(check_rights(root.root(), kDaemon).severity, Severity::kWarning);
  root.run(700, "vmnumad", "");
  EXPECT_EQ(check_rights(root.root(), kDaemon).severity, Severity::kWarning);
}

}  // namespace
}  // namespace vmnuma::tools
