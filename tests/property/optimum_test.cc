// SPDX-License-Identifier: Apache-2.0
/// How far from the best of all arrangements the planner comes to rest, on small hosts where all of
/// them can be tried.
#include <algorithm>
#include <cstdio>

#include <gtest/gtest.h>

#include "balancer/core/planner.h"
#include "balancer/core/spill.h"
#include "placement/arrangement.h"
#include "tests/property/random_host.h"
#include "tests/support/build_snapshot.h"

namespace vmnuma::balancer {
namespace {

using tests::least_lost;
using tests::small_host;

constexpr int kCases = 300;

/// What is lost, with clients that spill then, once nothing has moved for as long as anything is
/// periodic.
CpuTime lost_at_rest(Snapshot snapshot, const Options& options) {
  int quiet = 0;
  for (int epoch = 0; epoch < 1000 && quiet < 60; ++epoch) {
    const Plan plan = make_plan(snapshot, options, {});
    quiet = plan.actions.empty() ? quiet + 1 : 0;
    snapshot = tests::next_epoch(snapshot, plan, options);
  }
  EXPECT_EQ(quiet, 60);
  return lost_with_present_spills(Arrangement(snapshot, options, Arrangement::Basis::kDemand));
}

/// Lost time above the optimum over all cases, in per cent of the demand.
struct Distance {
  int at_optimum = 0;
  int up_to_tenth = 0;
  int up_to_two = 0;
  int more = 0;
  double mean = 0;
  double worst = 0;
};

Distance measure_distance(const char* name, const Options& options) {
  Distance distance;
  for (int number = 0; number < kCases; ++number) {
    const Snapshot snapshot = small_host(static_cast<std::uint64_t>(number), options);
    CpuTime demand;
    for (const ClientState& client : snapshot.clients) {
      demand += client.demand;
    }
    // Within rounding of a few us a client.
    const CpuTime above =
        lost_at_rest(snapshot, options) - least_lost(snapshot, options) - CpuTime{100};
    const double percent = static_cast<double>(std::max(above, CpuTime{}).value) * 100 /
                           static_cast<double>(demand.value);
    ++(percent <= 0    ? distance.at_optimum
       : percent < 0.1 ? distance.up_to_tenth
       : percent < 2   ? distance.up_to_two
                       : distance.more);
    distance.mean += percent / kCases;
    distance.worst = std::max(distance.worst, percent);
  }
  std::printf("%-22s  %7d  %6d  %4d  %4d  %5.3f  %5.2f\n", name, distance.at_optimum,
              distance.up_to_tenth, distance.up_to_two, distance.more, distance.mean,
              distance.worst);
  return distance;
}

Options without_turns() {
  Options options;
  options.lterm_fairness_interval = 0;  // turns never rest
  return options;
}

TEST(OptimumTest, ThePlannerComesToRestAtOrNearTheBestOfAllArrangements) {
  std::printf("lost above the optimum, in %% of the demand, in %d cases:\n", kCases);
  std::printf("%-22s  optimum  to 0.1  to 2  more   mean  worst\n", "");

  // What the search finds where every improvement is worth making. Without spills, which would make
  // up for any imbalance where far memory costs nothing.
  Options free = without_turns();
  free.spill_enable = 0;
  free.mig_imbalance_threshold = 1;
  free.mig_threshold = 0;
  free.mig_thrash_threshold = 100;
  free.move_cost_fixed = 0;
  free.move_cost_per_mib = 0;
  free.locality_weight_mem = 0;
  const Distance found = measure_distance("moves are free", free);
  EXPECT_GE(found.at_optimum, kCases * 95 / 100);
  EXPECT_LE(found.mean, 0.1);
  EXPECT_LE(found.worst, 2.0);

  // With the defaults no client moves for an imbalance below 10 % or for less than a move costs.
  const Distance as_shipped = measure_distance("thresholds as shipped", without_turns());
  EXPECT_GE(as_shipped.at_optimum, kCases * 90 / 100);
  EXPECT_LE(as_shipped.mean, 0.1);
  EXPECT_LE(as_shipped.worst, 4.0);
}

}  // namespace
}  // namespace vmnuma::balancer
