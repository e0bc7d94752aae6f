// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/doctor/device_checks.h"

#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/doctor/fake_root.h"

namespace vmnuma::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class DeviceChecksTest : public ::testing::Test {
 protected:
  DeviceChecksTest() {
    make_well(root_);
    write("sys/devices/system/node/node0/cpulist", "0-3\n");
    write("sys/devices/system/node/node1/cpulist", "4-7\n");
  }
  void write(const std::string& path, const std::string& text) { root_.write(path, text); }
  /// An interrupt of the device in this directory, fired on this CPU.
  void interrupt(const std::string& device, int number, const std::string& handler, int cpu) {
    const std::string text = std::to_string(number);
    write(device + "/msi_irqs/" + text, "msix\n");
    write("sys/kernel/irq/" + text + "/actions", handler + "\n");
    write("sys/kernel/irq/" + text + "/per_cpu_count", "0,0,9\n");
    write("proc/irq/" + text + "/effective_affinity_list", std::to_string(cpu) + "\n");
  }
  void pass_through(int node, int cpu) {
    const std::string device = "sys/bus/pci/devices/0000:3b:00.0";
    write(device + "/numa_node", std::to_string(node) + "\n");
    interrupt(device, 57, "vfio-msix[0](0000:3b:00.0)", cpu);
    interrupt(device, 58, "vfio-msix[1](0000:3b:00.0)", cpu);
  }
  [[nodiscard]] std::vector<Finding> check() const { return check_interrupts(root_.root(), host_); }

  tests::FakeRoot root_;
  Result<balancer::HostView> host_ = failure(ErrorCode::kUnavailable, "no daemon");
};

TEST_F(DeviceChecksTest, AHostWithoutDevicesForVmsHasNothingToMend) {
  EXPECT_THAT(
      check(),
      ElementsAre(Finding{
          "interrupts", Severity::kOk, "no VM is seen to use a device of this host", "", {}}));
}

TEST_F(DeviceChecksTest, APassedThroughDeviceWithInterruptsElsewhereIsANoteWithTheLineThatMendsIt) {
  pass_through(1, 2);
  const auto findings = check();
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].severity, Severity::kNote);
  EXPECT_EQ(findings[0].what,
            "PCI device 0000:3b:00.0 is on node 1, but its interrupts 57-58 "
            "(vfio-msix[0](0000:3b:00.0), ...) fire on node 0 (CPUs 2)");
  EXPECT_THAT(findings[0].mend, HasSubstr("irqbalance"));
  EXPECT_THAT(
      findings[0].lines,
      ElementsAre("for irq in 57 58; do echo 4-7 > /proc/irq/$irq/smp_affinity_list; done"));
}

TEST_F(DeviceChecksTest, InterruptsOfAPassedThroughDeviceBelongWhereItsVmLives) {
  pass_through(1, 2);
  balancer::VmView vm;
  vm.vm = "web1";
  vm.pci_devices = {"0000:3b:00.0"};
  vm.clients.resize(2);
  vm.clients[0].home = NodeId{0};
  host_ = balancer::HostView{};
  host_->vms = {vm};
  EXPECT_EQ(check()[0].severity, Severity::kOk);
  pass_through(1, 5);
  EXPECT_THAT(check()[0].what,
              HasSubstr("0000:3b:00.0 belongs to VM 'web1', which is on node 0, but its interrupts "
                        "57-58 (vfio-msix[0](0000:3b:00.0), ...) fire on node 1 (CPUs 5)"));
  EXPECT_THAT(check()[0].lines[0], HasSubstr("echo 0-3 >"));
  host_->vms[0].clients[0].home = {};  // it has no home yet
  EXPECT_EQ(check()[0].severity, Severity::kOk);
}

TEST_F(DeviceChecksTest, InterruptsAtHomeOrOfADeviceWithoutANodeAreWell) {
  pass_through(0, 2);
  EXPECT_EQ(check()[0].severity, Severity::kOk);
  pass_through(-1, 2);
  EXPECT_EQ(check()[0].severity, Severity::kOk);
}

TEST_F(DeviceChecksTest, AnInterruptThatVanishesMeanwhileIsLeftOut) {
  pass_through(1, 2);
  for (const char* gone : {"proc/irq/57", "sys/kernel/irq/58"}) {
    std::filesystem::remove_all(std::filesystem::path(root_.path()) / gone);
  }
  EXPECT_EQ(check()[0].severity, Severity::kOk);
}

TEST_F(DeviceChecksTest, TheAdapterBelowAGuestsBridgeCountsAndOthersDoNot) {
  for (const char* adapter : {"eth0", "eth1"}) {
    write(std::string("sys/class/net/") + adapter + "/device/numa_node", "1\n");
  }
  interrupt("sys/class/net/eth0/device", 60, "eth0-TxRx-0", 2);
  interrupt("sys/class/net/eth1/device", 61, "eth1-TxRx-0", 2);
  write("sys/class/net/br0/lower_eth0/ifindex", "1\n");
  write("sys/class/net/br0/lower_vnet0/ifindex", "1\n");
  write("sys/class/net/br1/lower_eth1/ifindex", "1\n");
  EXPECT_EQ(check()[0].severity, Severity::kOk);
  write("sys/class/net/vnet0/tun_flags", "0x5002\n");
  write("sys/class/net/vnet0/upper_br0/ifindex", "1\n");
  const auto findings = check();
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(findings[0].what, HasSubstr("the adapter below br0 is on node 1, but its interrupt "
                                          "60 (eth0-TxRx-0) fires on node 0"));
}

TEST_F(DeviceChecksTest, MacvtapsAndVdpaDevicesLeadToTheirAdapters) {
  write("sys/class/net/eth0/device/numa_node", "1\n");
  interrupt("sys/class/net/eth0/device", 60, "eth0-TxRx-0", 2);
  write("sys/class/net/macvtap0/macvtap/tap7/dev", "240:1\n");
  write("sys/class/net/macvtap0/lower_eth0/ifindex", "1\n");
  write("sys/bus/vdpa/devices/vdpa0/numa_node", "0\n");
  write("sys/bus/vdpa/devices/vdpa0/vhost-vdpa-0/dev", "508:0\n");
  interrupt("sys/bus/vdpa/devices/vdpa0", 61, "vp-vdpa[0000:3b:00.2]-0", 5);
  const auto findings = check();
  ASSERT_THAT(findings, SizeIs(2));
  EXPECT_THAT(findings[0].what, HasSubstr("the adapter below macvtap0"));
  EXPECT_THAT(findings[1].what, HasSubstr("the adapter below vhost-vdpa-0"));
}

}  // namespace
}  // namespace vmnuma::tools
