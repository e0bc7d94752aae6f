// SPDX-License-Identifier: Apache-2.0
/// Checks for a node of Proxmox VE. `root` is the host's root directory.
#pragma once

#include <vector>

#include "balancer/model/view.h"
#include "placement/base/result.h"
#include "stats/files/directory.h"
#include "tools/client/client.h"
#include "tools/vmnuma/doctor/finding.h"

namespace vmnuma::tools {

/// Checks whether the daemon balances the node's VMs and may read their configurations; the
/// hookscript and which VMs have it; and which VMs are left alone. No findings on other hosts.
[[nodiscard]] std::vector<Finding> check_pve(const files::Directory& root,
                                             const Result<balancer::StatusView>& status,
                                             const Result<Peer>& daemon);

}  // namespace vmnuma::tools
