// SPDX-License-Identifier: Apache-2.0
/// Memory that the kernel can neither move nor reclaim, according to a VM's description.
#pragma once

#include <optional>
#include <string>

#include "placement/model/domain.h"

namespace vmnuma {

/// Why none of the VM's memory may be touched, or nothing if it may: it is not ours to touch,
/// passed through to a device, pinned by one or locked.
[[nodiscard]] std::optional<std::string> why_memory_is_held(const VmDescription& vm);

}  // namespace vmnuma
