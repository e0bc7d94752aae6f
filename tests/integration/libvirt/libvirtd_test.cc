// SPDX-License-Identifier: Apache-2.0
/// What only a real libvirtd can show: other clients' changes, the kernel's view of a pin,
/// restarts.
#include <functional>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "balancer/host/event_loop.h"
#include "balancer/host/libvirt_hypervisor.h"
#include "tests/integration/libvirt/virsh.h"
#include "tests/support/wake_up.h"

namespace vmnuma::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using Thread = migration::ThreadId::Kind;

constexpr const char* kUri = "qemu:///system";
constexpr const char* kName = "vmnuma-test";

class LibvirtdTest : public testing::Test {
 protected:
  LibvirtdTest()
      : libvirt_(std::move(*balancer::EventLoop::start()),
                 {.uri = kUri, .default_huge_page_size = kMiB * 2}, [this] { dirty_.notify(); }),
        vm_(start_guest(kName, "")) {}
  ~LibvirtdTest() override { virsh(std::string("destroy ") + kName); }

  /// The guest's description, as the next refresh() has it.
  std::optional<VmDescription> find() {
    const auto vms = libvirt_.refresh();
    EXPECT_TRUE(vms.has_value()) << vms.error().message;
    for (const VmDescription& one : vms.value_or(std::vector<VmDescription>{})) {
      if (one.id == vm_) {
        return one;
      }
    }
    return std::nullopt;
  }

  /// Waits for announcements and refreshes until `holds`.
  bool becomes(const std::function<bool(const VmDescription&)>& holds) {
    for (;;) {
      const auto vm = find();
      if (vm && holds(*vm)) {
        return true;
      }
      if (!dirty_.wait(std::chrono::seconds(60))) {
        return false;
      }
    }
  }

  CpuId cpu() const { return host_cpus().back(); }

  WakeUp dirty_;
  balancer::LibvirtHypervisor libvirt_;
  VmId vm_;
};

TEST_F(LibvirtdTest, SeesAPinMadeByAnotherClient) {
  ASSERT_TRUE(find().has_value());
  virsh("vcpupin vmnuma-test 1 " + std::to_string(cpu().value) + " --live");
  EXPECT_TRUE(becomes([&](const VmDescription& vm) {
    return vm.vcpu_pins == std::vector<Pin>{{1, {cpu()}}};
  }));
}

TEST_F(LibvirtdTest, HearsOfADeviceThatIsPluggedAndUnplugged) {
  ASSERT_TRUE(find().has_value());
  shell("echo \"<input type='tablet' bus='usb'/>\" > /run/libvirt/private/tablet.xml");
  virsh("attach-device vmnuma-test /run/libvirt/private/tablet.xml --live");
  ASSERT_TRUE(dirty_.wait(std::chrono::seconds(60)));
  ASSERT_TRUE(find().has_value());
  virsh("detach-device vmnuma-test /run/libvirt/private/tablet.xml --live");
  EXPECT_TRUE(dirty_.wait(std::chrono::seconds(60)));
}

TEST_F(LibvirtdTest, PinsReachTheKernel) {
  if (host_cpus().size() < 2) {
    GTEST_SKIP() << "with one CPU every thread is on it, pinned or not";
  }
  ASSERT_TRUE(libvirt_.control().pin({vm_}, {Thread::kVcpu, 0}, {cpu()}).has_value());
  ASSERT_TRUE(libvirt_.control().pin({vm_}, {Thread::kEmulator}, {cpu()}).has_value());
  ASSERT_TRUE(libvirt_.control().pin({vm_}, {Thread::kIoThread, 1}, {cpu()}).has_value());

  EXPECT_THAT(allowed_cpus(kName, "CPU 0/TCG"), ElementsAre(cpu()));
  EXPECT_EQ(allowed_cpus(kName, "CPU 1/TCG"), host_cpus());
  EXPECT_THAT(allowed_cpus(kName, "qemu-system-x86"), ElementsAre(cpu()));
  EXPECT_THAT(allowed_cpus(kName, "IO iothread1"), ElementsAre(cpu()));
  EXPECT_THAT(virsh("vcpupin vmnuma-test 0"), HasSubstr(std::to_string(cpu().value)));
}

TEST_F(LibvirtdTest, OurOwnPinIsReadAgainOnceAndEndsThere) {
  ASSERT_TRUE(find().has_value());
  ASSERT_TRUE(libvirt_.control().pin({vm_}, {Thread::kVcpu, 0}, {cpu()}).has_value());
  ASSERT_TRUE(dirty_.wait(std::chrono::seconds(60)));
  ASSERT_TRUE(find().has_value());
  const int before = dirty_.total();

  // Events of one connection come in order: after this one, an echo of the re-read would have come
  // too.
  virsh("desc vmnuma-test --live something");
  ASSERT_TRUE(dirty_.wait(std::chrono::seconds(60)));
  EXPECT_EQ(dirty_.total(), before + 1);
}

