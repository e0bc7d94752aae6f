// SPDX-License-Identifier: Apache-2.0
/// Computes how local the memory of each node's clients is.
#pragma once

#include <map>

#include "balancer/model/view.h"
#include "placement/model/ids.h"

namespace vmnuma::tools {

/// Returns by node the share, 0 to 1, of the resident memory of its clients that is on the node.
/// Nodes without such memory are absent, and clients with unknown memory do not count.
[[nodiscard]] std::map<NodeId, double> node_locality(const balancer::HostView& host);

}  // namespace vmnuma::tools
