// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/scenario.h"

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
  }
  return "unknown";
}

std::int64_t load_at(const ScenarioVm& vm, std::int64_t epoch) {
  std::int64_t pct = 0;
  for (const LoadStep& step : vm.load) {
    if (step.from <= epoch) {
      pct = step.pct;
    }
  }
  return pct;
}

}  // namespace vmnuma::tools
