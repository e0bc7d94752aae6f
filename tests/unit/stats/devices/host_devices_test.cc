// SPDX-License-Identifier: Apache-2.0
#include "stats/devices/host_devices.h"

#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fake_host.h"
#include "tests/unit/stats/devices/fake_ovs.h"

namespace vmnuma::stats {
namespace {

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
  const auto root = files::Directory::open(host.path());
  ASSERT_TRUE(root);
  std::vector<VmDescription> vms(2);
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
  [[nodiscard]] NodeId node_of(const std::string& name, bool is_open_vswitch = false) const {
    const auto root = files::Directory::open(host_.path()).value();
    return common_node(HostDevices(root).of(HostInterface{name, {}, is_open_vswitch}));
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

TEST_F(InterfaceNodeTest, ABridgeOfOpenVSwitchHasTheNodeOfItsPorts) {
  const tests::FakeOvs database(host_.path() + "/run/openvswitch/db.sock", tests::kOvsAnswer);
  host_.write("sys/class/net/br-int/flags", "0x1003\n");
  host_.write("sys/class/net/vnet0/tun_flags", "0x5002\n");
  adapter("eth1", 1);
  adapter("eth2", 0);
  adapter("eth3", 0);
  EXPECT_EQ(node_of("br-int", true), NodeId{1});
  EXPECT_EQ(node_of("br-bond", true), NodeId{0});
  EXPECT_EQ(node_of("br-other", true), NodeId{});
  EXPECT_EQ(database.connections(), 3);
  // What is not said to be one of its bridges is none.
  EXPECT_EQ(node_of("br-int"), NodeId{});
  EXPECT_EQ(database.connections(), 3);
}

TEST_F(InterfaceNodeTest, OpenVSwitchIsAskedOnceForAllVms) {
  const tests::FakeOvs database(host_.path() + "/run/openvswitch/db.sock", tests::kOvsAnswer);
  adapter("eth1", 1);
  adapter("eth2", 0);
  adapter("eth3", 0);
  std::vector<VmDescription> vms(3);
  for (VmDescription& vm : vms) {
    vm.host_interfaces = {{"br-int", {}, true}, {"br-bond", {}, true}};
  }
  read_device_nodes(files::Directory::open(host_.path()).value(), vms);
  EXPECT_EQ(vms[2].host_interfaces[0].node, NodeId{1});
  EXPECT_EQ(vms[2].host_interfaces[1].node, NodeId{0});
  EXPECT_EQ(database.connections(), 1);
}

TEST_F(InterfaceNodeTest, WithoutItsDatabaseTheAdaptersOfTheWholeDatapathDecide) {
  EXPECT_EQ(node_of("br-int", true), NodeId{});
  above("ovs-system", "vnet0");
  above("ovs-system", "eth1");
  host_.write("sys/class/net/vnet0/tun_flags", "0x5002\n");
  adapter("eth1", 1);
  EXPECT_EQ(node_of("br-int", true), NodeId{1});
  above("ovs-system", "eth2");
  adapter("eth2", 0);
  EXPECT_EQ(node_of("br-int", true), NodeId{});
}

class DiskNodeTest : public testing::Test {
 protected:
  /// A disk of a controller at this address, as the kernel lays it out.
  void disk(const std::string& name, const std::string& controller, int node,
            const std::string& way) {
    const std::string pci = "sys/devices/pci0000:00/" + controller;
    host_.write(pci + "/numa_node", std::to_string(node) + "\n");
    host_.write(pci + way + "/block/" + name + "/size", "1\n");
    host_.link("sys/class/block/" + name,
               "../../devices/pci0000:00/" + controller + way + "/block/" + name);
    host_.link(pci + way + "/block/" + name + "/device", "../../../" + last_of(way));
  }
  /// A device-mapper device on top of others.
  void mapped(const std::string& name, const std::vector<std::string>& slaves) {
    host_.write("sys/class/block/" + name + "/dm/suspended", "0\n");
    for (const std::string& slave : slaves) {
      host_.write("sys/class/block/" + name + "/slaves/" + slave + "/size", "1\n");
    }
  }
  [[nodiscard]] NodeId node_of(const std::string& name) const {
    const auto root = files::Directory::open(host_.path()).value();
    return common_node(HostDevices(root).of(HostDisk{name, {}}));
  }
  static std::string last_of(const std::string& way) { return way.substr(way.rfind('/') + 1); }

  tests::FakeHost host_;
};

TEST_F(DiskNodeTest, ADiskHasTheNodeOfTheControllerAboveIt) {
  disk("sda", "0000:00:17.0", 1, "/ata1/host0/target0:0:0/0:0:0:0");
  disk("vda", "0000:00:04.0", 0, "/virtio1");
  EXPECT_EQ(node_of("sda"), NodeId{1});
  EXPECT_EQ(node_of("vda"), NodeId{0});
  EXPECT_EQ(node_of("sdb"), NodeId{});
}

TEST_F(DiskNodeTest, AnNvmeNamespaceHasTheNodeOfItsControllers) {
  host_.write("sys/class/block/nvme0n1/device/numa_node", "1\n");
  EXPECT_EQ(node_of("nvme0n1"), NodeId{1});
  // Below a subsystem, where several controllers reach it.
  host_.write("sys/class/block/nvme1n1/device/nvme1/numa_node", "0\n");
  host_.write("sys/class/block/nvme1n1/device/nvme2/numa_node", "0\n");
  host_.write("sys/class/block/nvme1n1/device/nvme1n1/size", "1\n");
  EXPECT_EQ(node_of("nvme1n1"), NodeId{0});
  host_.write("sys/class/block/nvme1n1/device/nvme2/numa_node", "1\n");
  EXPECT_EQ(node_of("nvme1n1"), NodeId{});
}

TEST_F(DiskNodeTest, APartitionHasTheNodeOfItsDisk) {
  disk("sda", "0000:00:17.0", 1, "/ata1/host0/target0:0:0/0:0:0:0");
  const std::string whole =
      "devices/pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0/block/sda";
  host_.write("sys/" + whole + "/sda1/partition", "1\n");
  host_.link("sys/class/block/sda1", "../../" + whole + "/sda1");
  EXPECT_EQ(node_of("sda1"), NodeId{1});
}

TEST_F(DiskNodeTest, MappedDevicesHaveTheNodeOfAllBelowThem) {
  disk("sda", "0000:00:17.0", 1, "/ata1/host0/target0:0:0/0:0:0:0");
  disk("sdb", "0000:00:18.0", 1, "/ata1/host1/target1:0:0/1:0:0:0");
  disk("sdc", "0000:00:19.0", 0, "/ata1/host2/target2:0:0/2:0:0:0");
  mapped("dm-0", {"sda", "sdb"});
  mapped("dm-1", {"dm-0"});
  mapped("dm-2", {"sda", "sdc"});
  mapped("dm-3", {"dm-3"});
  mapped("loop0", {});
  EXPECT_EQ(node_of("dm-1"), NodeId{1});
  EXPECT_EQ(node_of("dm-2"), NodeId{});
  EXPECT_EQ(node_of("dm-3"), NodeId{});
  EXPECT_EQ(node_of("loop0"), NodeId{});
}

TEST_F(DiskNodeTest, OtherNamesAreLookedUpWhereUdevKeepsThem) {
  disk("sda", "0000:00:17.0", 1, "/ata1/host0/target0:0:0/0:0:0:0");
  host_.write("sys/class/block/sda/dev", "8:0\n");
  mapped("dm-0", {"sda"});
  host_.write("sys/class/block/dm-0/dev", "253:0\n");
  host_.write("run/udev/data/b8:0", "S:disk/by-id/wwn-0x5\nI:1\nE:ID_BUS=ata\n");
  host_.write("run/udev/data/b253:0", "S:mapper/vg-root\nS:vg/root\nS:unended");
  EXPECT_EQ(node_of("disk/by-id/wwn-0x5"), NodeId{1});
  EXPECT_EQ(node_of("vg/root"), NodeId{1});
  EXPECT_EQ(node_of("mapper/vg-root"), NodeId{1});
  EXPECT_EQ(node_of("unended"), NodeId{1});
  EXPECT_EQ(node_of("vg/other"), NodeId{});
}

TEST(HostDevicesTest, AMediatedDeviceHasItsParentsNode) {
  tests::FakeHost host;
  const std::string uuid = "53764d0e-85a0-42b4-af5c-2046b460b1dc";
  host.write("sys/devices/pci0000:3a/0000:3b:00.0/numa_node", "1\n");
  host.write("sys/devices/pci0000:3a/0000:3b:00.0/" + uuid + "/remove", "");
  host.link("sys/bus/mdev/devices/" + uuid, "../../../devices/pci0000:3a/0000:3b:00.0/" + uuid);
  std::vector<VmDescription> vms(1);
  vms[0].mediated_devices = {{uuid, {}}, {"83b8f4f2-509f-382f-3c1e-e6bfe0fa1001", NodeId{0}}};
  read_device_nodes(files::Directory::open(host.path()).value(), vms);
  EXPECT_EQ(vms[0].mediated_devices[0].node, NodeId{1});
  EXPECT_EQ(vms[0].mediated_devices[1].node, NodeId{});  // it has gone
}

TEST_F(InterfaceNodeTest, EachVmOfABridgeIsTold) {
  adapter("eth0", 1);
  above("br0", "eth0");
  std::vector<VmDescription> vms(3);
  for (VmDescription& vm : vms) {
    vm.host_interfaces = {{"br0", {}}, {"br1", NodeId{2}}};
  }
  read_device_nodes(files::Directory::open(host_.path()).value(), vms);
  for (const VmDescription& vm : vms) {
    EXPECT_EQ(vm.host_interfaces[0].node, NodeId{1});
    EXPECT_EQ(vm.host_interfaces[1].node, NodeId{});
  }
}

}  // namespace
}  // namespace vmnuma::stats
