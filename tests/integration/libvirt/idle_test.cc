// SPDX-License-Identifier: Apache-2.0
/// A daemon of libvirt that its sockets start and that ends when it is idle, as libvirtd and
/// virtqemud do under systemd.
#include <chrono>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "balancer/host/event_loop.h"
#include "balancer/host/libvirt_hypervisor.h"
#include "tests/integration/libvirt/virsh.h"
#include "tests/support/wake_up.h"

namespace vmnuma::tests {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

class IdleTest : public testing::Test {
 protected:
  IdleTest()
      : libvirt_(std::move(*balancer::EventLoop::start()),
                 {.uri = "qemu:///system", .default_huge_page_size = kMiB * 2},
                 [this] { dirty_.notify(); }) {}

  /// Asks as often as the service would: a daemon that is about to end turns clients away.
  std::vector<VmDescription> refresh() {
    auto vms = libvirt_.refresh();
    for (int attempt = 0; attempt < 10 && !vms; ++attempt) {
      EXPECT_EQ(vms.error().code, ErrorCode::kUnavailable) << vms.error().message;
      vms = libvirt_.refresh();
    }
    EXPECT_TRUE(vms.has_value()) << vms.error().message;
    return vms.value_or(std::vector<VmDescription>{});
  }

  WakeUp dirty_;
  balancer::LibvirtHypervisor libvirt_;
};

TEST_F(IdleTest, ADaemonThatEndedForIdlenessReturnsWhenItIsAsked) {
  virsh("version");
  const std::string before = libvirtd_pid();
  shell("timeout 60 tail --sleep-interval=0.05 --pid=" + before + " -f /dev/null");
  EXPECT_THAT(refresh(), IsEmpty());
  EXPECT_NE(libvirtd_pid(), before);
}

TEST_F(IdleTest, AnOpenConnectionKeepsItAwake) {
  EXPECT_THAT(refresh(), IsEmpty());
  const std::string before = libvirtd_pid();
  shell("\"$VMNUMA_TEST_LIBVIRTD\" --run-other-until-idle");
  EXPECT_EQ(libvirtd_pid(), before);
  EXPECT_EQ(dirty_.total(), 0);
  EXPECT_THAT(refresh(), IsEmpty());
}

TEST_F(IdleTest, ADaemonThatIsStoppedReturnsWithTheNextQuestionAndKnowsItsVms) {
  const auto id = start_guest("vmnuma-idle-test", "");
  EXPECT_THAT(refresh(), SizeIs(1));
  const std::string before = libvirtd_pid();
  stop_libvirtd();
  EXPECT_TRUE(dirty_.wait(std::chrono::seconds(60)));
  const auto vms = refresh();
  ASSERT_THAT(vms, SizeIs(1));
  EXPECT_EQ(vms[0].id, id);
  EXPECT_NE(libvirtd_pid(), before);
  // It waits until the new daemon has found its VM again; one that is destroyed meanwhile may be
  // gone before it is told so.
  virsh("dommemstat vmnuma-idle-test");
  virsh("destroy vmnuma-idle-test");
}

}  // namespace
}  // namespace vmnuma::tests
