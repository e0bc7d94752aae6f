// SPDX-License-Identifier: Apache-2.0
/// Moves one VM's memory home.
///
/// Problem: hundreds of GiB must be moved while the guest runs, without stalling it, without
/// filling a node, and with an honest account of what could not be moved. The kernel's answers are
/// only partly reliable, and nothing shows whether an address belongs to a huge page. Approach: a
/// state machine of small steps, each making at most one call to the PageMover, so that the same
/// code runs on a worker thread and in simulated time. A pass surveys the mappings (MemoryParts);
/// then, window by window, it queries where the pages are (PageScan) and moves those that must move
/// (PageMoves). A final survey shows what is left; if much has ended up elsewhere in the meantime,
/// another pass follows, at most three in all. An interrupted transfer needs no saved position: a
/// new one queries first and skips what is home.
///
/// Properties:
///  - only pages believed not to be where they belong are submitted, each call for one node;
///  - every page ends up moved, at home, or counted by reason;
///  - the number of calls is bounded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "migration/page_moves.h"

namespace vmnuma::migration {

/// Not thread-safe; executor worker only.
class Transfer {
 public:
  /// Without quotas there is nothing to do. `room` must outlive this object, which is known there
  /// as `holder`.
  Transfer(VmProcess process, MemoryChange change, RoomBook& room, const RoomBook::Holder& holder);

  [[nodiscard]] bool finished() const { return phase_ == Phase::kFinished; }
  /// Why it ended early: vanished, permission-denied, or a persistent error.
  [[nodiscard]] const std::optional<Error>& error() const { return state_.setbacks.error(); }
  /// The earliest time of the next step: after the back-off that follows a failure or precedes the
  /// next round.
  [[nodiscard]] Microseconds ready_at() const { return state_.setbacks.ready_at(); }
  /// True if no home has room for the next pages; continues after retry_room or give_up_room.
  [[nodiscard]] bool waits_for_room() const {
    return phase_ == Phase::kMove && moves_.waits_for_room();
  }
  /// The allowance that the next step needs, for the move that follows it; zero: none.
  [[nodiscard]] Bytes wants() const { return phase_ == Phase::kMove ? moves_.wants() : Bytes{}; }
  /// True between windows, where another VM's transfer may take its turn.
  [[nodiscard]] bool between_windows() const;

  /// Makes at most one call. Not to be called when finished, when waiting for room, or before
  /// ready_at. `allowed` is what pacing grants; it must be requested if wants() is not zero.
  TransferStep step(PageMover& mover, const Limits& limits, Microseconds now, Bytes allowed);

  /// Looks again, because room may have been made.
  void retry_room(Microseconds now);
  /// For when no room will be made: leaves the pages that fit nowhere and proceeds with the others.
  void give_up_room(Microseconds now);
  /// Stops the transfer where it is.
  void stop();

  [[nodiscard]] const Outcome& outcome() const { return state_.outcome; }
  /// True once the location of the memory has been read; before that, nothing is known to remain.
  [[nodiscard]] bool surveyed() const { return state_.parts.surveyed(); }
  /// What is still to be moved, to the extent that it is known.
  [[nodiscard]] Bytes remaining() const;
  /// Why the memory of the guest's cells could not be identified, so that all of it is divided over
  /// the homes; empty if it was, or did not need to be.
  [[nodiscard]] const std::string& cells_unknown_because() const {
    return state_.parts.cells_unknown_because();
  }

 private:
  enum class Phase { kSurvey, kQuery, kReveal, kMove, kFinished };

  void survey(PageMover& mover, Microseconds now);
  void begin_pass(MemoryParts::Survey survey);
  [[nodiscard]] bool another_pass_pays(Bytes left, Bytes total) const;
  void next_window(Microseconds now);
  Bytes query(PageMover& mover, Microseconds now);
  Bytes check_assumption(PageMover& mover, Microseconds now);
  void reveal(PageMover& mover, Microseconds now);
  Bytes move_window(Microseconds now);
  Bytes count_retried();
  void after_moves(Microseconds now);
  void finish();

  Phase phase_ = Phase::kSurvey;
  std::int64_t pass_ = 0;
  Bytes bound_by_policy_;
  TransferState state_;
  PageMoves moves_;
};

}  // namespace vmnuma::migration
