// SPDX-License-Identifier: Apache-2.0
#include "stats/topology/special_hardware.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stats/topology/topology_reader.h"
#include "tests/support/fake_host.h"

namespace vmnuma::stats {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using tests::FakeNode;
using tests::regular_nodes;

class SpecialHardwareTest : public testing::Test {
 protected:
  [[nodiscard]] std::vector<std::string> find() const {
    const files::Directory root = files::Directory::open(host_.path()).value();
    return special_hardware(root, read_topology(root).value().topology);
  }
  static FakeNode node_without_cpus(std::int32_t id, Bytes memory) {
    return {.id = id, .cpus = {}, .memory = memory, .huge_pages = {}};
  }

  tests::FakeHost host_;
};

TEST_F(SpecialHardwareTest, AnOrdinaryHostHasNone) {
  host_.set_nodes(regular_nodes(2, 2, 2, kGiB));
  host_.write("sys/devices/virtual/memory_tiering/memory_tier4/nodelist", "0-1\n");
  host_.write("sys/devices/system/cpu/cpu0/cpu_capacity", "1024\n");
  host_.write("sys/devices/system/cpu/cpu1/cpu_capacity", "1024\n");
  EXPECT_THAT(find(), IsEmpty());
}

TEST_F(SpecialHardwareTest, NodesThatLackSomethingAreNamed) {
  auto nodes = regular_nodes(2, 2, 1, kGiB);
  nodes[1].memory = {};
  nodes.push_back(node_without_cpus(2, kGiB));
  nodes.push_back(node_without_cpus(3, {}));
  host_.set_nodes(nodes);
  EXPECT_THAT(find(), ElementsAre("memory only: node 2", "CPUs only: node 1",
                                  "neither CPUs nor memory, as generic initiators: node 3"));
}

TEST_F(SpecialHardwareTest, TheMemoryOfGpusIsToldApart) {
  auto nodes = regular_nodes(1, 2, 1, kGiB);
  for (const std::int32_t id : {1, 8, 9}) {
    nodes.push_back(node_without_cpus(id, kGiB));
  }
  host_.set_nodes(nodes);
  const std::string gpus = "proc/driver/nvidia/gpus/";
  host_.write(gpus + "0009:01:00.0/numa_status", "Node:      9\nStatus:    online\n");
  host_.write(gpus + "0008:01:00.0/numa_status", "Node:      8\nStatus:    online\n");
  host_.write(gpus + "0007:01:00.0/numa_status", "Node:      -1\n");  // its memory is no node
  host_.write(gpus + "0006:01:00.0/numa_status", "Node:      77\n");  // not online
  EXPECT_THAT(find(), ElementsAre("memory only: nodes 1,8-9", "memory of a GPU: nodes 8-9"));
}

TEST_F(SpecialHardwareTest, NodesOfOnePackageAreNamedTogether) {
  auto nodes = regular_nodes(4, 1, 1, kGiB);
  for (FakeNode& node : nodes) {
    node.cpus.front().package = node.id / 2;
  }
  host_.set_nodes(nodes);
  EXPECT_THAT(find(), ElementsAre("several nodes in a package: nodes 0-1 in 0, nodes 2-3 in 1"));
}

TEST_F(SpecialHardwareTest, TiersCachesAndUnequalCpusAreNamed) {
  host_.set_nodes(regular_nodes(2, 2, 1, kGiB));
  host_.write("sys/devices/virtual/memory_tiering/memory_tier4/nodelist", "0\n");
  host_.write("sys/devices/virtual/memory_tiering/memory_tier22/nodelist", "1\n");
  host_.write("sys/devices/virtual/memory_tiering/power/control", "auto\n");
  host_.write("sys/devices/system/node/node1/memory_side_cache/index1/size", "1073741824\n");
  for (int cpu = 0; cpu < 4; ++cpu) {
    host_.write("sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cpu_capacity",
                cpu == 2 ? "446\n" : "1024\n");
  }
  EXPECT_THAT(find(), ElementsAre("memory tiers: 4 (node 0), 22 (node 1)",
                                  "memory behind a cache of its own: node 1",
                                  "CPUs with capacities from 446 to 1024, which count alike"));
}

TEST_F(SpecialHardwareTest, FilesThatCannotBeUnderstoodSayNothing) {
  host_.set_nodes(regular_nodes(1, 2, 1, kGiB));
  host_.write("sys/devices/virtual/memory_tiering/memory_tier4/nodelist", "all\n");
  host_.write("sys/devices/virtual/memory_tiering/memory_tierX/nodelist", "0\n");
  host_.write("sys/devices/system/cpu/cpu0/cpu_capacity", "\n");
  host_.write("sys/devices/system/cpu/cpu1/cpu_capacity", "fast\n");
  host_.write("proc/driver/nvidia/gpus/0/numa_status", "Node:\n");
  EXPECT_THAT(find(), IsEmpty());
}

}  // namespace
}  // namespace vmnuma::stats