TEST_F(LibvirtdTest, ThePersistentDefinitionIsLeftAlone) {
  virsh(
      "dumpxml vmnuma-test > /run/libvirt/private/definition.xml && virsh --quiet define "
      "/run/libvirt/private/definition.xml");
  ASSERT_TRUE(libvirt_.control().pin({vm_}, {Thread::kVcpu, 0}, {cpu()}).has_value());
  ASSERT_TRUE(libvirt_.control()
                  .change_memory_nodes({vm_}, {NodeId{0}}, migration::MemoryNodes::kSet)
                  .has_value());

  EXPECT_THAT(virsh("dumpxml vmnuma-test"), HasSubstr("vcpupin"));
  const std::string definition = virsh("dumpxml vmnuma-test --inactive");
  EXPECT_THAT(definition, Not(HasSubstr("vcpupin")));
  EXPECT_THAT(definition, Not(HasSubstr("numatune")));
  virsh("undefine vmnuma-test");
}

TEST_F(LibvirtdTest, AVmThatIsDefinedButOffIsNotFoundAndNotListed) {
  virsh(
      "dumpxml vmnuma-test > /run/libvirt/private/definition.xml && virsh --quiet define "
      "/run/libvirt/private/definition.xml");
  ASSERT_TRUE(find().has_value());
  virsh("destroy vmnuma-test");

  const auto pinned = libvirt_.control().pin({vm_}, {Thread::kVcpu, 0}, {cpu()});
  ASSERT_FALSE(pinned.has_value());
  EXPECT_EQ(pinned.error().code, ErrorCode::kNotFound) << pinned.error().message;
  const auto moved =
      libvirt_.control().change_memory_nodes({vm_}, {NodeId{0}}, migration::MemoryNodes::kSet);
  ASSERT_FALSE(moved.has_value());
  EXPECT_EQ(moved.error().code, ErrorCode::kNotFound) << moved.error().message;
  while (find().has_value()) {
    ASSERT_TRUE(dirty_.wait(std::chrono::seconds(60)));
  }

  virsh("start vmnuma-test");
  EXPECT_TRUE(becomes([](const VmDescription&) { return true; }));
  virsh("undefine vmnuma-test");
}

TEST_F(LibvirtdTest, APluggedVcpuIsSeenOnceMarked) {
  ASSERT_EQ(find()->vcpus.size(), 2U);
  virsh("setvcpus vmnuma-test 3 --live");
  libvirt_.mark_dirty(vm_);
  EXPECT_EQ(find()->vcpus.size(), 3U);
}

TEST_F(LibvirtdTest, SurvivesARestartOfLibvirtd) {
  const auto before = find();
  ASSERT_TRUE(before.has_value());
  ASSERT_TRUE(libvirt_.control().pin({vm_}, {Thread::kVcpu, 0}, {cpu()}).has_value());

  stop_libvirtd();
  start_libvirtd();

  // The guest ran on, its pin with it, and events come again.
  EXPECT_TRUE(becomes([&](const VmDescription& vm) {
    return vm.domain_id == before->domain_id && vm.vcpu_pins == std::vector<Pin>{{0, {cpu()}}};
  }));
  virsh("vcpupin vmnuma-test 1 " + std::to_string(cpu().value) + " --live");
  EXPECT_TRUE(becomes([](const VmDescription& vm) { return vm.vcpu_pins.size() == 2; }));
  EXPECT_TRUE(libvirt_.control().pin({vm_}, {Thread::kEmulator}, {cpu()}).has_value());
}

TEST_F(LibvirtdTest, ALibvirtdThatHangsIsNoticed) {
  ASSERT_TRUE(find().has_value());
  const std::string pid_file = "/run/libvirt/private/libvirtd.pid";
  shell("kill -STOP $(cat " + pid_file + ")");

  libvirt_.mark_dirty(vm_);
  const auto vms = libvirt_.refresh();  // blocks until the keepalive gives up

  shell("kill -CONT $(cat " + pid_file + ")");
  ASSERT_FALSE(vms.has_value());
  EXPECT_EQ(vms.error().code, ErrorCode::kUnavailable) << vms.error().message;
  EXPECT_TRUE(find().has_value());
}

}  // namespace
}  // namespace vmnuma::tests
