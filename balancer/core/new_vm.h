// SPDX-License-Identifier: Apache-2.0
/// Adds a VM that does not run yet to a snapshot.
///
/// Problem: where a VM should start, and with what effect, is asked before it exists. Approach: a
/// snapshot is a value; the VM is added to a copy with an assumed load and all of its memory
/// touched, and is then like any other: the next VM to be added finds its load and its memory
/// there.
///
/// Properties:
///  - VMs and clients keep their order and refer to each other as before;
///  - memory goes home first, then as near as there is room above the reserves, and only where the
///    VM's numatune allows it;
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
  VmDescription description;              ///< must not have the id of a VM in the snapshot
  std::int32_t weight = 100;              ///< cpu.weight
  Permille load;                          ///< share of a CPU that each vCPU wants
  std::vector<NodeIndex> suggested = {};  ///< where it should live if there is room
};

/// Where one client of a new VM would live.
struct NewHome {
  ClientId client;
  std::int32_t vcpus = 0;
  NodeIndex home = kNoNode;            ///< kNoNode: no node may be its home
  Bytes memory;                        ///< its part of the VM's memory
  Bytes elsewhere;                     ///< the part of it for which there is no room at home
  Bytes nowhere;                       ///< the part of it for which there is no room at all
  std::vector<NodeChoice> considered;  ///< best first
};

/// Adds the VM without homes. share_out() must be called afterwards.
void add_vm(Snapshot& snapshot, const NewVm& vm, const Options& options);

/// Gives an added VM the homes that a VM without one gets, and lets it touch its memory. Round
/// robin continues after `last_placed_on`, which is advanced.
[[nodiscard]] std::vector<NewHome> place_vm(Snapshot& snapshot, const VmId& id,
                                            const Options& options, NodeIndex& last_placed_on);

/// Gives an added VM these homes, by client (the last one is used for all further clients), and
/// lets it touch its memory.
void settle_vm(Snapshot& snapshot, const VmId& id, const std::vector<NodeIndex>& homes);

/// Returns where libvirt should start a VM that was placed in this way: on its homes and where
/// there is room for its memory, since libvirt may bind it to these nodes permanently. If there is
/// no room for some of its memory, the answer is all nodes on which it may live. Ascending, within
/// the policy's nodes.
[[nodiscard]] std::vector<NodeIndex> start_nodes(const Snapshot& snapshot, const VmDescription& vm,
                                                 const std::vector<NewHome>& homes);

}  // namespace vmnuma::balancer
