// SPDX-License-Identifier: Apache-2.0
/// Nobody does anything: VMs that the scenario has found pinned stay so, the others float.
#pragma once

#include "tools/sim/policies/policy.h"

namespace vmnuma::tools {

class NonePolicy final : public Policy {
 public:
  void epoch(PolicyHost& /*host*/) override {}
};

}  // namespace vmnuma::tools
