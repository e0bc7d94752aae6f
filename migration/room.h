// SPDX-License-Identifier: Apache-2.0
/// Checks that there is room for the memory of an order before anything is changed.
///
/// Approach: sum up per node and pool what the changes bring and what they take away. A one-way
/// move needs room for all of its memory. An exchange needs room only for the difference, and on
/// one side for a first chunk; the rest alternates. A quota smaller than a home's share (memory
/// that overflows because no node is large enough) needs room only for the quota. Properties: an
/// order that fits passes regardless of the sequence of its changes; what is already on a home
/// needs no room.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "migration/order.h"
#include "migration/page_mover.h"

namespace vmnuma::migration {

/// The memory that arrives on a node and that leaves it, in one pool (zero = ordinary memory).
struct RoomNeed {
  NodeId node;
  Bytes pool;
  Bytes in;
  Bytes out;
  bool operator==(const RoomNeed&) const = default;
};

/// The needs of one VM, by node and pool. Mappings with an explicit memory policy stay and are left
/// out.
[[nodiscard]] std::vector<RoomNeed> room_needs(const std::vector<NodeQuota>& quotas,
                                               const std::vector<MemoryRange>& ranges);

/// The room that a node has for moves: above the reserve, or in the huge page pool of that size.
[[nodiscard]] Bytes room_on(const NodeMemory& node, Bytes pool, Permille reserve);

/// How much of a node's room, per pool, is claimed by other actions.
using PromisedRoom = std::map<std::pair<NodeId, Bytes>, Bytes>;

/// Returns nothing if `needs`, of all changes together, fit; otherwise a sentence that names where
/// they do not. `nodes` contains every node that receives memory.
[[nodiscard]] std::optional<std::string> why_no_room(const std::vector<RoomNeed>& needs,
                                                     const std::map<NodeId, NodeMemory>& nodes,
                                                     Permille reserve,
                                                     const PromisedRoom& promised);

}  // namespace vmnuma::migration
