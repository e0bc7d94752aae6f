// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/scenario/scenario.h"

#include <algorithm>
#include <iterator>

namespace vmnuma::tools {

bool has_huge_pages(const ScenarioHost& host) {
  return std::any_of(host.nodes.begin(), host.nodes.end(),
                     [](const ScenarioNode& node) { return node.huge_pages > Bytes{}; });
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
