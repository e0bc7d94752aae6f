// SPDX-License-Identifier: Apache-2.0
/// The kernel's automatic NUMA balancing, without pins.
///
/// The scheduler itself does it, and the simulated host implements it (host/sim_numa_scanner.h says
/// what of Linux 6.1, and what it costs). VMs begin unplaced (policy.h). All that this policy does
/// is to switch it on.
#pragma once

#include "tools/sim/policies/policy.h"

namespace vmnuma::tools {

class KernelPolicy final : public Policy {
 public:
  void epoch(PolicyHost& host) override;
};

}  // namespace vmnuma::tools
