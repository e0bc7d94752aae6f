// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/scenario.h"

#include <algorithm>
#include <iterator>

namespace vmnuma::tools {

std::string_view name_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::kVmVanishes:
      return "vm-vanishes";
    case FaultKind::kPinRefused:
      return "pin-refused";
    case FaultKind::kPagesBusy:
      return "pages-busy";
    case FaultKind::kNoMemory:
      return "no-memory";
    case FaultKind::kSlowLibvirt:
      return "slow-libvirt";
    case FaultKind::kStaleSample:
      return "stale-sample";
    case FaultKind::kDaemonRestart:
      return "daemon-restart";
    case FaultKind::kNodeOffline:
      return "node-offline";
    case FaultKind::kLibvirtGone:
      return "libvirt-gone";
  }
  return "unknown";
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
