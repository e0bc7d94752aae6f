// SPDX-License-Identifier: Apache-2.0
/// Bringing one VM's memory home.
///
/// Problem: hundreds of GiB must be moved while the guest runs, without stalling it, without
/// filling a node, and with an honest account of what could not be moved. The kernel's answers are
/// only partly to be trusted, and whether an address belongs to a huge page is not told. Approach:
/// a machine of small steps, each at most one call to the PageMover, so that the same code runs on
/// a worker thread and in simulated time. A pass: survey the mappings (MemoryParts); then window by
/// window ask where the pages are (PageScan), and move those that must go (PageMoves). A last
/// survey says what is left; if much came to lie elsewhere meanwhile, another pass follows, at most
/// three. An interrupted transfer needs no memory of where it was: a new one asks first and skips
/// what is home.
///
/// Properties:
///  - only pages that are not where they belong, as far as is known, are submitted, all of a call
///    to one node;
///  - every page ends moved, at home, or counted by a reason;
///  - the number of calls is bounded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "migration/page_moves.h"

namespace vmnuma::migration {

/// Not thread-safe; executor worker only.
class Transfer {
 public:
  /// With no quotas there is nothing to step. `room` must outlive this object, which is `holder`
  /// there.
  Transfer(placement::VmProcess process, MemoryChange change, RoomBook& room,
           const RoomBook::Holder& holder);

  [[nodiscard]] bool finished() const { return phase_ == Phase::kFinished; }
  /// Why it ended early: vanished, permission-denied, or an error that did not go away.
  [[nodiscard]] const std::optional<Error>& error() const { return state_.setbacks.error(); }
  /// No step before this time: the back-off after a failure or before the next round.
  [[nodiscard]] placement::Microseconds ready_at() const { return state_.setbacks.ready_at(); }
  /// No home has room for the next pages; continues after retry_room or give_up_room.
  [[nodiscard]] bool waits_for_room() const {
    return phase_ == Phase::kMove && moves_.waits_for_room();
  }
  /// How much the next step but one would like to move. Zero: it needs no allowance.
  [[nodiscard]] placement::Bytes wants() const {
    return phase_ == Phase::kMove ? moves_.wants() : placement::Bytes{};
  }
  /// True at the points where it is as well to go on with another VM's transfer.
  [[nodiscard]] bool between_windows() const;

  /// At most one call. Only when neither finished nor waiting for room nor before ready_at.
  /// `allowed` is what pacing grants, asked for if wants() is not zero.
  TransferStep step(PageMover& mover, const Limits& limits, placement::Microseconds now,
                    placement::Bytes allowed);

  /// Somebody may have made room; looks again.
  void retry_room(placement::Microseconds now);
  /// Nobody will make room: pages that fit nowhere are left, the others go on.
  void give_up_room(placement::Microseconds now);
  /// Ends it where it is.
  void stop();

  [[nodiscard]] const Outcome& outcome() const { return state_.outcome; }
  /// Where the memory is has been read at least once; before that, nothing is known to remain.
  [[nodiscard]] bool surveyed() const { return state_.parts.surveyed(); }
  /// What still has to travel, as far as is known.
  [[nodiscard]] placement::Bytes remaining() const;
  /// Why the memory of the guest's cells could not be told apart, so that all of it is shared out
  /// over the homes; empty if it could, or needs not be.
  [[nodiscard]] const std::string& cells_unknown_because() const {
    return state_.parts.cells_unknown_because();
  }

 private:
  enum class Phase { kSurvey, kQuery, kReveal, kMove, kFinished };

  void survey(PageMover& mover, placement::Microseconds now);
  void begin_pass(MemoryParts::Survey survey);
  [[nodiscard]] bool another_pass_pays(placement::Bytes left, placement::Bytes total) const;
  void next_window(placement::Microseconds now);
  placement::Bytes query(PageMover& mover, placement::Microseconds now);
  placement::Bytes check_assumption(PageMover& mover, placement::Microseconds now);
  void reveal(PageMover& mover, placement::Microseconds now);
  placement::Bytes move_window(placement::Microseconds now);
  placement::Bytes count_retried();
  void after_moves(placement::Microseconds now);
  void finish();

  Phase phase_ = Phase::kSurvey;
  std::int64_t pass_ = 0;
  placement::Bytes bound_by_policy_;
  TransferState state_;
  PageMoves moves_;
};

}  // namespace vmnuma::migration
