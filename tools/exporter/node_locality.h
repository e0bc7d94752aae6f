// SPDX-License-Identifier: Apache-2.0
/// How local the memory of each node's clients is.
#pragma once

#include <map>

#include "balancer/model/view.h"
#include "placement/model/ids.h"

namespace vmnuma::tools {

/// Of the resident memory of the clients homed on a node, the share that is there, 0 to 1. Nodes
/// without such memory are absent, and clients with unknown memory do not count.
[[nodiscard]] std::map<NodeId, double> node_locality(const balancer::HostView& host);

}  // namespace vmnuma::tools
