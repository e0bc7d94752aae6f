// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/scenario/scenario.h"

#include <algorithm>
#include <iterator>

#include "placement/base/sorted.h"
#include "placement/model/topology.h"

namespace vmnuma::tools {

std::vector<std::int32_t> even_distances(std::size_t nodes, std::int32_t remote) {
  std::vector<std::int32_t> distances(nodes * nodes, remote);
  for (std::size_t node = 0; node < nodes; ++node) {
    distances[node * (nodes + 1)] = kLocalDistance;
  }
  return distances;
}

bool can_be_home(const ScenarioNode& node) {
  return node.cores > 0 && node.memory > Bytes{};
}

const ScenarioNode* find_node(const ScenarioHost& host, NodeId id) {
  return find_sorted(host.nodes, id, &ScenarioNode::id);
}

bool has_huge_pages(const ScenarioHost& host) {
  return std::ranges::any_of(host.nodes,
                             [](const ScenarioNode& node) { return node.huge_pages > Bytes{}; });
}

bool lasts(const Fault& fault, std::int64_t epoch) {
  return fault.epoch <= epoch && epoch < fault.epoch + fault.epochs;
}

std::int64_t known_epochs(const Scenario& scenario) {
  constexpr std::int64_t kMinuteMs = 60'000;
  return scenario.known_minutes * kMinuteMs / scenario.options.rebalance_period;
}

std::int64_t load_at(const ScenarioVm& vm, std::int64_t epoch) {
  if (vm.load_repeats > 0) {
    epoch = (epoch % vm.load_repeats + vm.load_repeats) % vm.load_repeats;
  }
  const auto next =
      std::upper_bound(vm.load.begin(), vm.load.end(), epoch,
                       [](std::int64_t at, const LoadStep& step) { return at < step.from; });
  return next == vm.load.begin() ? 0 : std::prev(next)->pct;
}

}  // namespace vmnuma::tools
