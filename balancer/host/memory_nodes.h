// SPDX-License-Identifier: Apache-2.0
/// The nodes that a VM's memory may use according to libvirt, for cases in which its XML does not
/// contain them: with placement='auto' they are those that libvirt was advised at the start
/// (qemuDomainGetNumaParameters(), libvirt 9.0).
#pragma once

#include <vector>

#include "balancer/host/handles.h"
#include "placement/model/ids.h"

namespace vmnuma::balancer {

/// Queries the nodes. Ascending; empty if libvirt does not report them. Two calls; any thread.
[[nodiscard]] std::vector<NodeId> allowed_memory_nodes(_virDomain* domain);

}  // namespace vmnuma::balancer
