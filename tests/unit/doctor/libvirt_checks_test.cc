// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/doctor/libvirt_checks.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/views.h"
#include "tests/unit/doctor/fake_root.h"

namespace vmnuma::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kWhole = "/run/libvirt/libvirt-sock";
constexpr const char* kModular = "/run/libvirt/virtqemud-sock";

class LibvirtChecksTest : public ::testing::Test {
 protected:
  LibvirtChecksTest() { status_.degraded.clear(); }

  /// Its file is there; and a daemon listens on it if `is_alive`.
  void has_socket(const std::string& path, bool is_alive) {
    root_.write(path.substr(1), "");
    if (is_alive) {
      listening_ += "0000000000000000: 00000002 00000000 00010000 0001 01 21413 " + path + "\n";
    }
    // One that is connected, too.
    root_.write("proc/net/unix",
                "Num       RefCount Protocol Flags    Type St Inode Path\n" + listening_ +
                    "0000000000000000: 00000003 00000000 00000000 0001 03 21414 " + path + "\n");
  }
  void is_not_reached() { status_.degraded = {{"libvirt", "no such file", tests::kNoonUnixS}}; }
  [[nodiscard]] Finding find() const { return check_libvirt(root_.root(), status_); }

  tests::FakeRoot root_;
  balancer::StatusView status_ = tests::status_view();
  std::string listening_;
};

TEST_F(LibvirtChecksTest, ADaemonThatIsReachedIsNamed) {
  has_socket(kWhole, /*is_alive=*/true);
  EXPECT_EQ(find().severity, Severity::kOk);
  EXPECT_EQ(find().what, "the daemon reaches qemu:///system (libvirtd)");
}

TEST_F(LibvirtChecksTest, ModularLibvirtIsKnownByItsSocket) {
  has_socket(kModular, /*is_alive=*/true);
  EXPECT_EQ(find().what, "the daemon reaches qemu:///system (virtqemud)");
}

TEST_F(LibvirtChecksTest, AUriThatNamesASocketOrAModeDecidesByItself) {
  has_socket(kModular, /*is_alive=*/true);
  const auto name_for = [&](std::string_view uri) {
    return libvirt_daemon_of(root_.root(), uri).name;
  };
  EXPECT_EQ(name_for("qemu:///system?mode=legacy"), "libvirtd");
  EXPECT_EQ(name_for("qemu:///system?socket=/run/libvirt/libvirt-sock"), "libvirtd");
  EXPECT_EQ(name_for("qemu:///system and QEMU processes"), "virtqemud");
  const tests::FakeRoot bare;
  EXPECT_EQ(libvirt_daemon_of(bare.root(), "qemu+unix:///system?mode=direct").socket, kModular);
  EXPECT_EQ(
      libvirt_daemon_of(bare.root(), "qemu:///system?socket=/run/x/virtqemud-sock&a=b").socket,
      "/run/x/virtqemud-sock");
}

TEST_F(LibvirtChecksTest, TwoDaemonsThatListenAreAWarning) {
  has_socket(kWhole, /*is_alive=*/true);
  has_socket(kModular, /*is_alive=*/true);
  EXPECT_EQ(find().severity, Severity::kWarning);
  EXPECT_THAT(find().what, HasSubstr("(virtqemud), but libvirtd and virtqemud both listen"));
}

TEST_F(LibvirtChecksTest, UnreachedLibvirtIsAnErrorWithWhereToLook) {
  has_socket(kModular, /*is_alive=*/true);
  is_not_reached();
  EXPECT_EQ(find().severity, Severity::kError);
  EXPECT_THAT(find().what, HasSubstr("does not reach qemu:///system: no such file"));
  EXPECT_THAT(find().mend, HasSubstr("50-vmnuma.rules"));
  EXPECT_THAT(find().lines,
              ElementsAre("systemctl status virtqemud", "journalctl -u vmnumad -u polkit"));
}

TEST_F(LibvirtChecksTest, WhereNoDaemonListensTheSocketThatIsInstalledIsToBeStarted) {
  is_not_reached();
  EXPECT_THAT(find().what, HasSubstr("no program listens on /run/libvirt/libvirt-sock"));
  EXPECT_THAT(find().lines, ElementsAre("systemctl enable --now libvirtd.socket"));
  root_.write("usr/lib/systemd/system/virtqemud.socket", "");
  EXPECT_THAT(find().lines, ElementsAre("systemctl enable --now virtqemud.socket"));
}

TEST_F(LibvirtChecksTest, ASocketThatWasLeftBehindIsFoundInTheWay) {
  has_socket(kWhole, /*is_alive=*/true);
  has_socket(kModular, /*is_alive=*/false);
  is_not_reached();
  EXPECT_EQ(find().severity, Severity::kError);
  EXPECT_THAT(find().what, HasSubstr("although libvirtd runs"));
  EXPECT_THAT(find().lines, ElementsAre("rm /run/libvirt/virtqemud-sock"));
}

TEST_F(LibvirtChecksTest, WithoutLibvirtThereIsNoDaemonOfItToBeNamed) {
  status_.uri = "QEMU processes";
  EXPECT_EQ(find().severity, Severity::kOk);
  EXPECT_EQ(find().what, "the daemon reaches QEMU processes");
}

}  // namespace
}  // namespace vmnuma::tools
