// SPDX-License-Identifier: Apache-2.0
/// Memory that the kernel may neither move nor reclaim, by what a VM's description says.
#pragma once

#include <optional>
#include <string>

#include "placement/model/domain.h"

namespace vmnuma::placement {

/// Why nobody touches any of the VM's memory, or nothing: it is not ours to touch, passed through
/// to a device, pinned by one or locked.
[[nodiscard]] std::optional<std::string> why_memory_is_held(const VmDescription& vm);

}  // namespace vmnuma::placement
