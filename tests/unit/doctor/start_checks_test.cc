// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/doctor/start_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/doctor/fake_root.h"

namespace vmnuma::tools {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

class StartChecksTest : public ::testing::Test {
 protected:
  StartChecksTest() { make_well(root_); }
  void remove(const std::string& path) {
    std::filesystem::remove_all(std::filesystem::path(root_.path()) / path);
  }
  tests::FakeRoot root_;
};

TEST_F(StartChecksTest, GoodHostHasNothingToMend) {
  for (const Finding& finding : check_start(root_.root())) {
    EXPECT_EQ(finding.severity, Severity::kOk) << finding.check << ": " << finding.what;
    EXPECT_EQ(finding.mend, "");
  }
}

TEST_F(StartChecksTest, NumadServiceIsAnErrorAndOurOwnProgramIsNot) {
  root_.run(900, "numad", "PPid:\t800\n");  // libvirtd asks it
  EXPECT_EQ(check_numad_service(root_.root()).severity, Severity::kOk);
  root_.run(900, "numad", "PPid:\t1\n");
  const Finding finding = check_numad_service(root_.root());
  EXPECT_EQ(finding.severity, Severity::kError);
  EXPECT_THAT(finding.what, HasSubstr("pid 900"));
  EXPECT_THAT(finding.lines, Contains("systemctl disable --now numad"));
}

TEST_F(StartChecksTest, MissingNumadProgramIsANote) {
  remove("usr/bin/numad");
  const Finding finding = check_numad_program(root_.root());
  EXPECT_EQ(finding.severity, Severity::kNote);
  EXPECT_THAT(finding.lines, Contains(HasSubstr("install -m 755")));
}

TEST_F(StartChecksTest, AForeignNumadProgramIsAWarning) {
  root_.write("usr/bin/numad", "ELF of another", /*executable=*/true);
  const Finding finding = check_numad_program(root_.root());
  EXPECT_EQ(finding.severity, Severity::kWarning);
  EXPECT_THAT(finding.what, HasSubstr("not vmnuma's"));
  EXPECT_THAT(finding.lines, Contains(HasSubstr("dpkg-divert")));
}

TEST_F(StartChecksTest, NumadProgramThatCannotRunIsAnError) {
  root_.write("usr/bin/numad", "numad of vmnuma", /*executable=*/false);
  EXPECT_EQ(check_numad_program(root_.root()).severity, Severity::kError);
}

TEST_F(StartChecksTest, MissingHookIsANote) {
  remove("etc/libvirt");
  const Finding finding = check_hook(root_.root());
  EXPECT_EQ(finding.severity, Severity::kNote);
  EXPECT_THAT(finding.lines, Contains(HasSubstr("qemu.d/vmnuma")));
}

TEST_F(StartChecksTest, HookThatIsNoProgramIsAWarning) {
  root_.write("etc/libvirt/hooks/qemu.d/vmnuma", "#!/bin/sh\n", /*executable=*/false);
  EXPECT_EQ(check_hook(root_.root()).severity, Severity::kWarning);
}

TEST_F(StartChecksTest, OlderHookIsAWarning) {
  root_.write("usr/share/vmnuma/libvirt-hook", "#!/bin/sh\n# newer\n");
  EXPECT_EQ(check_hook(root_.root()).severity, Severity::kWarning);
  remove("usr/share/vmnuma");
  EXPECT_EQ(check_hook(root_.root()).severity, Severity::kOk);
}

TEST_F(StartChecksTest, MissingAppArmorRuleIsAWarning) {
  remove("etc/apparmor.d/local");
  const Finding finding = check_apparmor(root_.root());
  EXPECT_EQ(finding.severity, Severity::kWarning);
  EXPECT_THAT(finding.lines, Contains("/sys/devices/system/node/node*/cpumap r,"));
  EXPECT_THAT(finding.mend, HasSubstr("/etc/apparmor.d/local/abstractions/libvirt-qemu"));
}

TEST_F(StartChecksTest, AppArmorRuleMayComeWithLibvirt) {
  remove("etc/apparmor.d/local");
  root_.write("etc/apparmor.d/abstractions/libvirt-qemu",
              "/sys/devices/system/node/node*/cpumap r,\n");
  EXPECT_EQ(check_apparmor(root_.root()).severity, Severity::kOk);
}

TEST_F(StartChecksTest, HostWithoutAppArmorNeedsNoRule) {
  remove("etc/apparmor.d/local");
  root_.write("sys/module/apparmor/parameters/enabled", "N\n");
  EXPECT_EQ(check_apparmor(root_.root()).severity, Severity::kOk);
  remove("sys/module/apparmor");
  EXPECT_EQ(check_apparmor(root_.root()).severity, Severity::kOk);
}

TEST_F(StartChecksTest, ProcessesAreFoundByTheirName) {
  root_.write("proc/12x/comm", "numad\n");
  EXPECT_EQ(process_named(root_.root(), "numad"), -1);
  EXPECT_EQ(process_named(root_.root(), "vmnumad"), 700);
  remove("proc");
  EXPECT_EQ(process_named(root_.root(), "vmnumad"), -1);
}

}  // namespace
}  // namespace vmnuma::tools
