// SPDX-License-Identifier: Apache-2.0
#include "stats/reports/node_stays.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vmnuma::stats::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

class NodeStaysTest : public ::testing::Test {
 protected:
  NodeStaysTest() {
    snapshot_.topology.nodes.resize(2);
    snapshot_.topology.nodes[0].id = {0};
    snapshot_.topology.nodes[1].id = {8};
    snapshot_.clients.resize(1);
  }
  void live(NodeIndex home, int epochs) {
    snapshot_.clients[0].home = home;
    for (int i = 0; i < epochs; ++i) {
      stays_.advance(snapshot_);
    }
  }
  Snapshot snapshot_;
  NodeStays stays_;
};

TEST_F(NodeStaysTest, CountsEpochsAndArrivals) {
  live(0, 3);
  live(1, 2);
  live(0, 1);
  EXPECT_THAT(stays_.of({}),
              ElementsAre(Pair(NodeId{0}, NodeStay{4, 2}), Pair(NodeId{8}, NodeStay{2, 1})));
}

TEST_F(NodeStaysTest, NoTimePassesWithoutAHome) {
  live(kNoNode, 5);
  EXPECT_THAT(stays_.of({}), IsEmpty());
}

TEST_F(NodeStaysTest, ForgetsAClientThatIsGone) {
  live(0, 3);
  stays_.advance({});
  EXPECT_THAT(stays_.of({}), IsEmpty());
}

TEST_F(NodeStaysTest, FollowsANodesNumberWhenTheHostChanges) {
  live(1, 1);
  snapshot_.topology.nodes.erase(snapshot_.topology.nodes.begin());  // node 8 is the first one now
  live(0, 1);
  EXPECT_THAT(stays_.of({}), ElementsAre(Pair(NodeId{8}, NodeStay{2, 1})));
}

}  // namespace
}  // namespace vmnuma::stats::tests
