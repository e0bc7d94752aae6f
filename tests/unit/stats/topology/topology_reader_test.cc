// SPDX-License-Identifier: Apache-2.0
#include "stats/topology/topology_reader.h"

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "placement/model/text.h"
#include "tests/support/fake_host.h"

namespace vmnuma::stats {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using tests::FakeNode;
using tests::regular_nodes;

class TopologyReaderTest : public testing::Test {
 protected:
  Result<Topology> read() const {
    return read_topology(files::Directory::open(host_.path()).value())
        .map([](TopologyReading reading) {
          EXPECT_THAT(reading.left_out, IsEmpty());
          return std::move(reading.topology);
        });
  }

  static std::vector<CpuId> cpus_of(const Node& node) {
    std::vector<CpuId> ids;
    for (const Cpu& cpu : node.cpus) {
      ids.push_back(cpu.id);
    }
    return ids;
  }

  tests::FakeHost host_;
};

TEST_F(TopologyReaderTest, ReadsTwoNodesWithHyperThreads) {
  host_.set_nodes(regular_nodes(2, 2, 2, kGiB * 4));
  const auto topology = read();
  ASSERT_TRUE(topology.has_value()) << topology.error().message;
  ASSERT_EQ(topology->nodes.size(), 2u);
  // Node 0 has the cores 0 and 1 with the threads 0, 4 and 1, 5. A core is named by its lowest CPU,
  // and so is a cache.
  EXPECT_THAT(topology->nodes[0].cpus, ElementsAre(Cpu{CpuId{0}, 0, 0}, Cpu{CpuId{1}, 1, 0},
                                                   Cpu{CpuId{4}, 0, 0}, Cpu{CpuId{5}, 1, 0}));
  EXPECT_THAT(topology->nodes[1].cpus, ElementsAre(Cpu{CpuId{2}, 2, 2}, Cpu{CpuId{3}, 3, 2},
                                                   Cpu{CpuId{6}, 2, 2}, Cpu{CpuId{7}, 3, 2}));
  EXPECT_EQ(topology->nodes[0].core_count(), 2);
  EXPECT_EQ(topology->nodes[1].memory, kGiB * 4);
  EXPECT_EQ(topology->nodes[0].package, 0);
  EXPECT_EQ(topology->nodes[1].package, 1);
  EXPECT_THAT(topology->distances, ElementsAre(10, 20, 20, 10));
}

TEST_F(TopologyReaderTest, ReadsOneNode) {
  host_.set_nodes(regular_nodes(1, 4, 1, kGiB));
  const auto topology = read();
  ASSERT_TRUE(topology.has_value()) << topology.error().message;
  ASSERT_EQ(topology->nodes.size(), 1u);
  EXPECT_EQ(topology->nodes[0].cpu_count(), 4);
  EXPECT_THAT(topology->distances, ElementsAre(10));
}

TEST_F(TopologyReaderTest, KeepsSparseNodeNumbersAndTheirColumns) {
  auto nodes = regular_nodes(3, 1, 1, kGiB);
  nodes[1].id = 4;
  nodes[2].id = 17;
  host_.set_nodes(nodes);
  host_.set_distances(nodes, {{10, 12, 32}, {12, 10, 31}, {32, 31, 10}});
  const auto topology = read();
  ASSERT_TRUE(topology.has_value()) << topology.error().message;
  EXPECT_EQ(topology->nodes[1].id, NodeId{4});
  EXPECT_EQ(topology->nodes[2].id, NodeId{17});
  EXPECT_EQ(topology->distance(0, 2), 32);
  EXPECT_EQ(topology->distance(2, 1), 31);
}

TEST_F(TopologyReaderTest, KeepsMemorylessAndCpulessNodes) {
  auto nodes = regular_nodes(3, 2, 1, kGiB);
  nodes[1].memory = Bytes{};
  nodes[2].cpus.clear();
  host_.set_nodes(nodes);
  const auto topology = read();
  ASSERT_TRUE(topology.has_value()) << topology.error().message;
  ASSERT_EQ(topology->nodes.size(), 3u);
  EXPECT_TRUE(topology->can_be_home(0));
  EXPECT_EQ(cpus_of(topology->nodes[1]), (std::vector{CpuId{2}, CpuId{3}}));
  EXPECT_FALSE(topology->can_be_home(1));
  EXPECT_THAT(topology->nodes[2].cpus, IsEmpty());
  EXPECT_EQ(topology->nodes[2].memory, kGiB);
  EXPECT_EQ(topology->nodes[2].package, -1);
  EXPECT_FALSE(topology->can_be_home(2));
  EXPECT_EQ(topology->distances.size(), 9u);
}

TEST_F(TopologyReaderTest, ReadsMoreThanAThousandCpus) {
  host_.set_nodes(regular_nodes(4, 160, 2, kGiB));  // 1280 CPUs
  const auto topology = read();
  ASSERT_TRUE(topology.has_value()) << topology.error().message;
  for (const auto& node : topology->nodes) {
    EXPECT_EQ(node.cpu_count(), 320);
    EXPECT_EQ(node.core_count(), 160);
  }
  EXPECT_EQ(topology->nodes[3].cpus.back().id, CpuId{1279});
}

TEST_F(TopologyReaderTest, TellsCachesInsideANodeApart) {
  // One node and package, two core complexes of two cores each.
  FakeNode node{.id = 0, .cpus = {}, .memory = kGiB, .huge_pages = {}};
  for (std::int32_t cpu = 0; cpu < 4; ++cpu) {
    node.cpus.push_back({.id = cpu, .core = cpu, .package = 0, .last_level_cache = cpu / 2});
  }
  host_.set_nodes({node});
  const auto topology = read();
  ASSERT_TRUE(topology.has_value()) << topology.error().message;
  EXPECT_THAT(topology->nodes[0].cpus, ElementsAre(Cpu{CpuId{0}, 0, 0}, Cpu{CpuId{1}, 1, 0},
                                                   Cpu{CpuId{2}, 2, 2}, Cpu{CpuId{3}, 3, 2}));
}

TEST_F(TopologyReaderTest, KnowsSeveralNodesInOnePackage) {
  auto nodes = regular_nodes(2, 2, 1, kGiB);
  for (auto& cpu : nodes[1].cpus) {
    cpu.package = 0;
  }
  host_.set_nodes(nodes);
  const auto topology = read();
  ASSERT_TRUE(topology.has_value()) << topology.error().message;
  EXPECT_EQ(topology->nodes[0].package, 0);
  EXPECT_EQ(topology->nodes[1].package, 0);
}

TEST_F(TopologyReaderTest, TakesThePackageForTheCacheWhereNoneIsKnown) {
  host_.set_nodes(regular_nodes(1, 2, 1, kGiB));
  host_.remove("sys/devices/system/cpu/cpu0/cache");
  host_.remove("sys/devices/system/cpu/cpu1/cache");
  const auto topology = read();
  ASSERT_TRUE(topology.has_value()) << topology.error().message;
  EXPECT_THAT(topology->nodes[0].cpus, ElementsAre(Cpu{CpuId{0}, 0, 0}, Cpu{CpuId{1}, 1, 0}));
}

TEST_F(TopologyReaderTest, AcceptsSparseCpuNumbers) {
  auto nodes = regular_nodes(1, 2, 1, kGiB);
  nodes[0].cpus[1].id = 70;
  host_.set_nodes(nodes);
  const auto topology = read();
  ASSERT_TRUE(topology.has_value()) << topology.error().message;
  EXPECT_EQ(cpus_of(topology->nodes[0]), (std::vector{CpuId{0}, CpuId{70}}));
}

TEST_F(TopologyReaderTest, LeavesOutIsolatedCpus) {
  host_.set_nodes(regular_nodes(2, 2, 1, kGiB));
  host_.write("sys/devices/system/cpu/isolated", "1,3\n");
  const auto topology = read();
  ASSERT_TRUE(topology.has_value()) << topology.error().message;
  EXPECT_EQ(cpus_of(topology->nodes[0]), (std::vector{CpuId{0}}));
  EXPECT_EQ(cpus_of(topology->nodes[1]), (std::vector{CpuId{2}}));
}

TEST_F(TopologyReaderTest, ANodeWhoseCpusAreAllTakenAwayIsNoHome) {
  host_.set_nodes(regular_nodes(2, 2, 1, kGiB));
  host_.write("sys/devices/system/cpu/isolated", "2-3\n");
  const auto topology = read();
  ASSERT_TRUE(topology.has_value()) << topology.error().message;
  EXPECT_FALSE(topology->can_be_home(1));
  EXPECT_EQ(topology->nodes[1].package, 1);
}

TEST_F(TopologyReaderTest, ObeysTheCpusetOfTheVmsSlice) {
  host_.set_nodes(regular_nodes(2, 2, 1, kGiB));
  host_.write("sys/fs/cgroup/cpuset.cpus.effective", "0-3\n");
  host_.write("sys/fs/cgroup/machine.slice/cpuset.cpus.effective", "1-2\n");
  const auto topology = read();
  ASSERT_TRUE(topology.has_value()) << topology.error().message;
  EXPECT_EQ(cpus_of(topology->nodes[0]), (std::vector{CpuId{1}}));
  EXPECT_EQ(cpus_of(topology->nodes[1]), (std::vector{CpuId{2}}));
}

TEST_F(TopologyReaderTest, ObeysTheRootsCpusetWhereTheSliceHasNone) {
  host_.set_nodes(regular_nodes(2, 2, 1, kGiB));
  host_.write("sys/fs/cgroup/cpuset.cpus.effective", "0-2\n");
  const auto topology = read();
  ASSERT_TRUE(topology.has_value()) << topology.error().message;
  EXPECT_EQ(cpus_of(topology->nodes[1]), (std::vector{CpuId{2}}));
}

TEST_F(TopologyReaderTest, ListsHugePagePoolsBySize) {
  auto nodes = regular_nodes(2, 1, 1, kGiB * 8);
  nodes[1].huge_pages = {{kMiB * 2, 512}, {kGiB, 3}, {kMiB * 32, 0}};
  host_.set_nodes(nodes);
  const auto topology = read();
  ASSERT_TRUE(topology.has_value()) << topology.error().message;
  EXPECT_THAT(topology->nodes[0].huge_pages, IsEmpty());
  EXPECT_THAT(topology->nodes[1].huge_pages,
              ElementsAre(HugePagePool{kMiB * 2, 512}, HugePagePool{kGiB, 3}));
}

TEST_F(TopologyReaderTest, NeedsAKernelWithNuma) {
  const auto topology = read();
  ASSERT_FALSE(topology.has_value());
  EXPECT_EQ(topology.error().code, ErrorCode::kUnsupported);
}

TEST_F(TopologyReaderTest, RejectsAHostWithoutNodes) {
  host_.set_nodes(regular_nodes(1, 1, 1, kGiB));
  host_.write("sys/devices/system/node/online", "\n");
  const auto topology = read();
  ASSERT_FALSE(topology.has_value());
  EXPECT_EQ(topology.error().code, ErrorCode::kCorrupt);
}

TEST_F(TopologyReaderTest, LeavesTheEnvironmentAsItWas) {
  host_.set_nodes(regular_nodes(1, 1, 1, kGiB));
  ASSERT_TRUE(read().has_value());
  EXPECT_EQ(std::getenv("HWLOC_FSROOT"), nullptr);
}

TEST_F(TopologyReaderTest, ReadsTheHostItRunsOn) {
  const files::Directory root = files::Directory::open("/").value();
  if (!root.directory("sys/devices/system/node").has_value()) {
    GTEST_SKIP() << "this kernel has no /sys/devices/system/node";
  }
  const auto reading = read_topology(root);
  ASSERT_TRUE(reading.has_value()) << reading.error().message;
  const Topology* topology = &reading->topology;
  EXPECT_GE(topology->nodes.size(), 1u);
  EXPECT_EQ(topology->distances.size(), topology->nodes.size() * topology->nodes.size());
  EXPECT_GT(topology->nodes.front().memory + topology->nodes.back().memory, Bytes{});
}

}  // namespace
}  // namespace vmnuma::stats
