// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/doctor/pve_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/support/views.h"
#include "tests/unit/doctor/fake_root.h"

namespace vmnuma::tools {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

class PveChecksTest : public testing::Test {
 protected:
  PveChecksTest() {
    status_.uri = "qemu:///system and QEMU processes";
    root_.write("etc/pve/qemu-server/100.conf", "name: mail\nhookscript: local:snippets/vmnuma\n");
    in_groups(std::to_string(::getgid()));
    root_.write("usr/share/vmnuma/pve-hookscript", "#!/bin/sh\n", /*executable=*/true);
    root_.write("var/lib/vz/snippets/vmnuma", "#!/bin/sh\n", /*executable=*/true);
  }
  Finding find(std::string_view check) {
    for (Finding& finding : check_pve(root_.root(), status_, daemon_)) {
      if (finding.check == check) {
        return std::move(finding);
      }
    }
    ADD_FAILURE() << "nothing about " << check;
    return {};
  }
  void in_groups(const std::string& groups) {
    root_.run(700, "vmnumad", "Gid:\t989\t989\t989\t989\nGroups:\t100 " + groups + " \n");
  }
  void remove(const std::string& path) {
    std::filesystem::remove_all(std::filesystem::path(root_.path()) / path);
  }
  tests::FakeRoot root_;
  balancer::StatusView status_ = tests::status_view();
  Result<Peer> daemon_ = Peer{700, 990};
};

TEST_F(PveChecksTest, OfAnotherHostNothingIsFound) {
  remove("etc/pve");
  EXPECT_THAT(check_pve(root_.root(), status_, daemon_), IsEmpty());
}

TEST_F(PveChecksTest, GoodNodeHasNothingToMend) {
  for (const Finding& finding : check_pve(root_.root(), status_, daemon_)) {
    EXPECT_EQ(finding.severity, Severity::kOk) << finding.what;
  }
  EXPECT_THAT(find("pve-hook").what, HasSubstr("1 VM has it"));
}

TEST_F(PveChecksTest, ADaemonThatAsksOnlyLibvirtIsAWarningAndOneThatDoesNotAnswerIsNot) {
  status_.uri = "qemu:///system";
  const Finding finding = find("pve");
  EXPECT_EQ(finding.severity, Severity::kWarning);
  EXPECT_THAT(finding.lines, Contains("hypervisor = \"qemu\""));
  EXPECT_EQ(
      check_pve(root_.root(), failure(ErrorCode::kUnavailable, "nobody"), daemon_)[0].severity,
      Severity::kNote);
}

TEST_F(PveChecksTest, ADaemonThatMayNotReadConfigurationsIsAWarning) {
  in_groups("99999");
  EXPECT_EQ(find("pve-config").severity, Severity::kWarning);
  daemon_ = Peer{700, 0};  // root may
  EXPECT_EQ(find("pve-config").severity, Severity::kOk);
  daemon_ = failure(ErrorCode::kUnavailable, "nobody");
  EXPECT_EQ(find("pve-config").severity, Severity::kNote);
}

TEST_F(PveChecksTest, AMissingHookscriptIsAnErrorIfAVmNamesItAndElseANote) {
  remove("var/lib/vz");
  EXPECT_EQ(find("pve-hook").severity, Severity::kError);
  EXPECT_THAT(find("pve-hook").what, HasSubstr("do not start: 100"));
  root_.write("var/lib/vz/snippets/vmnuma", "#!/bin/sh\n", /*executable=*/false);
  EXPECT_EQ(find("pve-hook").severity, Severity::kError);
  remove("var/lib/vz");
  root_.write("etc/pve/qemu-server/100.conf", "name: mail\nhookscript: nfs:snippets/vmnuma\n");
  EXPECT_EQ(find("pve-hook").severity, Severity::kNote) << "it is in another storage";
  EXPECT_THAT(find("pve-hook").what, HasSubstr("the storage 'nfs' is not known"));
}

TEST_F(PveChecksTest, AHookscriptInAnotherStorageIsLookedAtThere) {
  root_.write("etc/pve/qemu-server/100.conf", "name: mail\nhookscript: nfs:snippets/vmnuma\n");
  root_.write("etc/pve/storage.cfg",
              "dir: local\n\tpath /var/lib/vz\n\nnfs: nfs\n\tserver nas\n\tpath /mnt/pve/nfs\n");
  EXPECT_EQ(find("pve-hook").severity, Severity::kError);
  EXPECT_THAT(find("pve-hook").what, HasSubstr("/mnt/pve/nfs/snippets/vmnuma is missing"));
  EXPECT_THAT(find("pve-hook").lines,
              Contains("vmnuma pve install --storage nfs --snippets /mnt/pve/nfs/snippets"));
  root_.write("mnt/pve/nfs/snippets/vmnuma", "#!/bin/sh\n", /*executable=*/true);
  EXPECT_EQ(find("pve-hook").severity, Severity::kOk);
  EXPECT_THAT(find("pve-hook").what, HasSubstr("1 VM has it"));
}

TEST_F(PveChecksTest, AnOlderHookscriptIsAWarning) {
  root_.write("usr/share/vmnuma/pve-hookscript", "#!/bin/sh\n# newer\n");
  EXPECT_EQ(find("pve-hook").severity, Severity::kWarning);
}

TEST_F(PveChecksTest, VmsWithAnAffinityAreNoted) {
  root_.write("etc/pve/qemu-server/101.conf", "affinity: 0-3\n");
  root_.write("etc/pve/nodes/b/qemu-server/102.conf", "affinity: 4\n");
  const Finding finding = find("affinity");
  EXPECT_EQ(finding.severity, Severity::kNote);
  EXPECT_THAT(finding.what, HasSubstr("left where they are: 101 (0-3)"));
  EXPECT_THAT(finding.what, testing::Not(HasSubstr("102")));
}

}  // namespace
}  // namespace vmnuma::tools
