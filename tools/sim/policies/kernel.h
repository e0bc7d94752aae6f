// SPDX-License-Identifier: Apache-2.0
/// The kernel's automatic NUMA balancing, without pins.
///
/// The balancing itself is part of the simulated host (host/sim_numa_scanner.h describes which
/// parts of Linux 6.1 it covers, and its cost). VMs begin unplaced (policy.h). This policy only
/// enables it.
#pragma once

#include "tools/sim/policies/policy.h"

namespace vmnuma::tools {

class KernelPolicy final : public Policy {
 public:
  void epoch(PolicyHost& host) override;
};

}  // namespace vmnuma::tools
