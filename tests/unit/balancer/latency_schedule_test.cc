// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/latency_schedule.h"

#include <chrono>

#include <gtest/gtest.h>

namespace vmnuma::balancer {
namespace {

using std::chrono::seconds;

class LatencyScheduleTest : public testing::Test {
 protected:
  LatencyScheduleTest() {
    for (const std::int32_t id : {0, 1}) {
      Node node{.id = {id}};
      node.cpus = {{{id}, id, id}};
      node.memory = kGiB;
      topology_.nodes.push_back(node);
    }
  }
  [[nodiscard]] bool is_due(seconds after) const {
    return schedule_.is_due(topology_, start_ + after);
  }
  void measured(bool complete, seconds after = {}) {
    schedule_.begun(topology_);
    schedule_.ended(complete, start_ + after);
  }

  Topology topology_;
  LatencySchedule schedule_;
  Backoff::Time start_ = Backoff::Time{} + std::chrono::hours(1);
};

TEST_F(LatencyScheduleTest, AllThatIsMeasuredIsNotMeasuredAgain) {
  EXPECT_TRUE(is_due({}));
  schedule_.begun(topology_);
  EXPECT_FALSE(is_due({}));  // it is under way
  schedule_.ended(/*complete=*/true, start_);
  EXPECT_FALSE(is_due(std::chrono::hours(1000)));
}

TEST_F(LatencyScheduleTest, NodesThatComeGoOrGetMemoryAreMeasuredAtOnce) {
  measured(/*complete=*/true);
  Node plugged{.id = {7}};
  topology_.nodes.push_back(plugged);
  EXPECT_TRUE(is_due({}));
  measured(/*complete=*/true);
  topology_.nodes.back().memory = kGiB;
  EXPECT_TRUE(is_due({}));
  measured(/*complete=*/true);
  topology_.nodes.erase(topology_.nodes.begin());
  EXPECT_TRUE(is_due({}));
}

TEST_F(LatencyScheduleTest, ABusyHostIsTriedEverLessOften) {
  const seconds first = LatencySchedule::kFirstPause;
  measured(/*complete=*/false);
  EXPECT_FALSE(is_due(first - seconds(1)));
  EXPECT_TRUE(is_due(first));
  measured(/*complete=*/false, first);
  EXPECT_FALSE(is_due(first * 3 - seconds(1)));
  EXPECT_TRUE(is_due(first * 3));
  measured(/*complete=*/true, first * 3);
  EXPECT_FALSE(is_due(std::chrono::hours(1000)));
}

}  // namespace
}  // namespace vmnuma::balancer
