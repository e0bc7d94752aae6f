// SPDX-License-Identifier: Apache-2.0
/// What a VM needs of one node, and whether it could get that if other VMs moved away.
///
///  1. One node must provide only what one node can have: memory of one page size, devices of one
///     node.
///  2. There is no advice if a node already has that much, if no node is large enough, or if all
///     nodes together have too little.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "placement/admission.h"
#include "placement/model/domain.h"
#include "placement/model/snapshot.h"

namespace vmnuma::balancer {

struct RoomNeeded {
  std::int32_t vcpus = 0;
  Bytes memory;
  Bytes page_size;            ///< zero: ordinary pages
  std::vector<NodeId> nodes;  ///< one of these, ascending
  bool operator==(const RoomNeeded&) const = default;
};

/// What `vm`, which has the effective policy, needs. Nothing if no single node can provide it.
[[nodiscard]] std::optional<RoomNeeded> room_needed(const Topology& topology,
                                                    const VmDescription& vm);

/// True if no node has the room, but one is large enough and all nodes together have as much free.
/// `free` is what admission would find now, by node of the snapshot.
[[nodiscard]] bool moves_could_help(const Snapshot& snapshot, const FreeForVm& free,
                                    const RoomNeeded& needed);

/// What to try, as an addition to a sentence, if moves_could_help(); otherwise empty.
[[nodiscard]] std::string advice_on_room(const Snapshot& snapshot, const FreeForVm& free,
                                         const RoomNeeded& needed);

}  // namespace vmnuma::balancer
