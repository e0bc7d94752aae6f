// SPDX-License-Identifier: Apache-2.0
/// The host is left alone: VMs float as the kernel's scheduler places them, without automatic NUMA
/// balancing, except those that are found pinned, which stay so.
#pragma once

#include "tools/sim/policies/policy.h"

namespace vmnuma::tools {

class NonePolicy final : public Policy {
 public:
  void epoch(PolicyHost& /*host*/) override {}
};

}  // namespace vmnuma::tools
