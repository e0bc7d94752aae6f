// SPDX-License-Identifier: Apache-2.0
#include "stats/topology/topology_watch.h"

#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stats/topology/topology_reader.h"
#include "tests/support/fake_host.h"

namespace vmnuma::stats {
namespace {

using tests::FakeNode;
using tests::regular_nodes;

class TopologyWatchTest : public testing::Test {
 protected:
  TopologyWatchTest() { host_.set_nodes(nodes_); }
  [[nodiscard]] files::Directory root() const {
    return files::Directory::open(host_.path()).value();
  }

  tests::FakeHost host_;
  std::vector<FakeNode> nodes_ = regular_nodes(2, 2, 1, kGiB * 4);
};

TEST_F(TopologyWatchTest, SaysNothingWhereNothingChanges) {
  TopologyWatch watch(root(), read_topology(root()).value());
  EXPECT_EQ(watch.look(), std::nullopt);
  EXPECT_EQ(watch.look(), std::nullopt);
}

TEST_F(TopologyWatchTest, TellsOnceOfACpuThatGoesOfflineAndComesBack) {
  const TopologyReading whole = read_topology(root()).value();
  TopologyWatch watch(root(), whole);
  EXPECT_EQ(watch.look(), std::nullopt);
  std::vector<FakeNode> fewer = nodes_;
  fewer[1].cpus.pop_back();
  host_.set_nodes(fewer);
  const auto changed = watch.look();
  ASSERT_TRUE(changed.has_value());
  EXPECT_EQ(changed->topology.nodes[1].cpu_count(), 1);
  EXPECT_EQ(watch.look(), std::nullopt);
  host_.set_nodes(nodes_);
  EXPECT_EQ(watch.look(), whole);
}

TEST_F(TopologyWatchTest, TellsOfASliceThatIsConfinedToOtherCpus) {
  TopologyWatch watch(root(), read_topology(root()).value());
  EXPECT_EQ(watch.look(), std::nullopt);
  host_.write("sys/fs/cgroup/machine.slice/cpuset.cpus.effective", "0-1\n");
  const auto changed = watch.look();
  ASSERT_TRUE(changed.has_value());
  EXPECT_EQ(changed->topology.only_home(), NodeIndex{0});
}

TEST_F(TopologyWatchTest, NoticesAlsoWhatChangedBeforeItsFirstLook) {
  const TopologyReading before = read_topology(root()).value();
  host_.write("sys/fs/cgroup/machine.slice/cpuset.cpus.effective", "0-1\n");
  EXPECT_TRUE(TopologyWatch(root(), before).look().has_value());
}

TEST_F(TopologyWatchTest, BelievesThatSomethingIsLeftOutOnceItWasReadTwice) {
  const TopologyReading whole = read_topology(root()).value();
  TopologyWatch watch(root(), whole);
  EXPECT_EQ(watch.look(), std::nullopt);
  host_.write("sys/devices/system/cpu/online", "0-2\n");  // node 1 still lists CPU 3
  EXPECT_EQ(watch.look(), std::nullopt);
  const auto changed = watch.look();
  ASSERT_TRUE(changed.has_value());
  EXPECT_EQ(changed->left_out.size(), 1U);
  EXPECT_EQ(watch.look(), std::nullopt);
  host_.write("sys/devices/system/cpu/online", "0-3\n");
  EXPECT_EQ(watch.look(), whole);
}

TEST_F(TopologyWatchTest, TriesAgainWhatIsLeftOutAlthoughNoListChanges) {
  const TopologyReading whole = read_topology(root()).value();
  const std::string meminfo = "sys/devices/system/node/node1/meminfo";
  host_.write(meminfo, "");
  TopologyWatch watch(root(), read_topology(root()).value());
  EXPECT_EQ(watch.look(), std::nullopt);
  host_.set_node_memory(1, kGiB * 4, kGiB);
  int looks = 1;
  std::optional<TopologyReading> mended;
  while (looks < 100 && !(mended = watch.look())) {
    ++looks;
  }
  EXPECT_EQ(mended, whole);
  EXPECT_EQ(looks, 30);
}

}  // namespace
}  // namespace vmnuma::stats
