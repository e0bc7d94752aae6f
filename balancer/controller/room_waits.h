// SPDX-License-Identifier: Apache-2.0
/// VMs whose start waits until others have made room, and how far that is. What makes them go on is
/// in room_making.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "balancer/controller/events.h"
#include "placement/base/names.h"

namespace vmnuma::balancer {

struct RecordFields;

/// How far the room of a VM that waits is.
enum class RoomPhase {
  kInLine,     ///< others come first
  kSearching,  ///< for the moves
  kMoving,     ///< step after step, and then until the VM asks again
  kOver,       ///< nothing more is done for it
};
[[nodiscard]] constexpr auto names(RoomPhase) {
  return names_in_order<RoomPhase>("in-line", "searching", "moving", "over");
}

struct RoomWait {
  placement::VmId vm;
  std::string name;
  RoomNeeded needed;
  std::int64_t until_unix_s = 0;  ///< it starts on what there is then
  RoomPhase phase = RoomPhase::kInLine;
  std::vector<std::vector<RoomMove>> steps;  ///< that are not done, the first may be under way
  std::int64_t action = 0;                   ///< the order of that one; 0: not under way
  std::int64_t moved_in_epoch = 0;           ///< the last step that was done
  std::int64_t searches = 0;                 ///< that were begun
  std::vector<std::string> moved = {};       ///< names of VMs that were, for it
  std::string became;                        ///< why nothing more is done: a sentence without a dot
};

struct RoomMaking {
  /// Others do not wait: they start on what there is.
  static constexpr std::size_t kMost = 8;

  [[nodiscard]] RoomWait* find(const placement::VmId& vm);

  std::vector<RoomWait> waits;               ///< in the order in which they came
  std::optional<placement::VmId> searching;  ///< a search for it is not answered yet
};

}  // namespace vmnuma::balancer
