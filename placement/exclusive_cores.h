// SPDX-License-Identifier: Apache-2.0
/// How many physical cores belong to one VM alone, and how many more can be given to one.
///
/// Problem: a VM with cpu_binding exclusive takes cores that no other VM can use then, whatever it
/// does with them. Before it gets a home, and before it moves, the node must have as many.
/// Approach: the number follows from the VM's vCPUs, its cpu_policy and the threads of the node's
/// cores. A node always keeps kCoresForOthers for everything else: emulators, the host itself and
/// VMs that come later.
///
/// Properties:
///  - as many cores as are asked for have a CPU for every vCPU;
///  - free cores and exclusive cores are never more than the node has.
#pragma once

#include <cstdint>
#include <span>

#include "placement/arrangement.h"
#include "placement/model/domain.h"
#include "placement/model/topology.h"

namespace vmnuma {

/// Cores of each node that no VM gets alone.
inline constexpr std::int32_t kCoresForOthers = 1;

/// Cores of this node that so many vCPUs take for themselves: as few whole ones as hold them, or
/// one for each with kSpreadByPCPUs.
[[nodiscard]] std::int32_t cores_for(CpuPolicy policy, std::int32_t vcpus, const Node& node);

/// Cores of the node that belong to the client alone if it lives there: what it has been given on
/// its home, what it asks for elsewhere; 0 with another cpu_binding.
[[nodiscard]] std::int32_t exclusive_cores(const Arrangement& arrangement, ClientIndex client,
                                           NodeIndex node);

/// Cores that could still be given to one client once `changes` are carried out, `except` left out;
/// may be negative.
[[nodiscard]] std::int32_t free_cores(const Arrangement& arrangement, NodeIndex node,
                                      ClientIndex except, std::span<const Rehoming> changes = {});

/// True if the client asks for cores of its own and the node will not have as many left.
[[nodiscard]] bool lacks_cores(const Arrangement& arrangement, ClientIndex client, NodeIndex node,
                               std::span<const Rehoming> changes = {});

}  // namespace vmnuma
