// SPDX-License-Identifier: Apache-2.0
/// How placement/clients.h measures a VM against a node. Internal to this folder.
#pragma once

#include "placement/advice/advice.h"

namespace vmnuma {

/// True if hardware threads, and not only cores, count as places for its vCPUs.
[[nodiscard]] inline bool counts_threads(const VmDescription& vm, const AdviceHost& host) {
  const TopologyPolicy together = vm.policy.topology_policy;
  return host.prefer_ht || vm.policy.prefer_ht || together == TopologyPolicy::kRestricted ||
         together == TopologyPolicy::kBestEffort;
}

}  // namespace vmnuma
