// SPDX-License-Identifier: Apache-2.0
/// The capabilities that the daemon needs to see and move the memory of VMs.
#pragma once

#include <string>
#include <string_view>

#include "placement/base/result.h"

namespace vmnuma::stats {

/// Returns which of the two a process lacks: "CAP_SYS_PTRACE and CAP_SYS_NICE" or one of them;
/// empty if neither. `status` is the text of /proc/PID/status (proc(5): CapEff;
/// linux/capability.h). Error: corrupt.
[[nodiscard]] Result<std::string> lacking_capabilities(std::string_view status);

}  // namespace vmnuma::stats
