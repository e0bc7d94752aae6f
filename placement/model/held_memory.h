// SPDX-License-Identifier: Apache-2.0
/// Memory that the kernel can neither move nor reclaim, according to a VM's description.
#pragma once

#include <optional>
#include <string>

#include "placement/model/domain.h"

namespace vmnuma {

/// Returns why none of the VM's memory may be touched, or nothing if it may: its memory mode is
/// hands-off, a device or something else pins it, or it is locked.
[[nodiscard]] std::optional<std::string> why_memory_is_held(const VmDescription& vm);

}  // namespace vmnuma
