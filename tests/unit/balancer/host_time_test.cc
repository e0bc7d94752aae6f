// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/host_time.h"

#include <gtest/gtest.h>

namespace vmnuma::balancer {
namespace {

using std::chrono::steady_clock;
using std::chrono::system_clock;

Microseconds here() {
  return {
      std::chrono::duration_cast<std::chrono::microseconds>(steady_clock::now().time_since_epoch())
          .count()};
}

TEST(HostTimeTest, IsThatOfTheMachine) {
  const HostTime time;
  const Microseconds before = here();
  const auto wall_before = system_clock::now();
  const Microseconds now = time.now();
  const auto wall = time.wall();
  EXPECT_LE(before, now);
  EXPECT_LE(now, here());
  EXPECT_LE(wall_before, wall);
  EXPECT_LE(wall, system_clock::now());
  EXPECT_EQ(time.here(Microseconds{5}), std::chrono::microseconds(5));
}

TEST(HostTimeTest, OfASimulatedHostRunsAheadByItsSpeed) {
  const Microseconds before = here();
  const HostTime time(60);
  const Microseconds first = time.now();
  EXPECT_LE(before, first);
  EXPECT_LE(first, before + (here() - before + Microseconds{1}) * 60);
  const auto wall_before = system_clock::now();
  EXPECT_LE(wall_before, time.wall());
  EXPECT_EQ(time.here(Microseconds{120}), std::chrono::microseconds(2));
}

}  // namespace
}  // namespace vmnuma::balancer
