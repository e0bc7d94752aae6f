// SPDX-License-Identifier: Apache-2.0
/// The definitions of the running VMs, as judged by the daemon.
#pragma once

#include <vector>

#include "balancer/model/view.h"
#include "placement/base/result.h"
#include "tools/vmnuma/doctor/finding.h"

namespace vmnuma::tools {

/// One finding per thing in a VM's definition that will hurt, or one saying that there is none. No
/// findings on a host about which the daemon does not report.
[[nodiscard]] std::vector<Finding> check_definitions(const Result<balancer::HostView>& host);

}  // namespace vmnuma::tools
