// SPDX-License-Identifier: Apache-2.0
// Advice for one VM, and the warnings of one, on a host of 16 nodes with 32 cores and SMT each: of
// a VM that fits a node, of one that needs all of them and of one whose memory never moves.
#include <numeric>

#include <benchmark/benchmark.h>

#include "placement/advice/advice.h"
#include "placement/advice/warnings.h"

namespace vmnuma {
namespace {

constexpr std::int32_t kNodes = 16;
constexpr std::int32_t kCores = 32;

AdviceHost wide_host() {
  AdviceHost host;
  for (std::int32_t node = 0; node < kNodes; ++node) {
    Node made;
    made.id = {node};
    made.memory = kGiB * 256;
    for (std::int32_t cpu = 0; cpu < 2 * kCores; ++cpu) {
      made.cpus.push_back({{2 * kCores * node + cpu}, kCores * node + cpu / 2, node});
    }
    host.topology.nodes.push_back(std::move(made));
    for (std::int32_t other = 0; other < kNodes; ++other) {
      host.topology.distances.push_back(node == other ? 10 : node / 4 == other / 4 ? 12 : 32);
    }
  }
  return host;
}

AdviceRequest vm_of(std::int32_t vcpus, bool is_locked) {
  AdviceRequest request;
  VmDescription& vm = request.vm;
  vm.vcpus.resize(static_cast<std::size_t>(vcpus));
  std::iota(vm.vcpus.begin(), vm.vcpus.end(), 0);
  vm.max_vcpus = vcpus;
  vm.memory = vm.max_memory = kGiB * vcpus;
  vm.memory_locked = is_locked;
  for (std::int32_t vcpu = 0; vcpu < vcpus; ++vcpu) {
    vm.vcpu_pins.push_back({vcpu, {}});
  }
  return request;
}

void advise_one(benchmark::State& state) {
  const AdviceHost host = wide_host();
  const AdviceRequest request =
      vm_of(static_cast<std::int32_t>(state.range(0)), state.range(1) != 0);
  for (auto _ : state) {
    benchmark::DoNotOptimize(advise(request, host));
  }
}
BENCHMARK(advise_one)
    ->Args({8, 0})
    ->Args({kNodes * kCores, 0})
    ->Args({kNodes * kCores / 2, 1})
    ->Unit(benchmark::kMicrosecond);

void warn_of_one(benchmark::State& state) {
  const AdviceHost host = wide_host();
  const VmDescription vm = vm_of(static_cast<std::int32_t>(state.range(0)), false).vm;
  for (auto _ : state) {
    benchmark::DoNotOptimize(warnings_about(vm, host));
  }
}
BENCHMARK(warn_of_one)->Arg(8)->Arg(kNodes* kCores)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace vmnuma

BENCHMARK_MAIN();
