// SPDX-License-Identifier: Apache-2.0
#include "tools/numad/local_choice.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fake_host.h"

namespace vmnuma::tools {
namespace {

using testing::ElementsAre;
using testing::SizeIs;
using tests::FakeNode;
using tests::regular_nodes;

class LocalChoiceTest : public testing::Test {
 protected:
  Result<std::vector<NodeId>> choose(std::int32_t vcpus, std::int64_t memory_mib,
                                     std::uint64_t turn = 0) const {
    return choose_locally(*files::Directory::open(host_.path()), vcpus, memory_mib, turn);
  }
  std::vector<NodeId> chosen(std::int32_t vcpus, std::int64_t memory_mib,
                             std::uint64_t turn = 0) const {
    const auto nodes = choose(vcpus, memory_mib, turn);
    EXPECT_TRUE(nodes) << nodes.error().message;
    return nodes.value_or(std::vector<NodeId>{});
  }

  tests::FakeHost host_;
};

TEST_F(LocalChoiceTest, TakesTheNodeWithMostFreeMemory) {
  host_.set_nodes(regular_nodes(4, 4, 2, kGiB * 16));
  for (std::int32_t node = 0; node < 4; ++node) {
    host_.set_node_memory(node, kGiB * 16, kGiB * (node == 2 ? 12 : 8));
  }
  for (std::uint64_t turn = 0; turn < 8; ++turn) {
    EXPECT_THAT(chosen(4, 2048, turn), ElementsAre(NodeId{2}));
  }
}

TEST_F(LocalChoiceTest, GoesRoundBetweenEqualNodes) {
  host_.set_nodes(regular_nodes(4, 4, 2, kGiB * 16));
  std::multiset<NodeId> nodes;
  for (std::uint64_t turn = 0; turn < 8; ++turn) {
    nodes.insert(chosen(4, 2048, turn).front());
  }
  EXPECT_EQ(nodes, (std::multiset<NodeId>{{0}, {0}, {1}, {1}, {2}, {2}, {3}, {3}}));
}

TEST_F(LocalChoiceTest, AWideVmGetsSeveralNodes) {
  host_.set_nodes(regular_nodes(4, 4, 1, kGiB * 16));
  EXPECT_THAT(chosen(8, 2048), SizeIs(2));
  EXPECT_THAT(chosen(64, 2048), SizeIs(4));
}

TEST_F(LocalChoiceTest, WhatDoesNotFitANodeGetsMoreOfThem) {
  host_.set_nodes(regular_nodes(4, 4, 1, kGiB * 16));
  EXPECT_THAT(chosen(1, 20 * 1024), SizeIs(2));
  EXPECT_THAT(chosen(1, 200 * 1024), SizeIs(4));
}

TEST_F(LocalChoiceTest, NodesWithoutCpusOrMemoryAreNoHomes) {
  std::vector<FakeNode> nodes = regular_nodes(3, 2, 1, kGiB * 4);
  nodes[0].memory = {};
  nodes[2].cpus.clear();
  host_.set_nodes(nodes);
  for (std::uint64_t turn = 0; turn < 3; ++turn) {
    EXPECT_THAT(chosen(1, 256, turn), ElementsAre(NodeId{1}));
  }
}

TEST_F(LocalChoiceTest, NodeNumbersMayHaveHoles) {
  std::vector<FakeNode> nodes = regular_nodes(2, 2, 1, kGiB * 4);
  nodes[0].id = 3;
  nodes[1].id = 8;
  host_.set_nodes(nodes);
  host_.set_node_memory(3, kGiB * 4, kGiB);
  EXPECT_THAT(chosen(1, 256), ElementsAre(NodeId{8}));
}

TEST_F(LocalChoiceTest, AHostThatCannotBeReadIsAnError) {
  EXPECT_FALSE(choose(1, 256));
  EXPECT_FALSE(all_nodes(*files::Directory::open(host_.path())));
}

TEST_F(LocalChoiceTest, AllNodesAreThoseOnline) {
  std::vector<FakeNode> nodes = regular_nodes(2, 2, 1, kGiB * 4);
  nodes[1].id = 8;
  host_.set_nodes(nodes);
  EXPECT_THAT(*all_nodes(*files::Directory::open(host_.path())), ElementsAre(NodeId{0}, NodeId{8}));
  host_.write("sys/devices/system/node/online", "\n");
  EXPECT_FALSE(all_nodes(*files::Directory::open(host_.path())));
}

}  // namespace
}  // namespace vmnuma::tools
