// SPDX-License-Identifier: Apache-2.0
/// Chooses where a VM that has no home yet should live.
///
/// Problem: a new VM has no history, several may start at once, and a placement that always prefers
/// the same node piles them up there. Approach: each client tries every allowed node. Nodes are
/// compared by the following, in this order; amounts are compared in steps and against the best of
/// all, so that noise does not decide:
///  - room for the memory;
///  - whether libvirt was told to start the VM there, because it has done so;
///  - cores of its own, if it asks for them;
///  - the VM's strategy (placement/strategy.h; by default it has no effect);
///  - lost time over the horizon, including the cost of bringing existing memory there, judged by
///    load averages that contain the pending load of VMs placed a moment ago, and including what a
///    wide VM's clients lose on the way to each other's memory;
///  - distance to its passed-through devices;
///  - whether it would live next to another VM's devices;
///  - load average after placement, if it is higher than elsewhere by a fifth of the node;
///  - how much of its memory lies elsewhere, if that is a quarter of the memory it may come to
///    have;
///  - vCPUs that live there already, because the load of VMs that idle now, as during a boot storm,
///    means little;
///  - load average in small steps;
///  - any memory that lies elsewhere;
///  - distance to the VM's other clients;
///  - free memory;
///  - round robin.
/// If numatune binds the client's memory to some nodes, only these are tried. A wide VM tries every
/// node as the home of its first client and keeps the best set.
/// Properties:
///  1. A node without CPUs or memory, outside the mask, or forbidden by a hard group is never
///     chosen.
///  2. While a node with room exists, none without room is chosen; memory that was promised to
///     others and is not touched yet does not count as room.
///  3. If VMs of equal size are placed one after the other on equal nodes, the numbers per node
///     differ by at most one VM, as long as no load differs by a fifth of a node.
///  4. Clients of one VM share a node only if there are more clients than allowed nodes or sharing
///     loses less.
///  5. Between equal nodes the choice rotates.
///  6. A VM with cpu_binding exclusive gets a node that has the cores while there is one.
///  7. With a strategy, the node is one that the strategy prefers most, of those with room.
///  8. A client whose memory may only lie on some nodes lives on one of them if it may.
///  9. A VM with devices lives on their node, and others keep off it, as long as there is room and
///     no CPU time is lost by it.
#pragma once

#include <vector>

#include "placement/arrangement.h"

namespace vmnuma {

/// How one node compared for one client, for the explanation.
struct NodeChoice {
  NodeIndex node = kNoNode;
  bool fits = false;  ///< memory
  CpuTime lost;       ///< over the horizon, with the cost of bringing memory
  Permille load_after;
  std::int64_t distance = 0;  ///< sum over the VM's clients already placed
  Bytes room;                 ///< free for it, above the reserve and what others have yet to touch
  bool operator==(const NodeChoice&) const = default;
};

struct HomeChoice {
  ClientIndex client = kNoClient;
  NodeIndex home = kNoNode;
  std::vector<NodeChoice> considered;  ///< best first; `home` is the first
};

/// Returns homes for those of the clients first .. first + count - 1 (all of one VM) that have
/// none, and leaves the arrangement (basis kLoad) with them in place. `round_robin` is the node
/// chosen last, kNoNode at first; it is advanced. The answer omits a client for which no node may
/// be chosen.
[[nodiscard]] std::vector<HomeChoice> choose_homes(Arrangement& arrangement, ClientIndex first,
                                                   std::size_t count, NodeIndex& round_robin);

}  // namespace vmnuma
