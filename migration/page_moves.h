// SPDX-License-Identifier: Apache-2.0
/// Moves the pages of one window of a transfer.
///
/// Problem: a call must neither stall the guest for long nor fill a node, one unmovable page ends
/// it early, and after a positive return the status array is unreliable. Approach: look up the
/// target's room (RoomBook), move one chunk (ChunkSize), and if the answer is uncertain, query
/// where the pages are. Failed pages go to PageScan for another try.
///
/// Terms: Chunk: the pages that one call moves.
///
/// Properties:
///  - a call moves at most what is allowed, what fits above the target's reserve together with what
///    other transfers move there, and one chunk; but it never splits a page;
///  - after a positive return no status is trusted without a query;
///  - every page ends up moved, at home, handed to PageScan, or counted by reason.
#pragma once

#include <span>
#include <vector>

#include "migration/chunk_size.h"
#include "migration/limits.h"
#include "migration/page_mover.h"
#include "migration/page_queue.h"
#include "migration/page_scan.h"
#include "migration/room_book.h"
#include "migration/setbacks.h"

namespace vmnuma::migration {

/// What one step cost.
struct TransferStep {
  Bytes moved;
  Microseconds elapsed;  ///< of a page migration call
};

/// State shared by searching and moving.
struct TransferState {
  VmProcess process;
  MemoryParts parts;
  PageScan scan;
  Setbacks setbacks;
  Outcome outcome;
  Bytes moved_in_pass;

  [[nodiscard]] Destinations& destinations() { return parts.destinations(scan.range().part); }
  void count_left(Leftover reason, Bytes size) { outcome.left_because(reason) += size; }
  void count_moved(Bytes size) {
    outcome.moved += size;
    moved_in_pass += size;
  }
};

/// Not thread-safe; executor worker only. Every call must get the state of the same transfer.
class PageMoves {
 public:
  /// `room` must outlive this object, which is known there as `holder`.
  PageMoves(RoomBook& room, const RoomBook::Holder& holder) : room_(room), holder_(holder) {}

  /// Starts on the units of the scan's window, in ascending order. Only when done().
  void begin(std::vector<PageUnit> units, TransferState& state);
  /// True if nothing of the window remains to be moved.
  [[nodiscard]] bool done() const { return phase_ == Phase::kDone; }
  /// True if no home has room for the next pages; continues after retry_room or give_up_room.
  [[nodiscard]] bool waits_for_room() const { return phase_ == Phase::kBlocked; }
  /// The allowance that the next step needs, for the move that follows it; zero: none.
  [[nodiscard]] Bytes wants() const;
  /// Counted as moved by the parts' Destinations, but not moved yet.
  [[nodiscard]] Bytes planned() const { return queue_.planned(); }

  /// Makes at most one call. Not to be called when done() or when waiting for room.
  TransferStep step(TransferState& state, PageMover& mover, const Limits& limits, Microseconds now,
                    Bytes allowed);

  /// Only when waiting for room.
  void retry_room(TransferState& state);
  /// Only when waiting for room, for which nothing waits afterwards. Returns the pages to look at
  /// again.
  [[nodiscard]] std::vector<PageScan::Retry> give_up_room(TransferState& state);

  /// Counts a page that arrived along with its huge page, without a call of its own.
  void record_arrival(NodeId from, NodeId to, Bytes size, const TransferState& state) {
    room_.arrived(holder_, from, to, state.scan.pool(), size);
  }
  /// Ends the moves: no more pages are moved.
  void release() { room_.release(holder_); }

 private:
  enum class Phase { kRoom, kMove, kVerify, kBlocked, kDone };
  /// The call in progress.
  struct Call {
    Bytes granted;
    std::vector<PageUnit> units;
    MoveResult result;
    Microseconds stall_target;
    bool no_space = false;  ///< it ended because the target is full
  };
  /// The locations of the call's units, and of the last page of each unit that may be huge.
  struct Places {
    std::span<const int> first;
    std::span<const int> last;
  };

  TransferStep look_for_room(TransferState& state, PageMover& mover, const Limits& limits,
                             Microseconds now, Bytes allowed);
  TransferStep move(TransferState& state, PageMover& mover, const Limits& limits, Microseconds now);
  void move_failed(TransferState& state, const Error& error, Microseconds now);
  TransferStep verify(TransferState& state, PageMover& mover, Microseconds now);
  [[nodiscard]] bool is_certain() const;
  Bytes settle(TransferState& state, const Places& places);
  Bytes settle_moved(TransferState& state, const PageUnit& unit, bool whole,
                     std::vector<PageUnit>& again);
  void settle_failed(TransferState& state, const PageUnit& unit, int status,
                     std::vector<PageUnit>& again) const;

  [[nodiscard]] static PageQueue::Mapping mapping(TransferState& state);
  void plan_again(TransferState& state);
  void go_on();

  Phase phase_ = Phase::kDone;
  PageQueue queue_;
  /// Shared by all transfers. Reading a target's room costs about as much as moving a huge page, so
  /// it is read once per window's worth of pages.
  RoomBook& room_;
  RoomBook::Holder holder_;
  ChunkSize chunk_;
  Call call_;
};

}  // namespace vmnuma::migration
