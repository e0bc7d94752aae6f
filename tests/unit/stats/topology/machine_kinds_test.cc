// SPDX-License-Identifier: Apache-2.0
// Machines that firmware and kernels describe in unusual ways, and what read_topology() makes of
// them, and whether advice for VMs on them is what it promises. tools/check-corpora tries both on
// trees of real ones.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "placement/model/text.h"
#include "stats/topology/topology_reader.h"
#include "tests/support/advice_promises.h"
#include "tests/support/fake_host.h"

namespace vmnuma::stats {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using tests::FakeNode;
using tests::regular_nodes;

class MachineKindsTest : public testing::Test {
 protected:
  [[nodiscard]] Result<TopologyReading> read_result() const {
    return read_topology(files::Directory::open(host_.path()).value());
  }
  [[nodiscard]] TopologyReading read() const {
    auto reading = read_result();
    EXPECT_TRUE(reading.has_value()) << reading.error().message;
    if (reading) {
      EXPECT_THAT(tests::wrong_advice_on(reading->topology), IsEmpty());
    }
    return reading.value_or(TopologyReading{});
  }
  [[nodiscard]] static std::string cpus_of(const Node& node) {
    std::vector<CpuId> ids;
    for (const Cpu& cpu : node.cpus) {
      ids.push_back(cpu.id);
    }
    return to_list(ids);
  }
  [[nodiscard]] static std::string homes_of(const Topology& topology) {
    std::vector<NodeId> homes;
    for (NodeIndex node = 0; node < topology.nodes.size(); ++node) {
      if (topology.can_be_home(node)) {
        homes.push_back(topology.nodes[node].id);
      }
    }
    return to_list(homes);
  }
  /// The file, below /sys/devices/system/node, and what is said of it.
  static auto is_left_out(const std::string& file, const std::string& reason) {
    return AllOf(Field(&MissingSource::source, EndsWith("/sys/devices/system/node" + file)),
                 Field(&MissingSource::reason, HasSubstr(reason)));
  }
  void write_node(int node, const std::string& file, std::string_view text) {
    host_.write("sys/devices/system/node/node" + std::to_string(node) + "/" + file, text);
  }
  void remove_of_node(int node, const std::string& file) {
    host_.remove("sys/devices/system/node/node" + std::to_string(node) + "/" + file);
  }

