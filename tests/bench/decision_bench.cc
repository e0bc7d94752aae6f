// SPDX-License-Identifier: Apache-2.0
// How long one epoch's decision takes: the ledger's accounting and the planner, on hosts of any
// size.
//
// A host has `nodes` nodes of 32 cores with two threads each, and `clients` VMs of 2 to 8 vCPUs,
// placed one node after the other. "calm": nobody is owed anything. "imbalanced": the first quarter
// of the nodes wants more than it has. "overloaded": every node wants half as much again as it has.
#include <benchmark/benchmark.h>

#include "balancer/core/ledger.h"
#include "balancer/core/planner.h"
#include "placement/model/plan.h"

namespace vmnuma {
namespace {

using balancer::Ledger;
using placement::CpuId;
using placement::NodeId;

enum class Load { kCalm, kImbalanced, kOverloaded };

constexpr std::int32_t kCores = 32;
constexpr std::int64_t kEpochUs = 2'000'000;

placement::Topology topology_of(std::int32_t nodes) {
  placement::Topology topology;
  for (std::int32_t n = 0; n < nodes; ++n) {
    placement::Node node;
    node.id = NodeId{n};
    node.memory = placement::kGiB * 1024;
    for (std::int32_t cpu = 0; cpu < 2 * kCores; ++cpu) {
      node.cpus.push_back({CpuId{n * 2 * kCores + cpu}, n * 2 * kCores + cpu / 2, n});
    }
    topology.nodes.push_back(std::move(node));
    for (std::int32_t m = 0; m < nodes; ++m) {
      topology.distances.push_back(n == m ? 10 : 21);
    }
  }
  return topology;
}

/// The same numbers in every run.
class Numbers {
 public:
  std::int64_t below(std::int64_t end) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::int64_t>((state_ >> 33U) % static_cast<std::uint64_t>(end));
  }

 private:
  std::uint64_t state_ = 42;
};

class Host {
 public:
  Host(std::int32_t nodes, std::int32_t clients, Load load)
      : nodes_(nodes), ledger_(topology_of(nodes), placement::Options{}) {
    Numbers numbers;
    std::vector<std::int64_t> vcpus_on(static_cast<std::size_t>(nodes));
    for (std::int32_t i = 0; i < clients; ++i) {
      placement::VmDescription vm;
      vm.id.uuid[14] = static_cast<std::uint8_t>(i / 256);
      vm.id.uuid[15] = static_cast<std::uint8_t>(i % 256);
      vm.name = "vm" + std::to_string(i);
      const std::int64_t vcpus = 2 + numbers.below(7);
      for (std::int32_t vcpu = 0; vcpu < vcpus; ++vcpu) {
        vm.vcpus.push_back(vcpu);
        vm.vcpu_pins.push_back({vcpu, {CpuId{(i % nodes) * 2 * kCores}}});
      }
      vm.memory = placement::kGiB * 8;
      vcpus_on[static_cast<std::size_t>(i % nodes)] += vcpus;
      vms_.push_back(std::move(vm));
    }
    for (std::int32_t i = 0; i < clients; ++i) {
      // What all vCPUs of a node want together, in per cent of its cores.
      const std::int64_t wanted = load == Load::kOverloaded                              ? 150
                                  : load == Load::kImbalanced && (i % nodes) * 4 < nodes ? 160
                                                                                         : 50;
      const std::int64_t busy =
          kCores * kEpochUs * wanted / 100 / vcpus_on[static_cast<std::size_t>(i % nodes)];
      busy_us_.push_back(std::min(busy * (70 + numbers.below(61)) / 100, kEpochUs));
    }
    ledger_.set_domains(vms_);
    for (std::int32_t i = 0; i < clients; ++i) {
      ledger_.adopt_home({vms_[static_cast<std::size_t>(i)].id, 0}, NodeId{i % nodes});
    }
    for (int epoch = 0; epoch < 30; ++epoch) {
      snapshot_ = ledger_.advance(next_sample());
    }
  }

  placement::Sample next_sample() {
    ++sequence_;
    placement::Sample sample;
    sample.sequence = sequence_;
    sample.taken_at = {sequence_ * kEpochUs};
    for (std::int32_t n = 0; n < nodes_; ++n) {
      sample.nodes.push_back({NodeId{n}, placement::kGiB * 256, placement::kGiB * 1024});
      for (std::int32_t cpu = 0; cpu < 2 * kCores; ++cpu) {
        sample.cpus.push_back({CpuId{n * 2 * kCores + cpu}, sequence_ * kEpochUs / 2});
      }
    }
    for (std::size_t i = 0; i < vms_.size(); ++i) {
      placement::VmSample vm;
      vm.id = vms_[i].id;
      vm.process = {static_cast<std::int64_t>(1000 + i), 1};
      for (const std::int32_t vcpu : vms_[i].vcpus) {
        vm.vcpus.push_back({vcpu, static_cast<std::int64_t>(10000 + i * 10) + vcpu,
                            sequence_ * busy_us_[i] * 900, sequence_ * busy_us_[i] * 100});
      }
      vm.memory.emplace(static_cast<std::size_t>(nodes_));
      (*vm.memory)[i % static_cast<std::size_t>(nodes_)] = placement::kGiB * 8;
      sample.vms.push_back(std::move(vm));
    }
    return sample;
  }

  [[nodiscard]] const placement::Snapshot& snapshot() const { return snapshot_; }
  Ledger& ledger() { return ledger_; }

 private:
  std::int32_t nodes_;
  Ledger ledger_;
  std::vector<placement::VmDescription> vms_;
  std::vector<std::int64_t> busy_us_;
  std::int64_t sequence_ = 0;
  placement::Snapshot snapshot_;
};

void decide(benchmark::State& state, Load load) {
  Host host(static_cast<std::int32_t>(state.range(0)), static_cast<std::int32_t>(state.range(1)),
            load);
  const placement::Options options;
  placement::Snapshot snapshot = host.snapshot();
  // An epoch in which moves, swaps and turns are all due: the most work there is.
  snapshot.epoch = 30;
  std::size_t actions = 0;
  for (auto _ : state) {
    const placement::Plan plan = balancer::make_plan(snapshot, options, {});
    actions = plan.actions.size();
    benchmark::DoNotOptimize(actions);
  }
  state.counters["actions"] = static_cast<double>(actions);
}

void account(benchmark::State& state) {
  Host host(static_cast<std::int32_t>(state.range(0)), static_cast<std::int32_t>(state.range(1)),
            Load::kImbalanced);
  for (auto _ : state) {
    state.PauseTiming();
    const placement::Sample sample = host.next_sample();
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
  bench->Args({64, 5000})->ArgNames({"nodes", "clients"})->Unit(benchmark::kMicrosecond);
}

BENCHMARK_CAPTURE(decide, calm, Load::kCalm)->Apply(sizes);
BENCHMARK_CAPTURE(decide, imbalanced, Load::kImbalanced)->Apply(sizes);
BENCHMARK_CAPTURE(decide, overloaded, Load::kOverloaded)->Apply(sizes);
BENCHMARK(account)->Apply(sizes);

}  // namespace
}  // namespace vmnuma

BENCHMARK_MAIN();
