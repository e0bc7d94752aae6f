// SPDX-License-Identifier: Apache-2.0
#include "stats/latency/measured_distances.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "placement/memory_cost.h"

namespace vmnuma::stats {
namespace {

using testing::ElementsAre;

/// Nodes 0 and 4, and node 5 with memory only; the firmware says that all are as far.
Topology flat() {
  Topology made;
  for (const std::int32_t id : {0, 4, 5}) {
    Node node{.id = {id}};
    if (id != 5) {
      node.cpus = {{{id}, id, id}};
    }
    node.memory = kGiB;
    made.nodes.push_back(node);
  }
  made.distances = {10, 20, 20, 20, 10, 20, 20, 20, 10};
  return made;
}

HostLatencies all_measured() {
  return {{{{0}, {0}, LatencyState::kMeasured, 80},
           {{0}, {4}, LatencyState::kMeasured, 120},
           {{0}, {5}, LatencyState::kMeasured, 250},
           {{4}, {0}, LatencyState::kMeasured, 170},
           {{4}, {4}, LatencyState::kMeasured, 82},
           {{4}, {5}, LatencyState::kMeasured, 70}},
          {}};
}

TEST(MeasuredDistancesTest, WhatWasMeasuredTakesThePlaceOfAFlatSlit) {
  // 120 / 80 and 250 / 80; 170 / 82 is 21, within 10 % of 20; nothing is nearer than local memory.
  EXPECT_THAT(with_measured_distances(flat(), all_measured()).distances,
              ElementsAre(10, 15, 31, 20, 10, 10, 20, 20, 10));
  EXPECT_EQ(with_measured_distances(flat(), all_measured()).nodes, flat().nodes);
}

TEST(MeasuredDistancesTest, WhatWasNotMeasuredStaysAsTheFirmwareHasIt) {
  EXPECT_EQ(with_measured_distances(flat(), {}), flat());
  HostLatencies busy = all_measured();
  busy.measured[1].state = LatencyState::kBusy;
  busy.measured[4].state = LatencyState::kNoMemory;
  EXPECT_THAT(with_measured_distances(flat(), busy).distances,
              ElementsAre(10, 20, 31, 20, 10, 20, 20, 20, 10));
}

TEST(MeasuredDistancesTest, LocalReadsAreKnownOnceAllHomesAreMeasured) {
  EXPECT_EQ(local_read_ns(flat(), all_measured()), 81);
  EXPECT_EQ(local_read_ns(flat(), {}), std::nullopt);
  HostLatencies half = all_measured();
  half.measured[4].state = LatencyState::kBusy;
  EXPECT_EQ(local_read_ns(flat(), half), std::nullopt);
}

TEST(MeasuredDistancesTest, AVmThatReadsSlowerMemoryWaitsForMoreOfTheTime) {
  EXPECT_EQ(stall_pct(30, kTypicalReadNs), 30);
  EXPECT_EQ(stall_pct(30, 180), 46);  // 60 of 130 parts
  EXPECT_EQ(stall_pct(30, 45), 18);   // 15 of 85
  EXPECT_EQ(stall_pct(0, 500), 0);
  EXPECT_EQ(stall_pct(30, 5), stall_pct(30, kShortestReadNs));
  EXPECT_EQ(stall_pct(30, 5'000), stall_pct(30, kLongestReadNs));
}

}  // namespace
}  // namespace vmnuma::stats
