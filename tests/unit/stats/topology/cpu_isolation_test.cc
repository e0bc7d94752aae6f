// SPDX-License-Identifier: Apache-2.0
#include "stats/topology/cpu_isolation.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "placement/model/text.h"
#include "stats/topology/topology_reader.h"
#include "stats/topology/topology_watch.h"
#include "tests/support/fake_host.h"

namespace vmnuma::stats {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string kCgroup = "sys/fs/cgroup/";

/// Two nodes of four CPUs: 0-3 and 4-7.
class CpuIsolationTest : public testing::Test {
 protected:
  CpuIsolationTest() { host_.set_nodes(tests::regular_nodes(2, 4, 1, kGiB)); }

  void write(const std::string& path, const std::string& text) { host_.write(path, text + "\n"); }
  [[nodiscard]] files::Directory root() const {
    return files::Directory::open(host_.path()).value();
  }
  /// What VMs get of the two nodes, and what is kept from them: "0-3 4-7 | ".
  [[nodiscard]] std::string shares() const {
    const auto reading = read_topology(root());
    if (!reading) {
      return reading.error().message;
    }
    EXPECT_THAT(reading->left_out, IsEmpty());
    std::string used;
    std::string kept;
    for (const Node& node : reading->topology.nodes) {
      std::vector<CpuId> cpus;
      for (const Cpu& cpu : node.cpus) {
        cpus.push_back(cpu.id);
      }
      used += to_list(cpus) + " ";
      kept += " " + to_list(node.isolated_cpus);
    }
    return used + "|" + kept;
  }

  tests::FakeHost host_;
};

TEST_F(CpuIsolationTest, NothingIsKeptFromVmsWhereNoFileIsThere) {
  EXPECT_EQ(shares(), "0-3 4-7 |  ");
}

TEST_F(CpuIsolationTest, CpusIsolatedAtBootAreKeptAndNamed) {
  write("sys/devices/system/cpu/isolated", "2-3,7");
  EXPECT_EQ(shares(), "0-1 4-6 | 2-3 7");
}

TEST_F(CpuIsolationTest, CpusOfAnIsolatedPartitionBelowTheSliceOfVmsAreKept) {
  // What a remote partition takes is missing in the effective CPUs of all that is above it, and a
  // daemon that reads both lists at different moments must not see it as free in between.
  write(kCgroup + "machine.slice/cpuset.cpus.effective", "0-7");
  write(kCgroup + "cpuset.cpus.isolated", "4-5");
  EXPECT_EQ(shares(), "0-3 6-7 |  4-5");
}

TEST_F(CpuIsolationTest, CpusOfAnotherPartitionAreKeptAsTheEffectiveOnesLackThem) {
  write(kCgroup + "cpuset.cpus.effective", "0-5");
  write(kCgroup + "machine.slice/cpuset.cpus.effective", "0-5");
  write(kCgroup + "database.slice/cpuset.cpus.partition", "root");
  EXPECT_EQ(shares(), "0-3 4-5 |  6-7");
}

TEST_F(CpuIsolationTest, APartitionOfTheVmsOwnIsWhatTheyGet) {
  write(kCgroup + "cpuset.cpus.effective", "0-1");
  write(kCgroup + "machine.slice/cpuset.cpus.effective", "2-7");
  write(kCgroup + "machine.slice/cpuset.cpus.partition", "root");
  EXPECT_EQ(shares(), "2-3 4-7 | 0-1 ");
}

TEST_F(CpuIsolationTest, AnIsolatedPartitionOfTheVmsOwnGivesThemNothingAlsoOnAnOldKernel) {
  write(kCgroup + "machine.slice/cpuset.cpus.effective", "2-7");
  write(kCgroup + "machine.slice/cpuset.cpus.partition", "isolated");
  EXPECT_EQ(shares(), "  | 0-3 4-7");
}

TEST_F(CpuIsolationTest, AnInvalidPartitionIsNone) {
  write(kCgroup + "machine.slice/cpuset.cpus.effective", "0-7");
  write(kCgroup + "machine.slice/cpuset.cpus.partition", "isolated invalid (Parent is not root)");
  EXPECT_EQ(shares(), "0-3 4-7 |  ");
  EXPECT_EQ(partition_of(root(), "machine.slice"), "isolated invalid (Parent is not root)");
}

TEST_F(CpuIsolationTest, SeveralSlicesOfVmsGiveWhatOneOfThemHas) {
  write(kCgroup + "cpuset.cpus.effective", "0-7");
  write(kCgroup + "machine.slice/cpuset.cpus.effective", "0-1");
  write(kCgroup + "qemu.slice/cpuset.cpus.effective", "1,4-5");
  EXPECT_EQ(shares(), "0-1 4-5 | 2-3 6-7");
}

TEST_F(CpuIsolationTest, NohzFullAloneKeepsNothing) {
  write("sys/devices/system/cpu/nohz_full", "1-7");
  EXPECT_EQ(shares(), "0-3 4-7 |  ");
}

TEST_F(CpuIsolationTest, WhatCannotBeUnderstoodIsAnError) {
  write(kCgroup + "cpuset.cpus.isolated", "all");
  EXPECT_EQ(read_cpu_isolation(root()).error().code, ErrorCode::kCorrupt);
}

TEST_F(CpuIsolationTest, EveryChangeIsNoticedWhileTheHostRuns) {
  TopologyWatch watch(root(), read_topology(root()).value());
  EXPECT_EQ(watch.look(), std::nullopt);
  write(kCgroup + "cpuset.cpus.isolated", "6-7");
  auto changed = watch.look();
  ASSERT_TRUE(changed.has_value());
  EXPECT_THAT(changed->topology.nodes[1].isolated_cpus, ElementsAre(CpuId{6}, CpuId{7}));
  write(kCgroup + "machine.slice/cpuset.cpus.effective", "0-5");
  EXPECT_EQ(watch.look(), std::nullopt);  // the same CPUs
  write(kCgroup + "machine.slice/cpuset.cpus.partition", "isolated");
  changed = watch.look();
  ASSERT_TRUE(changed.has_value());
  EXPECT_THAT(changed->topology.nodes[0].cpus, IsEmpty());
}

}  // namespace
}  // namespace vmnuma::stats
