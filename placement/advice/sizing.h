// SPDX-License-Identifier: Apache-2.0
/// How placement/clients.h compares a VM with a node. Internal to this folder.
#pragma once

#include "placement/advice/advice.h"

namespace vmnuma {

/// Returns true if hardware threads, not only cores, count as places for the VM's vCPUs.
[[nodiscard]] inline bool counts_threads(const VmDescription& vm, const AdviceHost& host) {
  const TopologyPolicy together = vm.policy.topology_policy;
  return host.prefer_ht || vm.policy.prefer_ht || together == TopologyPolicy::kRestricted ||
         together == TopologyPolicy::kBestEffort;
}

}  // namespace vmnuma
