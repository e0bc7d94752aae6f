// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/policies/kernel.h"

#include <algorithm>

namespace vmnuma::tools {

using placement::Bytes;
using placement::CpuTime;
using placement::NodeIndex;

namespace {

constexpr std::int64_t kShortestScanMs = 1'000;
constexpr std::int64_t kLongestScanMs = 60'000;
constexpr Bytes kScanned = placement::kMiB * 256;

/// The node with most of it; the first of equal ones.
template <class Amounts>
NodeIndex most_on(const Amounts& amounts) {
  return static_cast<NodeIndex>(std::max_element(amounts.begin(), amounts.end()) - amounts.begin());
}

}  // namespace

void KernelPolicy::epoch(PolicyHost& host) {
  std::vector<CpuTime> load(host.topology().nodes.size());
  for (NodeIndex node = 0; node < load.size(); ++node) {
    load[node] = host.busy(node);
  }
  for (PolicyVm& vm : host.vms()) {
    if (vm.age == 0) {
      host.pin(vm, {});
      scan_period_ms_[vm.id] = kShortestScanMs;
      continue;
    }
    const NodeIndex runs_on = most_on(vm.vcpus_on);
    const NodeIndex prefers = most_on(vm.memory);
    const placement::Node& node = host.topology().nodes[prefers];
    const CpuTime there = load[prefers] - (prefers == runs_on ? vm.used : CpuTime{}) + vm.demand();
    const bool fits = vm.resident() > Bytes{} && node.cpu_count() >= vm.vcpus &&
                      there <= host.epoch_length() * node.cpu_count();
    host.pin(vm, fits ? std::vector{prefers} : std::vector<NodeIndex>{});
    if (fits && prefers != runs_on) {
      load[runs_on] -= std::min(vm.used, load[runs_on]);
      load[prefers] += vm.demand();
    }
    if (!vm.memory_moves) {
      continue;
    }
    // Pages go where the threads are that use them.
    std::int64_t& period = scan_period_ms_[vm.id];
    const Bytes scanned{kScanned.value * (host.epoch_length().value / 1000) / period};
    const Bytes far = vm.resident() - vm.memory[fits ? prefers : runs_on];
    const Bytes most{far.value / std::max<std::int64_t>(vm.resident().value >> 20U, 1) *
                     (scanned.value >> 20U)};
    const Bytes moved =
        most >= kSimPage ? host.move_memory(vm, {fits ? prefers : runs_on}, most) : Bytes{};
    period = std::clamp(moved > Bytes{} ? period / 2 : period * 2, kShortestScanMs, kLongestScanMs);
  }
}

}  // namespace vmnuma::tools
