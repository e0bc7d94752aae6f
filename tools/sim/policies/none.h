// SPDX-License-Identifier: Apache-2.0
/// Leaves the host alone: VMs float as the kernel's scheduler places them, without automatic NUMA
/// balancing. VMs that are found pinned stay pinned.
#pragma once

#include "tools/sim/policies/policy.h"

namespace vmnuma::tools {

class NonePolicy final : public Policy {
 public:
  void epoch(PolicyHost& /*host*/) override {}
};

}  // namespace vmnuma::tools
