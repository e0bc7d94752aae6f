// SPDX-License-Identifier: Apache-2.0
/// What a VM needs of one node, and whether others that move away could give it that.
///
/// Properties:
///  1. Only what one node can have is asked of one: memory of one page size, devices of one node.
///  2. Nothing is advised where a node has that much already, where none is large enough, or where
///  all together have too little.
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
  placement::Bytes memory;
  placement::Bytes page_size;            ///< zero: ordinary pages
  std::vector<placement::NodeId> nodes;  ///< one of these, ascending
  bool operator==(const RoomNeeded&) const = default;
};

/// Rounded up.
[[nodiscard]] std::int64_t whole_mib(placement::Bytes memory);

/// Of a VM with the policy that counts. Nothing if one node alone cannot give it that.
[[nodiscard]] std::optional<RoomNeeded> room_needed(const placement::Topology& topology,
                                                    const placement::VmDescription& vm);

/// Whether no node has the room, but one is large enough and all together have as much. `free` is
/// what admission would find now, by node of the snapshot.
[[nodiscard]] bool moves_could_help(const placement::Snapshot& snapshot,
                                    const placement::FreeForVm& free, const RoomNeeded& needed);

/// What to try, to be added to a sentence, if moves_could_help(); else empty.
[[nodiscard]] std::string advice_on_room(const placement::Snapshot& snapshot,
                                         const placement::FreeForVm& free,
                                         const RoomNeeded& needed);

}  // namespace vmnuma::balancer