  tests::FakeHost host_;
};

TEST_F(MachineKindsTest, AnOldKernelWithoutListsIsReadWhole) {
  host_.set_nodes(regular_nodes(12, 4, 1, kGiB));  // node10 is listed before node2
  const TopologyReading today = read();
  host_.remove("sys/devices/system/node/online");
  host_.remove("sys/devices/system/cpu/online");
  host_.write("sys/devices/system/node/possible", "0-63\n");
  for (int node = 0; node < 12; ++node) {
    remove_of_node(node, "cpulist");
    write_node(node, "meminfo",
               "\nNode " + std::to_string(node) + " MemTotal: 1048576 kB\nNode " +
                   std::to_string(node) + " MemFree: 524288 kB\n");
  }
  EXPECT_EQ(read(), today);
  EXPECT_THAT(today.left_out, IsEmpty());
}

TEST_F(MachineKindsTest, OfflineCpusThatANodeListsAreLeftOut) {
  host_.set_nodes(regular_nodes(2, 4, 1, kGiB));
  host_.write("sys/devices/system/cpu/online", "0-4,7\n");
  const TopologyReading reading = read();
  EXPECT_EQ(cpus_of(reading.topology.nodes[0]), "0-3");
  EXPECT_EQ(cpus_of(reading.topology.nodes[1]), "4,7");
  EXPECT_EQ(reading.topology.nodes[1].package, 1);
  EXPECT_THAT(reading.left_out, ElementsAre(is_left_out("/node1/cpulist", "CPUs 5-6 are left")));
}

TEST_F(MachineKindsTest, ACpuThatHwlocDoesNotKnowIsLeftOut) {
  host_.set_nodes(regular_nodes(1, 2, 1, kGiB));
  write_node(0, "cpulist", "0-2\n");
  const TopologyReading reading = read();
  EXPECT_EQ(cpus_of(reading.topology.nodes[0]), "0-1");
  EXPECT_THAT(reading.left_out, ElementsAre(is_left_out("/node0/cpulist", "CPU 2 is left out")));
}

TEST_F(MachineKindsTest, ANodeOfWhichTheMemoryIsUnknownIsLeftOutWithItsColumn) {
  for (const char* meminfo : {"", "\n", "Node 1 MemTotal: 12", "Node 1 MemFree: 12 kB\n"}) {
    const auto nodes = regular_nodes(3, 2, 1, kGiB);
    host_.set_nodes(nodes);
    host_.set_distances(nodes, {{10, 12, 32}, {12, 10, 31}, {32, 31, 10}});
    write_node(1, "meminfo", meminfo);
    const TopologyReading reading = read();
    ASSERT_EQ(reading.topology.nodes.size(), 2U);
    EXPECT_EQ(reading.topology.nodes[1].id, NodeId{2});
    EXPECT_THAT(reading.topology.distances, ElementsAre(10, 32, 32, 10));
    EXPECT_THAT(reading.left_out, ElementsAre(is_left_out("/node1", "the node is left out")));
  }
}

TEST_F(MachineKindsTest, ANodeThatIsListedAndNotThereIsLeftOut) {
  host_.set_nodes(regular_nodes(2, 2, 1, kGiB));
  host_.remove("sys/devices/system/node/node0");
  const TopologyReading reading = read();
  ASSERT_EQ(reading.topology.nodes.size(), 1U);
  EXPECT_EQ(reading.topology.nodes[0].id, NodeId{1});
  EXPECT_THAT(reading.topology.distances, ElementsAre(10));
  EXPECT_THAT(reading.left_out, ElementsAre(is_left_out("/node0", "the node is left out")));
}

TEST_F(MachineKindsTest, AHostOfWhichNoNodeCanBeReadIsAnErrorWithTheReason) {
  host_.set_nodes(regular_nodes(2, 2, 1, kGiB));
  write_node(0, "cpulist", "0-x\n");
  write_node(1, "meminfo", "");
  const auto reading = read_result();
  ASSERT_FALSE(reading.has_value());
  EXPECT_EQ(reading.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(reading.error().message, HasSubstr("node0/cpulist"));
}

TEST_F(MachineKindsTest, CpusOfSeveralFakeNodesBelongToNone) {
  host_.set_nodes(regular_nodes(3, 2, 1, kGiB));
  write_node(0, "cpulist", "0-3\n");
  write_node(1, "cpulist", "0-3\n");
  const TopologyReading reading = read();
  EXPECT_EQ(homes_of(reading.topology), "2");
  EXPECT_EQ(cpus_of(reading.topology.nodes[2]), "4-5");
  EXPECT_THAT(reading.left_out,
              ElementsAre(is_left_out("", "CPUs 0-3 are left out: in the lists of several nodes")));
}

TEST_F(MachineKindsTest, DistancesThatDoNotFitAreLinuxsDefault) {
  const auto nodes = regular_nodes(3, 1, 1, kGiB);
  host_.set_nodes(nodes);
  host_.set_distances(nodes, {{10, 21, 31}, {21, 10}, {31, 21, 10}});
  remove_of_node(2, "distance");
  const TopologyReading reading = read();
  EXPECT_THAT(reading.topology.distances, ElementsAre(10, 21, 31, 20, 10, 20, 20, 20, 10));
  EXPECT_THAT(reading.left_out,
              ElementsAre(is_left_out("/node1/distance", "2 numbers for 3 online nodes"),
                          is_left_out("/node2/distance", "taken to be 20")));
}

TEST_F(MachineKindsTest, OneNodeNeedsNoDistances) {
  host_.set_nodes(regular_nodes(1, 2, 1, kGiB));
  write_node(0, "distance", "0\n");  // of firmware without a SLIT
  const TopologyReading reading = read();
  EXPECT_THAT(reading.topology.distances, ElementsAre(10));
  EXPECT_THAT(reading.left_out, IsEmpty());
}

TEST_F(MachineKindsTest, HugePagesThatCannotBeReadCostTheNodeNothingElse) {
  auto nodes = regular_nodes(2, 1, 1, kGiB * 8);
  nodes[0].huge_pages = {{kMiB * 2, 512}};
  nodes[1].huge_pages = {{kMiB * 2, 512}};
  host_.set_nodes(nodes);
  write_node(1, "hugepages/hugepages-2048kB/nr_hugepages", "many\n");
  const TopologyReading reading = read();
  EXPECT_EQ(homes_of(reading.topology), "0-1");
  EXPECT_EQ(reading.topology.nodes[0].huge_pages.size(), 1U);
  EXPECT_THAT(reading.topology.nodes[1].huge_pages, IsEmpty());
  EXPECT_THAT(reading.left_out, ElementsAre(is_left_out("/node1/hugepages", "left out")));
}

TEST_F(MachineKindsTest, MemoryOfCxlAndGpusIsNoHomeAndDisturbsNone) {
  auto nodes = regular_nodes(2, 4, 1, kGiB * 64);
  nodes.push_back({.id = 2, .cpus = {}, .memory = kGiB * 256, .huge_pages = {}});  // CXL
  for (const std::int32_t gpu : {250, 251}) {
    nodes.push_back({.id = gpu, .cpus = {}, .memory = kGiB * 96, .huge_pages = {}});
  }
  host_.set_nodes(nodes);
  // Tiers, access classes and memory-side caches, as Linux 6.1 tells of them.
  host_.write("sys/devices/virtual/memory_tiering/memory_tier4/nodelist", "0-1\n");
  host_.write("sys/devices/virtual/memory_tiering/memory_tier22/nodelist", "2,250-251\n");
  write_node(0, "access0/initiators/read_latency", "80\n");
  write_node(0, "memory_side_cache/index1/size", "17179869184\n");
  const TopologyReading reading = read();
  EXPECT_EQ(homes_of(reading.topology), "0-1");
  ASSERT_EQ(reading.topology.nodes.size(), 5U);
  EXPECT_EQ(reading.topology.nodes[4].id, NodeId{251});
  EXPECT_EQ(reading.topology.nodes[4].memory, kGiB * 96);
  EXPECT_EQ(reading.topology.nodes[4].package, -1);
  EXPECT_THAT(reading.left_out, IsEmpty());
}

TEST_F(MachineKindsTest, AGenericInitiatorIsANodeWithNothing) {
  auto nodes = regular_nodes(2, 2, 1, kGiB);
  nodes.push_back({.id = 2, .cpus = {}, .memory = {}, .huge_pages = {}});
  host_.set_nodes(nodes);
  const TopologyReading reading = read();
  EXPECT_EQ(homes_of(reading.topology), "0-1");
  EXPECT_EQ(reading.topology.nodes[2].memory, Bytes{});
  EXPECT_THAT(reading.left_out, IsEmpty());
}

TEST_F(MachineKindsTest, SubNumaClustersShareAPackageAndACache) {
  auto nodes = regular_nodes(4, 2, 2, kGiB);
  for (FakeNode& node : nodes) {
    for (tests::FakeCpu& cpu : node.cpus) {
      cpu.package = node.id / 2;
      cpu.last_level_cache = node.id / 2;
    }
  }
  host_.set_nodes(nodes);
  const TopologyReading reading = read();
  EXPECT_EQ(homes_of(reading.topology), "0-3");
  EXPECT_EQ(reading.topology.nodes[1].package, 0);
  EXPECT_EQ(reading.topology.nodes[2].package, 1);
  // Caches are named by their lowest CPU: package 1 has the cores 4-7.
  EXPECT_EQ(reading.topology.nodes[3].cpus.front().last_level_cache, 4);
  EXPECT_THAT(reading.left_out, IsEmpty());
}

TEST_F(MachineKindsTest, CoresOfDifferentCapacityAreAllCpus) {
  auto nodes = regular_nodes(1, 2, 2, kGiB);  // CPUs 0 and 2 are a core, 1 and 3 another
  nodes[0].cpus.push_back({.id = 4, .core = 10, .package = 0, .last_level_cache = 0});
  host_.set_nodes(nodes);
  for (int cpu = 0; cpu < 5; ++cpu) {
    host_.write("sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cpu_capacity",
                cpu < 4 ? "1024\n" : "446\n");
  }
  const TopologyReading reading = read();
  EXPECT_EQ(cpus_of(reading.topology.nodes[0]), "0-4");
  EXPECT_EQ(reading.topology.nodes[0].core_count(), 3);
  EXPECT_THAT(reading.left_out, IsEmpty());
}

TEST_F(MachineKindsTest, EightThreadsAreOneCore) {
  host_.set_nodes(regular_nodes(2, 2, 8, kGiB));
  const TopologyReading reading = read();
  EXPECT_EQ(reading.topology.nodes[1].cpu_count(), 16);
  EXPECT_EQ(reading.topology.nodes[1].core_count(), 2);
  EXPECT_THAT(reading.left_out, IsEmpty());
}

TEST_F(MachineKindsTest, SixtyFourSparseNodesAreRead) {
  auto nodes = regular_nodes(64, 1, 2, kGiB);
  for (FakeNode& node : nodes) {
    node.id *= 3;
  }
  host_.set_nodes(nodes);
  // Without advice for VMs of all sizes, which takes seconds here.
  const auto read = read_result();
  ASSERT_TRUE(read.has_value()) << read.error().message;
  const TopologyReading& reading = *read;
  ASSERT_EQ(reading.topology.nodes.size(), 64U);
  EXPECT_EQ(reading.topology.nodes[63].id, NodeId{189});
  EXPECT_EQ(reading.topology.nodes[63].cpu_count(), 2);
  EXPECT_EQ(reading.topology.nodes[63].core_count(), 1);
  EXPECT_THAT(reading.left_out, IsEmpty());
}

}  // namespace
}  // namespace vmnuma::stats
