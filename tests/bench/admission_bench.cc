// SPDX-License-Identifier: Apache-2.0
// How long it takes to find the nodes on which a VM fits together: the easy case, and the hardest
// there is, in which most sets of half the nodes have nearly enough of everything.
#include <benchmark/benchmark.h>

#include "placement/admission.h"

namespace vmnuma {
namespace {

struct Host {
  Topology topology;
  AdmissionRequest request;
};

Host host_of(NodeIndex nodes) {
  Host host;
  for (NodeIndex node = 0; node < nodes; ++node) {
    host.topology.nodes.push_back({.id = {static_cast<std::int32_t>(node)},
                                   .cpus = {},
                                   .memory = kGiB * 64,
                                   .package = 0,
                                   .huge_pages = {}});
    for (NodeIndex other = 0; other < nodes; ++other) {
      host.topology.distances.push_back(node == other ? 10 : 20);
    }
    host.request.allowed.push_back(node);
    host.request.load.push_back(static_cast<std::int64_t>(node * 7 % 5));
  }
  host.request.policy = TopologyPolicy::kRestricted;
  return host;
}

void easy(benchmark::State& state) {
  Host host = host_of(static_cast<NodeIndex>(state.range(0)));
  const std::vector<std::int64_t> all(host.topology.nodes.size(), 64);
  host.request.resources = {{"CPUs", 32, all, all}, {"MiB", 48, all, all}, {"pages", 8, all, all}};
  for (auto _ : state) {
    benchmark::DoNotOptimize(admit(host.topology, host.request));
  }
}

/// Each resource is short on other nodes, so that bounds of single resources cut nothing off.
void hard(benchmark::State& state) {
  const auto nodes = static_cast<NodeIndex>(state.range(0));
  Host host = host_of(nodes);
  host.request.prefer_closest = true;
  for (NodeIndex r = 0; r < 4; ++r) {
    NodeResource resource{"units", 0, {}, {}};
    for (NodeIndex node = 0; node < nodes; ++node) {
      resource.available.push_back(node % 4 == r ? 1 : 40 + static_cast<std::int64_t>(node));
      resource.capacity.push_back(100);
    }
    resource.asked = static_cast<std::int64_t>(nodes) * 19;
    host.request.resources.push_back(std::move(resource));
  }
  std::size_t found = 0;
  for (auto _ : state) {
    found = admit(host.topology, host.request).nodes.size();
    benchmark::DoNotOptimize(found);
  }
  state.counters["found"] = static_cast<double>(found);
}

void sizes(benchmark::internal::Benchmark* bench) {
  bench->Arg(4)->Arg(8)->Arg(16)->Arg(64)->ArgName("nodes")->Unit(benchmark::kMicrosecond);
}
BENCHMARK(easy)->Apply(sizes);
BENCHMARK(hard)->Apply(sizes);

}  // namespace
}  // namespace vmnuma

BENCHMARK_MAIN();
