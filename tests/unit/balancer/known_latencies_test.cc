// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/known_latencies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vmnuma::balancer {
namespace {

using stats::LatencyState;
using stats::MeasuredLatency;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr MeasuredLatency kNear{{0}, {0}, LatencyState::kMeasured, 80};
constexpr MeasuredLatency kFar{{0}, {1}, LatencyState::kMeasured, 120};
constexpr MeasuredLatency kFromNode1{{1}, {1}, LatencyState::kMeasured, 85};

Topology two_nodes(bool node_1_has_cpus, Bytes node_1_memory) {
  Topology topology;
  topology.nodes = {{.id = {0}}, {.id = {1}}};
  topology.nodes[0].cpus = {{{0}, 0, 0}};
  topology.nodes[0].memory = kGiB;
  topology.nodes[1].memory = node_1_memory;
  if (node_1_has_cpus) {
    topology.nodes[1].cpus = {{{1}, 1, 1}};
  }
  return topology;
}

TEST(KnownLatenciesTest, OutliveCpusThatGoOffline) {
  KnownLatencies known;
  known.add({kNear, kFar, kFromNode1});
  known.keep_nodes_of(two_nodes(/*node_1_has_cpus=*/false, kGiB));
  known.add({kNear, kFar});  // what is found while no CPU reads from there
  EXPECT_THAT(known.all(), testing::UnorderedElementsAre(kNear, kFar, kFromNode1));
}

TEST(KnownLatenciesTest, GoWithTheMemoryThatTheyAreOf) {
  KnownLatencies known;
  known.add({kNear, kFar, kFromNode1});
  known.keep_nodes_of(two_nodes(/*node_1_has_cpus=*/true, Bytes{}));
  EXPECT_THAT(known.all(), ElementsAre(kNear));
}

TEST(KnownLatenciesTest, WhatCouldNotBeMeasuredIsNotKnown) {
  KnownLatencies known;
  known.add({{{0}, {0}, LatencyState::kNotMeasured, 0}});
  EXPECT_THAT(known.all(), IsEmpty());
}

TEST(KnownLatenciesTest, WhatWasFoundLastGoesBeforeWhatWasKnown) {
  KnownLatencies known;
  known.add({kNear});
  const MeasuredLatency again{{0}, {0}, LatencyState::kMeasured, 90};
  known.add({again});
  EXPECT_THAT(known.all(), ElementsAre(again));
}

}  // namespace
}  // namespace vmnuma::balancer
