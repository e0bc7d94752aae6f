// SPDX-License-Identifier: Apache-2.0
/// What the executor reports to the controller: plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "migration/journal.h"
#include "migration/outcome.h"
#include "placement/model/amounts.h"
#include "placement/model/ids.h"

namespace vmnuma::migration {

/// Every order gives exactly one kFinished. Before it comes one kStarted, unless the order was
/// superseded or cancelled while waiting or was resumed after a restart, and, if the order has
/// pins, one kPinned once all of them are made.
struct ActionEvent {
  enum class Kind { kStarted, kPinned, kFinished };
  [[nodiscard]] friend constexpr auto names(Kind) {
    return names_in_order<Kind>("started", "pinned", "finished");
  }
  Kind kind{};
  std::int64_t action = 0;
  std::vector<VmId> vms;
  ActionState state{};      ///< for kFinished only, as is all below
  std::string detail;       ///< a sentence: why it ended this way, and what happened to the memory
  Outcome outcome;          ///< of all its VMs together
  Microseconds took;        ///< since it began, or was resumed after a restart
  bool set_failed = false;  ///< a set of memory nodes could not be changed as ordered
  bool operator==(const ActionEvent&) const = default;
};

/// An event of this order, of which the rest is still to be filled in.
[[nodiscard]] inline ActionEvent event_of(const Order& order, ActionEvent::Kind kind) {
  ActionEvent event;
  event.kind = kind;
  event.action = order.action;
  for (const VmChange& change : order.changes) {
    event.vms.push_back(change.vm);
  }
  return event;
}

/// One VM's memory in flight.
struct TransferProgress {
  VmId vm;
  std::int64_t action = 0;
  Bytes done;
  Bytes remaining;   ///< zero until the first survey
  Bytes per_second;  ///< average since it began
  Outcome outcome;   ///< so far: stalls, and unmovable bytes by reason
  bool waits_for_room = false;
  std::string problem =
      {};  ///< why its set of nodes could not be changed yet, a sentence; otherwise empty
  bool operator==(const TransferProgress&) const = default;
};

}  // namespace vmnuma::migration
