// SPDX-License-Identifier: Apache-2.0
/// Checks the definitions of the running VMs, as assessed by the daemon.
#pragma once

#include <vector>

#include "balancer/model/view.h"
#include "placement/base/result.h"
#include "tools/vmnuma/doctor/finding.h"

namespace vmnuma::tools {

/// Returns one finding per harmful setting in a VM's definition, or one finding that there is none.
/// No findings if the daemon does not report on the host.
[[nodiscard]] std::vector<Finding> check_definitions(const Result<balancer::HostView>& host);

}  // namespace vmnuma::tools
