// SPDX-License-Identifier: Apache-2.0
#include "stats/linux/host_devices.h"

#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fake_host.h"

namespace vmnuma::stats {
namespace {

using placement::NodeId;
using testing::HasSubstr;

TEST(HostDevicesTest, ReadsTheKernelsNumber) {
  EXPECT_EQ(parse_numa_node("3\n").value(), NodeId{3});
  EXPECT_EQ(parse_numa_node("-1\n").value(), NodeId{-1});
}

TEST(HostDevicesTest, RefusesEverythingElseAndQuotesIt) {
  for (const char* text : {"", "\n", "x\n", "1 2\n", "-2\n", "3\n\n", "99999999999\n"}) {
    const auto node = parse_numa_node(text);
    ASSERT_FALSE(node) << text;
    EXPECT_THAT(node.error().message, HasSubstr(text));
  }
}

TEST(HostDevicesTest, FillsInTheNodesOfAVmsDevices) {
  tests::FakeHost host;
  host.write("sys/bus/pci/devices/0000:3b:00.0/numa_node", "1\n");
  host.write("sys/bus/pci/devices/0000:3b:00.1/numa_node", "-1\n");
  host.write("sys/bus/pci/devices/0000:3b:00.2/numa_node", "near\n");
  const auto root = Directory::open(host.path());
  ASSERT_TRUE(root);
  std::vector<placement::VmDescription> vms(2);
  // The last has gone; it keeps no node that it had before.
  vms[1].pci_devices = {{"0000:3b:00.0", {}},
                        {"0000:3b:00.1", {}},
                        {"0000:3b:00.2", {}},
                        {"0000:3b:00.3", NodeId{2}}};
  read_device_nodes(*root, vms);
  EXPECT_EQ(vms[1].pci_devices[0].node, NodeId{1});
  EXPECT_EQ(vms[1].pci_devices[1].node, NodeId{});
  EXPECT_EQ(vms[1].pci_devices[2].node, NodeId{});
  EXPECT_EQ(vms[1].pci_devices[3].node, NodeId{});
}

class InterfaceNodeTest : public testing::Test {
 protected:
  /// An interface with a device of its own.
  void adapter(const std::string& name, int node) {
    host_.write("sys/class/net/" + name + "/device/numa_node", std::to_string(node) + "\n");
  }
  void above(const std::string& name, const std::string& lower) {
    host_.write("sys/class/net/" + name + "/lower_" + lower + "/ifindex", "1\n");
  }
  [[nodiscard]] NodeId node_of(std::string_view name) const {
    return node_of_interface(Directory::open(host_.path()).value(), name);
  }

  tests::FakeHost host_;
};

TEST_F(InterfaceNodeTest, AnAdapterHasItsDevicesNode) {
  adapter("eth0", 1);
  EXPECT_EQ(node_of("eth0"), NodeId{1});
  EXPECT_EQ(node_of("eth1"), NodeId{});
}

TEST_F(InterfaceNodeTest, AVirtioAdapterHasTheNodeOfWhatCarriesIt) {
  host_.write("sys/class/net/eth0/device/driver_override", "\n");
  host_.write("sys/class/net/eth0/numa_node", "2\n");
  EXPECT_EQ(node_of("eth0"), NodeId{2});
}

TEST_F(InterfaceNodeTest, TheWayLeadsThroughBridgesVlansAndBonds) {
  adapter("eth0", 3);
  adapter("eth1", 3);
  above("bond0", "eth0");
  above("bond0", "eth1");
  above("bond0.7", "bond0");
  above("br0", "bond0.7");
  above("br0", "vnet0");  // a guest's tap has no device
  host_.write("sys/class/net/vnet0/tun_flags", "0x5002\n");
  EXPECT_EQ(node_of("br0"), NodeId{3});
}

TEST_F(InterfaceNodeTest, AdaptersThatDisagreeAreNoNode) {
  adapter("eth0", 0);
  adapter("eth1", 1);
  above("bond0", "eth0");
  above("bond0", "eth1");
  EXPECT_EQ(node_of("bond0"), NodeId{});
  adapter("eth2", 0);
  adapter("eth3", -1);
  above("br1", "eth2");
  above("br1", "eth3");
  EXPECT_EQ(node_of("br1"), NodeId{});
}

TEST_F(InterfaceNodeTest, LinksInACircleComeToAnEnd) {
  above("a", "b");
  above("b", "a");
  EXPECT_EQ(node_of("a"), NodeId{});
  for (int i = 0; i < 100; ++i) {
    above("v" + std::to_string(i), "v" + std::to_string(i + 1));
  }
  adapter("v100", 1);
  EXPECT_EQ(node_of("v0"), NodeId{});
}

TEST_F(InterfaceNodeTest, AVdpaDeviceHasItsParentsNode) {
  host_.write("sys/devices/pci0000:3b/0000:3b:00.2/numa_node", "1\n");
  host_.write("sys/devices/pci0000:3b/0000:3b:00.2/vdpa0/vhost-vdpa-0/dev", "508:0\n");
  host_.write("sys/bus/vdpa/devices/uevent", "");
  host_.link("sys/bus/vdpa/devices/vdpa0", "../../../devices/pci0000:3b/0000:3b:00.2/vdpa0");
  EXPECT_EQ(node_of("vhost-vdpa-0"), NodeId{1});
  EXPECT_EQ(node_of("vhost-vdpa-1"), NodeId{});
}

TEST_F(InterfaceNodeTest, EachVmOfABridgeIsTold) {
  adapter("eth0", 1);
  above("br0", "eth0");
  std::vector<placement::VmDescription> vms(3);
  for (placement::VmDescription& vm : vms) {
    vm.host_interfaces = {{"br0", {}}, {"br1", NodeId{2}}};
  }
  read_device_nodes(Directory::open(host_.path()).value(), vms);
  for (const placement::VmDescription& vm : vms) {
    EXPECT_EQ(vm.host_interfaces[0].node, NodeId{1});
    EXPECT_EQ(vm.host_interfaces[1].node, NodeId{});
  }
}

}  // namespace
}  // namespace vmnuma::stats
