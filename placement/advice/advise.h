// SPDX-License-Identifier: Apache-2.0
/// Makes advice; see advice.h for what it is and which properties it has.
#pragma once

#include "placement/advice/advice.h"
#include "placement/base/result.h"

namespace vmnuma {

/// Returns the advice for a VM. `vm.policy` is the effective one; vCPUs that are not plugged count
/// as well. Errors: no-space if the host has no node to live on, invalid-argument for a VM without
/// vCPUs or memory.
[[nodiscard]] Result<Advice> advise(const AdviceRequest& request, const AdviceHost& host);

}  // namespace vmnuma
