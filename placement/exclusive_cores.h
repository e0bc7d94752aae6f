// SPDX-License-Identifier: Apache-2.0
/// How many physical cores belong to one VM alone, and how many more can be given to one.
///
/// Problem: a VM with cpu_binding exclusive takes cores that no other VM can use, whether it uses
/// them or not. Before the VM gets a home, and before it moves, the node must have enough of them.
/// Approach: the number follows from the VM's vCPUs, its cpu_policy and the threads of the node's
/// cores. A node always keeps kCoresForOthers for everything else: emulators, the host itself and
/// VMs that come later.
///
/// Properties:
///  - the cores that a client asks for have a CPU for every vCPU;
///  - free cores and exclusive cores are never more than the node has.
#pragma once

#include <cstdint>
#include <span>

#include "placement/arrangement.h"
#include "placement/model/domain.h"
#include "placement/model/topology.h"

namespace vmnuma {

/// Cores of each node that are never given to one VM alone.
inline constexpr std::int32_t kCoresForOthers = 1;

/// Returns how many vCPUs of a VM that has cores for itself a core of this node holds: one for each
/// thread, or one with kSpreadByPCPUs.
[[nodiscard]] std::int32_t vcpus_per_core(CpuPolicy policy, const Node& node);

/// Returns how many cores of this node that number of vCPUs takes for itself: as few whole ones as
/// hold them, or one for each with kSpreadByPCPUs.
[[nodiscard]] std::int32_t cores_for(CpuPolicy policy, std::int32_t vcpus, const Node& node);

/// Returns how many cores of the node belong to the client alone if it lives there: on its home,
/// what it has been given; elsewhere, what it asks for; 0 with another cpu_binding.
[[nodiscard]] std::int32_t exclusive_cores(const Arrangement& arrangement, ClientIndex client,
                                           NodeIndex node);

/// Returns how many cores could still be given to one client once `changes` are carried out, not
/// counting those of `except`; may be negative.
[[nodiscard]] std::int32_t free_cores(const Arrangement& arrangement, NodeIndex node,
                                      ClientIndex except, std::span<const Rehoming> changes = {});

/// Returns true if the client asks for cores of its own and the node would have too few left.
[[nodiscard]] bool lacks_cores(const Arrangement& arrangement, ClientIndex client, NodeIndex node,
                               std::span<const Rehoming> changes = {});

}  // namespace vmnuma
