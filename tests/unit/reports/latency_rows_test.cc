// SPDX-License-Identifier: Apache-2.0
#include "stats/reports/latency_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stats/reports/tables.h"
#include "tests/unit/reports/rows.h"

namespace vmnuma::stats::tests {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

/// Node 0 and node 4, and node 5 with memory only.
Topology topology() {
  Topology made;
  for (const std::int32_t id : {0, 4, 5}) {
    Node node{.id = {id}};
    if (id != 5) {
      node.cpus = {{{id}, id, id}};
    }
    node.memory = kGiB;
    made.nodes.push_back(node);
  }
  made.distances = {10, 21, 17, 21, 10, 28, 17, 28, 10};
  return made;
}

HostLatencies latencies() {
  return {{{{0}, {0}, LatencyState::kMeasured, 80},
           {{0}, {4}, LatencyState::kMeasured, 138},
           {{0}, {5}, LatencyState::kMeasured, 250},
           {{4}, {0}, LatencyState::kBusy, 0},
           {{4}, {4}, LatencyState::kMeasured, 81},
           {{4}, {5}, LatencyState::kNoMemory, 0}},
          {{{0}, {0}, 75}, {{0}, {5}, 240}}};
}

TEST(LatencyRowsTest, TableHasWhatWasMeasuredNextToSlitAndHmat) {
  EXPECT_EQ(format_report(latency_table(latency_rows(topology(), latencies()))),
            golden("numa-latency.txt"));
}

TEST(LatencyRowsTest, RelativeCountsAsSlitDoes) {
  const std::vector<LatencyRow> rows = latency_rows(topology(), latencies());
  ASSERT_THAT(rows, SizeIs(6));
  EXPECT_EQ(rows[0].relative, 10);
  EXPECT_EQ(rows[1].relative, 17);  // 138 / 80 = 1.725
  EXPECT_EQ(rows[2].relative, 31);  // 250 / 80 = 3.125
}

TEST(LatencyRowsTest, NothingIsRelativeToWhatWasNotMeasured) {
  HostLatencies half = latencies();
  half.measured[0] = {{0}, {0}, LatencyState::kBusy, 0};
  const std::vector<LatencyRow> rows = latency_rows(topology(), half);
  EXPECT_EQ(rows[1].read_ns, 138);
  EXPECT_EQ(rows[1].relative, std::nullopt);
}

TEST(LatencyRowsTest, BeforeAnythingIsKnownThereIsSlit) {
  const std::vector<LatencyRow> rows = latency_rows(topology(), {});
  ASSERT_THAT(rows, SizeIs(6));
  EXPECT_EQ(rows[1], (LatencyRow{0, 4, {}, {}, 21, {}, "not-measured"}));
  EXPECT_THAT(latency_rows({}, latencies()), IsEmpty());
}

TEST(LatencyRowsTest, StatesAreWordsWithoutBlanks) {
  for (const LatencyState state : {LatencyState::kNotMeasured, LatencyState::kMeasured,
                                   LatencyState::kBusy, LatencyState::kNoMemory}) {
    EXPECT_EQ(name_of(state).find(' '), std::string_view::npos);
    EXPECT_FALSE(name_of(state).empty());
  }
}

}  // namespace
}  // namespace vmnuma::stats::tests
