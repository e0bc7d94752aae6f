// SPDX-License-Identifier: Apache-2.0
// How long one epoch's decision takes: the ledger's accounting and the planner, on hosts of any
// size.
// busy_host.h says what the hosts are like.
#include <benchmark/benchmark.h>

#include "balancer/core/planner.h"
#include "tests/bench/busy_host.h"

namespace vmnuma {
namespace {

using tests::BusyHost;
using tests::HostLoad;

void decide(benchmark::State& state, HostLoad load) {
  BusyHost host(static_cast<std::int32_t>(state.range(0)),
                static_cast<std::int32_t>(state.range(1)), load);
  const Options options;
  Snapshot snapshot = host.snapshot();
  // An epoch in which moves, swaps and turns are all due: the most work there is.
  snapshot.epoch = 30;
  std::size_t actions = 0;
  for (auto _ : state) {
    const Plan plan = balancer::make_plan(snapshot, options, {});
    actions = plan.actions.size();
    benchmark::DoNotOptimize(actions);
  }
  state.counters["actions"] = static_cast<double>(actions);
}

void suppose(benchmark::State& state) {
  BusyHost host(static_cast<std::int32_t>(state.range(0)),
                static_cast<std::int32_t>(state.range(1)), HostLoad::kCalm);
  const balancer::Supposition supposition =
      tests::most_new_vms(static_cast<std::int32_t>(state.range(2)));
  for (auto _ : state) {
    benchmark::DoNotOptimize(balancer::what_if(host.snapshot(), {}, supposition, {}));
  }
}

void account(benchmark::State& state) {
  BusyHost host(static_cast<std::int32_t>(state.range(0)),
                static_cast<std::int32_t>(state.range(1)), HostLoad::kImbalanced);
  for (auto _ : state) {
    state.PauseTiming();
    const Sample sample = host.next_sample();
    state.ResumeTiming();
    benchmark::DoNotOptimize(host.ledger().advance(sample));
  }
}

void sizes(benchmark::internal::Benchmark* bench) {
  for (const std::int64_t nodes : {4, 8, 16}) {
    for (const std::int64_t clients : {100, 1000}) {
      bench->Args({nodes, clients});
    }
  }
  bench->Args({16, 4000});
  bench->Args({64, 5000})->ArgNames({"nodes", "clients"})->Unit(benchmark::kMicrosecond);
}

BENCHMARK_CAPTURE(decide, calm, HostLoad::kCalm)->Apply(sizes);
BENCHMARK_CAPTURE(decide, imbalanced, HostLoad::kImbalanced)->Apply(sizes);
BENCHMARK_CAPTURE(decide, overloaded, HostLoad::kOverloaded)->Apply(sizes);
BENCHMARK(account)->Apply(sizes);
BENCHMARK(suppose)
    ->Args({4, 100, 8})
    ->Args({16, 1000, 8})
    ->Args({16, 1000, 128})
    ->Args({64, 5000, 8})
    ->ArgNames({"nodes", "clients", "of_clients"})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace vmnuma

BENCHMARK_MAIN();
