// SPDX-License-Identifier: Apache-2.0
/// The largest host that is contained in each of several hosts: what fits it fits all of them.
///
/// Problem: a VM that is migrated keeps the nodes it started with; they should fit every host to
/// which it may be migrated. Approach: a host with as many nodes as the one with the fewest, all of
/// them as small as the smallest node of any.
/// Properties:
///  - a cell that fits a node of it fits every node of each host;
///  - the common host of one host with equal nodes is that host, apart from its numbering;
///  - the order of the hosts does not matter.
#pragma once

#include <vector>

#include "placement/advice/advice.h"

namespace vmnuma {

/// Returns the common host of at least one host. Nodes that cannot be a home are left out. Threads
/// per core are the fewest, distances the largest of any pair, huge pages the fewest of each size
/// that all nodes have, free memory the least, known only if it is known for all. CPUs and nodes
/// are numbered from 0, as no number means the same on all.
[[nodiscard]] AdviceHost common_host(const std::vector<AdviceHost>& hosts);

}  // namespace vmnuma
