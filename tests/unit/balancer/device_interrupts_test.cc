// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/device_interrupts.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "balancer/controller/views.h"
#include "stats/devices/host_devices.h"
#include "tests/support/fake_host.h"

namespace vmnuma::balancer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class DeviceInterruptsTest : public testing::Test {
 protected:
  DeviceInterruptsTest() {
    host_.set_nodes(tests::regular_nodes(3, 2, 1, kGiB));  // CPUs 0-1, 2-3 and 4-5
    view_.clients.resize(2);
    view_.clients[0].home = NodeId{1};
    view_.clients[1].home = NodeId{1};
  }
  void interrupt(const std::string& device, int number, const std::string& handler, int cpu) {
    const std::string text = std::to_string(number);
    host_.write(device + "/msi_irqs/" + text, "msix\n");
    host_.write("sys/kernel/irq/" + text + "/actions", handler + "\n");
    host_.write("proc/irq/" + text + "/effective_affinity_list", std::to_string(cpu) + "\n");
  }
  /// What is said of the VM's devices.
  [[nodiscard]] std::vector<DeviceView> devices() {
    const auto root = files::Directory::open(host_.path()).value();
    stats::read_device_nodes(root, {&vm_, 1});
    view_.devices = device_views(vm_);
    add_interrupts(view_, vm_, root);
    return view_.devices;
  }

  tests::FakeHost host_;
  VmDescription vm_;
  ExplainView view_;
};

TEST_F(DeviceInterruptsTest, ThoseOfAPassedThroughDeviceBelongWhereTheVmLives) {
  const std::string device = "sys/bus/pci/devices/0000:3b:00.0";
  host_.write(device + "/numa_node", "2\n");
  interrupt(device, 57, "vfio-msix[0](0000:3b:00.0)", 4);
  interrupt(device, 58, "vfio-msix[1](0000:3b:00.0)", 2);
  vm_.pci_devices = {{"0000:3b:00.0", {}}};
  EXPECT_THAT(
      devices(),
      ElementsAre(DeviceView{
          "PCI device",
          "0000:3b:00.0",
          {2},
          {{{58}, "vfio-msix[1](0000:3b:00.0)", "2", {1}},
           {{57}, "vfio-msix[0](0000:3b:00.0)", "4", {2}}},
          "interrupt 57 (vfio-msix[0](0000:3b:00.0)) fires on node 2 (CPUs 4), but the VM lives on "
          "node 1: run irqbalance, or write CPUs of that node to "
          "/proc/irq/NUMBER/smp_affinity_list (irqbalance, if it runs, leaves alone what is named "
          "with --banirq)"}));
  view_.clients[1].home = NodeId{2};
  EXPECT_EQ(devices()[0].advice, "");
  view_.clients.clear();  // nowhere yet: the device's node counts
  EXPECT_THAT(devices()[0].advice, testing::HasSubstr("but the device is on node 2"));
}

TEST_F(DeviceInterruptsTest, ThoseOfAnAdapterThatOthersShareBelongOnItsNode) {
  host_.write("sys/class/net/br0/lower_eth0/ifindex", "1\n");
  host_.write("sys/class/net/eth0/device/numa_node", "2\n");
  interrupt("sys/class/net/eth0/device", 57, "eth0-rx", 4);
  vm_.host_interfaces = {{"br0", {}}};
  EXPECT_EQ(devices()[0].advice, "");
  interrupt("sys/class/net/eth0/device", 57, "eth0-rx", 2);
  EXPECT_THAT(devices()[0].advice,
              testing::StartsWith("interrupt 57 (eth0-rx) fires on node 1 (CPUs 2), but the device "
                                  "is on node 2: "));
}

TEST_F(DeviceInterruptsTest, DisksAndDevicesOfAnUnknownNodeAreShownWithoutAdvice) {
  host_.write("sys/class/block/nvme0n1/device/numa_node", "1\n");
  vm_.mediated_devices = {{"53764d0e-85a0-42b4-af5c-2046b460b1dc", {}}};
  vm_.host_disks = {{"nvme0n1", {}}};
  EXPECT_THAT(
      devices(),
      ElementsAre(
          DeviceView{"mediated device", "53764d0e-85a0-42b4-af5c-2046b460b1dc", {-1}, {}, ""},
          DeviceView{"disk", "nvme0n1", {1}, {}, ""}));
}

}  // namespace
}  // namespace vmnuma::balancer
