// SPDX-License-Identifier: Apache-2.0
/// Adding a VM that does not run yet to a snapshot.
///
/// Problem: where a VM should start, and what the effect would be, is asked before it exists.
/// Approach: a snapshot is a value; the VM is added to a copy with an assumed load and all of its
/// memory touched, and then is one like any other: the next VM to be added finds its load and its
/// memory there.
///
/// Properties:
///  - VMs and clients keep their order and refer to each other as before;
///  - memory goes home first, then as near as there is room above the reserves, and only where its
///    numatune lets it lie;
///  - memory that fits nowhere is reported, not hidden.
#pragma once

#include <cstdint>
#include <vector>

#include "placement/initial.h"
#include "placement/model/domain.h"
#include "placement/model/options.h"
#include "placement/model/snapshot.h"

namespace vmnuma::balancer {

struct NewVm {
  VmDescription description;              ///< not the id of a VM in the snapshot
  std::int32_t weight = 100;              ///< cpu.weight
  Permille load;                          ///< share of a CPU that each vCPU wants
  std::vector<NodeIndex> suggested = {};  ///< where it is to live if there is room
};

/// Where one client of a new VM would live.
struct NewHome {
  ClientId client;
  std::int32_t vcpus = 0;
  NodeIndex home = kNoNode;            ///< kNoNode: no node may be its home
  Bytes memory;                        ///< its part of the VM's
  Bytes elsewhere;                     ///< part of it that finds no room at home
  Bytes nowhere;                       ///< part of it that finds no room at all
  std::vector<NodeChoice> considered;  ///< best first
};

/// Adds it without homes. share_out() must be called afterwards.
void add_vm(Snapshot& snapshot, const NewVm& vm, const Options& options);

/// Gives an added VM the homes that a VM without one gets, and lets it touch its memory. Round
/// robin continues at `last_placed_on`, which is advanced.
[[nodiscard]] std::vector<NewHome> place_vm(Snapshot& snapshot, const VmId& id,
                                            const Options& options, NodeIndex& last_placed_on);

/// Gives an added VM these homes, by client (the last one counts for all others), and lets it touch
/// its memory.
void settle_vm(Snapshot& snapshot, const VmId& id, const std::vector<NodeIndex>& homes);

/// Where libvirt should start a VM that was placed in this way: on its homes and where its memory
/// finds room, since libvirt may bind it to these nodes for good. If some of it finds no room,
/// wherever it may live. Ascending, within the policy's nodes.
[[nodiscard]] std::vector<NodeIndex> start_nodes(const Snapshot& snapshot, const VmDescription& vm,
                                                 const std::vector<NewHome>& homes);

}  // namespace vmnuma::balancer
