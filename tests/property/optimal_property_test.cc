// SPDX-License-Identifier: Apache-2.0
/// The best homes by integer program: against all arrangements there are on small hosts, and on
/// hosts of every kind against a computation that shares no code with it.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include <gtest/gtest.h>

#include "balancer/core/reckoning.h"
#include "balancer/optimal/assignment.h"
#include "balancer/optimal/sequence.h"
#include "tests/property/any_host.h"
#include "tests/property/random_host.h"
#include "tests/support/build_snapshot.h"
#include "tests/support/property.h"

namespace vmnuma::balancer {
namespace {

using tests::any_host;
using tests::AnyHost;
using tests::no_time;

TEST(OptimalPropertyTest, OnSmallHostsNoArrangementLosesLessAndTheBoundSaysSo) {
  constexpr int kCases = 300;
  Options free;
  free.move_cost_fixed = 0;
  free.move_cost_per_mib = 0;
  free.locality_weight_mem = 0;
  int equal = 0;
  for (int number = 0; number < kCases; ++number) {
    const Snapshot snapshot = tests::small_host(static_cast<std::uint64_t>(number), free);
    const Arrangement now(snapshot, free, Arrangement::Basis::kDemand);
    const Optimum optimum = find_optimum(now, {}, {.seconds = 60, .gap = Permille{0}}, no_time);
    const CpuTime least = tests::least_lost(snapshot, free);
    // Within rounding of a few us a client.
    const CpuTime rounding{100};
    ASSERT_TRUE(optimum.bound) << "host " << number << ": " << optimum.trouble;
    EXPECT_LE(optimum.bound->value, (least + rounding).value) << "host " << number;
    EXPECT_GE(optimum.bound->value, (least - rounding).value) << "host " << number;
    EXPECT_LE(optimum.best.lost.value, (least + rounding).value) << "host " << number;
    equal += optimum.best.lost <= least + rounding ? 1 : 0;
  }
  std::printf("equal to the best of all arrangements: %d of %d\n", equal, kCases);
}

RC_GTEST_PROP(OptimalPropertyTest, KeepsEveryConstraintAndCostsNoLessThanItsBound, ()) {
  const AnyHost host = *any_host(6, 12);
  const Snapshot snapshot = host.snapshot();
  const Options options = host.options();
  const Arrangement now(snapshot, options, Arrangement::Basis::kDemand);
  const Optimum optimum = find_optimum(now, {}, {.seconds = 10, .gap = Permille{5}}, no_time);
  const CpuTime rounding = Reckoning(snapshot, options).rounding();

  RC_ASSERT(optimum.best.cost <= assess(now, now.homes()).cost);
  RC_ASSERT(!optimum.bound || *optimum.bound <= optimum.best.cost + rounding);
  for (ClientIndex client = 0; client < snapshot.clients.size(); ++client) {
    const ClientState& state = snapshot.clients[client];
    const VmState& vm = snapshot.vms[state.vm];
    const NodeIndex to = optimum.best.homes[client];
    if (to != state.home) {
      RC_ASSERT(std::binary_search(state.allowed.begin(), state.allowed.end(), to));
      RC_ASSERT(snapshot.nodes[to].known && snapshot.nodes[state.home].known);
      RC_ASSERT(vm.fresh && vm.measured && !vm.policy.do_not_move && !state.moving);
    }
  }
}

RC_GTEST_PROP(OptimalPropertyTest, EveryStepHasRoomAndLeadsWhereItSays, ()) {
  const AnyHost host = *any_host(6, 12);
  const Snapshot snapshot = host.snapshot();
  const Options options = host.options();
  const Arrangement now(snapshot, options, Arrangement::Basis::kDemand);
  const Optimum optimum = find_optimum(now, {}, {.seconds = 10, .gap = Permille{5}}, no_time);
  const Sequence sequence = in_order(now, optimum.best.homes);

  Reckoning then(snapshot, options);
  std::vector<int> steps_of(snapshot.clients.size(), 0);
  for (const Step& step : sequence.steps) {
    std::vector<Rehoming> changes;
    for (const Relocation& relocation : step.relocations) {
      const auto found =
          std::find_if(snapshot.clients.begin(), snapshot.clients.end(),
                       [&](const ClientState& client) { return client.id == relocation.client; });
      const auto client = static_cast<ClientIndex>(found - snapshot.clients.begin());
      RC_ASSERT(then.home(client) == relocation.from);
      changes.push_back({client, relocation.to});
      ++steps_of[client];
    }
    then.apply(changes);
    for (std::size_t i = 0; i < changes.size(); ++i) {
      if (step.relocations[i].memory > Bytes{}) {
        RC_ASSERT(then.room().ordinary(changes[i].to) >= Bytes{});
      }
    }
    const CpuTime apart =
        std::max(then.lost(), step.lost_after) - std::min(then.lost(), step.lost_after);
    RC_ASSERT(apart <= then.rounding());
  }
  for (ClientIndex client = 0; client < snapshot.clients.size(); ++client) {
    RC_ASSERT(then.home(client) == sequence.reached[client]);
    RC_ASSERT(steps_of[client] == (sequence.reached[client] == now.home(client) ? 0 : 1));
  }
}

}  // namespace
}  // namespace vmnuma::balancer
