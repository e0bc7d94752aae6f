// SPDX-License-Identifier: Apache-2.0
/// A real libvirtd with our numad and our hook: the VM that asks is the announced one, VMs start
/// with and without a daemon, and a VM that comes back with pins of another host is fitted to this
/// one.
///
/// numad and vmnuma-hook are the wrappers of CMakeLists.txt, which name the socket kSocket.
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <optional>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "placement/model/text.h"
#include "tests/integration/libvirt/virsh.h"
#include "tests/support/fake_daemon.h"

namespace vmnuma::tests {
namespace {

using balancer::AnnounceRequest;
using balancer::Answer;
using balancer::Command;
using balancer::DoneView;
using balancer::SuggestRequest;
using balancer::SuggestView;
using balancer::WithdrawRequest;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kSocket = "/run/libvirt/private/vmnuma.sock";
constexpr const char* kName = "vmnuma-start-test";
constexpr const char* kAsks = "<numatune><memory mode='restrictive' placement='auto'/></numatune>";

class StartTest : public testing::Test {
 protected:
  ~StartTest() override { std::filesystem::remove(kSocket); }

  /// From now on a daemon answers that suggests node 0.
  void start_daemon() {
    daemon_.emplace(FakeDaemon::answering([this](const Command& command) -> Result<Answer> {
      const std::lock_guard lock(mutex_);
      commands_.push_back(command);
      return std::holds_alternative<SuggestRequest>(command) ? Answer(SuggestView{kName, "", {{0}}})
                                                             : Answer(DoneView{});
    }));
    std::filesystem::create_symlink(daemon_->socket_path(), kSocket);
  }
  void forget_commands() {
    const std::lock_guard lock(mutex_);
    commands_.clear();
  }
  std::vector<Command> commands() {
    const std::lock_guard lock(mutex_);
    return commands_;
  }

  std::mutex mutex_;
  std::vector<Command> commands_;
  std::optional<FakeDaemon> daemon_;
};

TEST_F(StartTest, TheVmThatIsAnnouncedIsTheOneThatAsks) {
  start_daemon();
  std::string uuid;
  // On a busy machine the hook may give up waiting.
  for (int attempt = 0; attempt < 20 && commands().size() != 3; ++attempt) {
    forget_commands();
    uuid = to_text(start_guest(kName, kAsks));
    EXPECT_THAT(virsh(std::string("domstate ") + kName), HasSubstr("running"));
    virsh(std::string("destroy ") + kName);
  }
  // The size in the announcement is the one libvirt asks with.
  AnnounceRequest announced{kName, uuid, 2, 32};
  announced.waits_s = 120;
  EXPECT_THAT(commands(), ElementsAre(Command(announced), Command(SuggestRequest{2, 32}),
                                      Command(WithdrawRequest{uuid})));
}

TEST_F(StartTest, WithoutADaemonVmsStartAllTheSame) {
  (void)start_guest(kName, kAsks);
  EXPECT_THAT(virsh(std::string("domstate ") + kName), HasSubstr("running"));
  virsh(std::string("destroy ") + kName);
}

TEST_F(StartTest, AVmThatDoesNotAskIsOnlyAnnounced) {
  start_daemon();
  std::optional<AnnounceRequest> announced;
  bool asked = false;
  // On a busy machine the hook may give up waiting.
  for (int attempt = 0; attempt < 20 && !announced; ++attempt) {
    (void)start_guest(kName, "");
    virsh(std::string("destroy ") + kName);
    for (const Command& command : commands()) {
      asked = asked || std::holds_alternative<SuggestRequest>(command);
      if (const auto* announcement = std::get_if<AnnounceRequest>(&command)) {
        announced = *announcement;
      }
    }
  }
  ASSERT_TRUE(announced);
  EXPECT_EQ(announced->vm, kName);
  EXPECT_FALSE(announced->asks);
  EXPECT_FALSE(asked);
}

TEST_F(StartTest, ASavedVmIsRestoredWithoutThePinsOfAnotherHost) {
  (void)start_guest(kName, "<cputune><vcpupin vcpu='0' cpuset='0'/></cputune>");
  const std::string file = "/run/libvirt/private/saved";
  virsh(std::string("save ") + kName + " " + file);
  shell("virsh save-image-dumpxml " + file +
        " | sed \"s/<vcpupin vcpu='0' cpuset='0'/<vcpupin vcpu='0' cpuset='4000'/\" > " + file +
        ".xml && grep -q 4000 " + file + ".xml");
  virsh("restore " + file + " --xml " + file + ".xml");
  EXPECT_THAT(virsh(std::string("domstate ") + kName), HasSubstr("running"));
  EXPECT_THAT(virsh(std::string("dumpxml ") + kName), Not(HasSubstr("vcpupin")));
  virsh(std::string("destroy ") + kName);
}

TEST_F(StartTest, AMigratingVmArrivesWithoutThePinsOfAnotherHost) {
  shell("\"$VMNUMA_TEST_LIBVIRTD\" --start-other");
  const std::string other = std::string("qemu+unix:///system?socket=/run/libvirt/private/other/") +
                            std::getenv("VMNUMA_TEST_SOCKET");
  const std::string file = "/run/libvirt/private/migrating.xml";
  // The first domain id is the other's.
  (void)start_guest(kName, "");
  virsh(std::string("destroy ") + kName);
  (void)start_guest(kName, "<cputune><vcpupin vcpu='0' cpuset='0'/></cputune>");
  shell(std::string("virsh dumpxml --migratable ") + kName +
        " | sed \"s/cpuset='0'/cpuset='4000'/\" > " + file + " && grep -q 4000 " + file);
  virsh(std::string("migrate --live ") + kName + " '" + other +
        "' --migrateuri unix:///run/libvirt/private/migrating --xml " + file);
  EXPECT_THAT(virsh("list --name"), Not(HasSubstr(kName)));
  EXPECT_THAT(virsh("-c '" + other + "' domstate " + kName), HasSubstr("running"));
  EXPECT_THAT(virsh("-c '" + other + "' dumpxml " + kName), Not(HasSubstr("vcpupin")));
  virsh("-c '" + other + "' destroy " + kName);
}

TEST_F(StartTest, ARunningVmSurvivesARestartOfLibvirtd) {
  (void)start_guest(kName, kAsks);
  stop_libvirtd();
  start_libvirtd();
  // Waits until libvirtd has found its way back to the VM. Destroyed before that, it would be gone
  // twice.
  EXPECT_THAT(virsh(std::string("qemu-monitor-command ") + kName + " --hmp 'info status'"),
              HasSubstr("running"));
  virsh(std::string("destroy ") + kName);
}

}  // namespace
}  // namespace vmnuma::tests
