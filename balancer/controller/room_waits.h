// SPDX-License-Identifier: Apache-2.0
/// VMs that wait to start until others have made room, and their progress, which is driven by
/// room_making.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "balancer/controller/events.h"
#include "placement/base/names.h"

namespace vmnuma::balancer {

struct RecordFields;

/// Progress of making room for a VM that waits.
enum class RoomPhase {
  kInLine,     ///< other VMs come first
  kSearching,  ///< for the moves
  kMoving,     ///< step by step, and then until the VM asks again
  kOver,       ///< nothing more is done for the VM
};
[[nodiscard]] constexpr auto names(RoomPhase) {
  return names_in_order<RoomPhase>("in-line", "searching", "moving", "over");
}

struct RoomWait {
  VmId vm;
  std::string name;
  RoomNeeded needed;
  std::int64_t until_unix_s = 0;  ///< then it starts with what is free; follows the wall clock
  RoomPhase phase = RoomPhase::kInLine;
  std::vector<std::vector<RoomMove>> steps;  ///< not done yet; the first may be under way
  std::int64_t action = 0;                   ///< the order for the first step; 0: none under way
  std::int64_t moved_in_epoch = 0;           ///< epoch in which the last step was done
  std::int64_t searches = 0;                 ///< number begun
  std::vector<std::string> moved = {};       ///< names of the VMs that were moved for it
  std::string became;  ///< why nothing more is done: a sentence without a full stop
};

struct RoomMaking {
  /// The most VMs that wait; further VMs do not wait but start with what is free.
  static constexpr std::size_t kMost = 8;

  [[nodiscard]] RoomWait* find(const VmId& vm);

  std::vector<RoomWait> waits;    ///< in order of arrival
  std::optional<VmId> searching;  ///< the VM with an unanswered search
};

}  // namespace vmnuma::balancer
