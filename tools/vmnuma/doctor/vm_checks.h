// SPDX-License-Identifier: Apache-2.0
/// The definitions of the VMs that run, as the daemon judges them.
#pragma once

#include <vector>

#include "balancer/model/view.h"
#include "placement/base/result.h"
#include "tools/vmnuma/doctor/finding.h"

namespace vmnuma::tools {

/// One finding for each thing in a VM's definition that will hurt, or one that there is none. Of a
/// host that the daemon does not tell about nothing is found.
[[nodiscard]] std::vector<Finding> check_definitions(const Result<balancer::HostView>& host);

}  // namespace vmnuma::tools
