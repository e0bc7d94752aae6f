// SPDX-License-Identifier: Apache-2.0
/// Whether there is room for the memory of an order, checked before anything is changed.
///
/// Approach: sum up per node and pool what the changes bring and what they take away. A one-way
/// move needs room for all of it. An exchange needs room only for the difference, and on one side
/// for a first chunk; the rest alternates. A quota smaller than a home's share (memory that
/// overflows because no node is large enough) needs room only for the quota. Properties: an order
/// that fits passes regardless of the sequence of its changes; what is already on a home needs no
/// room.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "migration/order.h"
#include "migration/page_mover.h"

namespace vmnuma::migration {

/// What arrives on a node and what leaves it, in one pool (zero = ordinary memory).
struct RoomNeed {
  NodeId node;
  Bytes pool;
  Bytes in;
  Bytes out;
  bool operator==(const RoomNeed&) const = default;
};

/// Of one VM, by node and pool; mappings with an explicit memory policy stay and are left out.
[[nodiscard]] std::vector<RoomNeed> room_needs(const std::vector<NodeQuota>& quotas,
                                               const std::vector<MemoryRange>& ranges);

/// What a node has left for moves: above the reserve, or in the huge page pool of that size.
[[nodiscard]] Bytes room_on(const NodeMemory& node, Bytes pool, Permille reserve);

/// How much of a node's room, per pool, is claimed by other actions.
using PromisedRoom = std::map<std::pair<NodeId, Bytes>, Bytes>;

/// `needs` of all changes together; `nodes` has every node that receives memory. Nothing if it
/// fits, otherwise a sentence that says where it does not.
[[nodiscard]] std::optional<std::string> why_no_room(const std::vector<RoomNeed>& needs,
                                                     const std::map<NodeId, NodeMemory>& nodes,
                                                     Permille reserve,
                                                     const PromisedRoom& promised);

}  // namespace vmnuma::migration
