// SPDX-License-Identifier: Apache-2.0
#include "stats/linux/pci_devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fake_host.h"

namespace vmnuma::stats {
namespace {

using placement::NodeId;
using testing::HasSubstr;

TEST(PciDevicesTest, ReadsTheKernelsNumber) {
  EXPECT_EQ(parse_numa_node("3\n").value(), NodeId{3});
  EXPECT_EQ(parse_numa_node("-1\n").value(), NodeId{-1});
}

TEST(PciDevicesTest, RefusesEverythingElseAndQuotesIt) {
  for (const char* text : {"", "\n", "x\n", "1 2\n", "-2\n", "3\n\n", "99999999999\n"}) {
    const auto node = parse_numa_node(text);
    ASSERT_FALSE(node) << text;
    EXPECT_THAT(node.error().message, HasSubstr(text));
  }
}

TEST(PciDevicesTest, FillsInTheNodesOfAVmsDevices) {
  tests::FakeHost host;
  host.write("sys/bus/pci/devices/0000:3b:00.0/numa_node", "1\n");
  host.write("sys/bus/pci/devices/0000:3b:00.1/numa_node", "-1\n");
  host.write("sys/bus/pci/devices/0000:3b:00.2/numa_node", "near\n");
  const auto root = Directory::open(host.path());
  ASSERT_TRUE(root);
  placement::VmDescription vm;
  // The last has gone; it keeps no node that it had before.
  vm.pci_devices = {{"0000:3b:00.0", {}},
                    {"0000:3b:00.1", {}},
                    {"0000:3b:00.2", {}},
                    {"0000:3b:00.3", NodeId{2}}};
  read_device_nodes(*root, vm);
  EXPECT_EQ(vm.pci_devices[0].node, NodeId{1});
  EXPECT_EQ(vm.pci_devices[1].node, NodeId{});
  EXPECT_EQ(vm.pci_devices[2].node, NodeId{});
  EXPECT_EQ(vm.pci_devices[3].node, NodeId{});
}

}  // namespace
}  // namespace vmnuma::stats
