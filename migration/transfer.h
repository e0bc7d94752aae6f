// SPDX-License-Identifier: Apache-2.0
/// Bringing one VM's memory home.
///
/// Problem: hundreds of GiB must be moved while the guest runs, without stalling it, without
/// filling a node, and with an honest account of what could not be moved. The kernel's answers are
/// only partly to be trusted: after a positive return the status array is unreliable, one unmovable
/// page ends a call early, and whether an address belongs to a huge page is not told. Approach: a
/// machine of small steps, each at most one call to the PageMover, so that the same code runs on a
/// worker thread and in simulated time. A pass: survey the mappings; then window by window ask
/// where the pages are, plan those that must go (Destinations), look how much room the target has,
/// move one chunk, and where the answer is not certain ask again. Pages that failed are tried again
/// later, three rounds with back-off, and looked at a last time. A last survey says what is left;
/// if much came to lie elsewhere meanwhile, another pass follows, at most three. An interrupted
/// transfer needs no memory of where it was: a new one asks first and skips what is home.
///
/// Terms: Part: memory that belongs to the same homes, one guest NUMA cell's or all the rest.
/// Window: the pages one query asks about; where a mapping of small pages was all on one node, some
/// of them speak for all, and only those that did not arrive are asked about. A mapping in which as
/// much was found as the survey saw is not searched on: the rest, often most of it, are holes.
/// Chunk: the pages one call moves. Unit, block: page_window.h.
///
/// Properties:
///  - only pages that are not where they belong, as far as is known, are submitted, all of a call
///    to one node;
///  - no more bytes per call than allowed, than fit above the target's reserve together with what
///    others move there (RoomBook), and than one chunk, except that one page is always whole;
///  - after a positive return nothing is believed unasked;
///  - every page ends moved, at home, or counted by a reason;
///  - the number of calls is bounded;
///  - a range whose pages never move is given up after a bounded number of calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "migration/chunk_size.h"
#include "migration/destinations.h"
#include "migration/limits.h"
#include "migration/order.h"
#include "migration/outcome.h"
#include "migration/page_mover.h"
#include "migration/page_window.h"
#include "migration/room_book.h"

namespace vmnuma::migration {

/// What one step cost.
struct TransferStep {
  placement::Bytes moved;
  placement::Microseconds elapsed;  ///< of a page migration call
};

/// Not thread-safe; executor worker only.
class Transfer {
 public:
  /// With no quotas there is nothing to step. `room` must outlive this object, which is `holder`
  /// there.
  Transfer(placement::VmProcess process, MemoryChange change, RoomBook& room,
           const RoomBook::Holder& holder);

  [[nodiscard]] bool finished() const { return phase_ == Phase::kFinished; }
  /// Why it ended early: vanished, permission-denied, or an error that did not go away.
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  /// No step before this time: the back-off after a failure or before the next round.
  [[nodiscard]] placement::Microseconds ready_at() const { return ready_at_; }
  /// No home has room for the next pages; continues after retry_room or give_up_room.
  [[nodiscard]] bool waits_for_room() const { return phase_ == Phase::kBlocked; }
  /// How much the next step but one would like to move. Zero: it needs no allowance.
  [[nodiscard]] placement::Bytes wants() const;
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

  [[nodiscard]] const Outcome& outcome() const { return outcome_; }
  /// Where the memory is has been read at least once; before that, nothing is known to remain.
  [[nodiscard]] bool surveyed() const { return !parts_.empty(); }
  /// What still has to travel, as far as is known.
  [[nodiscard]] placement::Bytes remaining() const;
  /// Why the memory of the guest's cells could not be told apart, so that all of it is shared out
  /// over the homes; empty if it could, or needs not be.
  [[nodiscard]] const std::string& cells_unknown_because() const { return cells_unknown_because_; }

 private:
  enum class Phase { kSurvey, kQuery, kReveal, kRoom, kMove, kVerify, kBlocked, kFinished };
  struct Range {
    MemoryRange memory;
    std::size_t part = 0;
    placement::Bytes resident;     ///< by the survey, which sees hidden pages too
    placement::Bytes seen;         ///< by queries
    bool second_look = false;      ///< for huge pages that NUMA balancing has hidden
    std::int64_t stuck_calls = 0;  ///< in a row in which the kernel tried and nothing moved
    std::int64_t windows_not_probed =
        0;                         ///< still to pass before blocks are taken for huge pages again
    std::int64_t probe_pause = 1;  ///< how many the next time
    bool huge_so_far = false;      ///< the blocks that moved last were huge pages
    std::vector<std::uint64_t> blocks_to_ask;  ///< page by page, because a sample was not enough
    std::vector<std::uint64_t> pages_to_ask;   ///< because what was assumed of them was wrong
    std::optional<placement::NodeId> all_on;   ///< nearly all of the mapping is there, on this node
  };
  struct Retry {
    std::size_t range = 0;
    std::uint64_t address = 0;
    placement::NodeId from;
    Leftover reason{};
  };
  struct Window {
    std::size_t range = 0;
    std::vector<std::uint64_t> addresses;
    std::vector<Retry> retries;  ///< as addresses, if these are tried again
    bool look_for_huge = false;
    bool sampled = false;
    bool assumed = false;               ///< all is where Range::all_on says, if a spot check agrees
    std::vector<int> statuses;          ///< as last asked
    std::vector<std::uint64_t> hidden;  ///< what is to be revealed
    placement::Bytes hidden_unit;
    bool revealed = false;
    [[nodiscard]] bool is_retry() const { return !retries.empty(); }
  };

  TransferStep survey(PageMover& mover, placement::Microseconds now);
  TransferStep query(PageMover& mover, placement::Microseconds now);
  TransferStep check_assumption(PageMover& mover, placement::Microseconds now);
  [[nodiscard]] bool may_be_hidden(int status);
  [[nodiscard]] bool find_hidden();
  TransferStep reveal(PageMover& mover, placement::Microseconds now);
  TransferStep plan_window(placement::Microseconds now);
  TransferStep look_for_room(PageMover& mover, const Limits& limits, placement::Microseconds now,
                             placement::Bytes allowed);
  TransferStep move(PageMover& mover, const Limits& limits, placement::Microseconds now);
  TransferStep verify(PageMover& mover, placement::Microseconds now);

  void begin_pass(std::vector<MemoryRange> found);
  [[nodiscard]] std::optional<placement::NodeId> all_on(const Range& range) const;
  [[nodiscard]] std::vector<std::size_t> parts_of(const std::vector<MemoryRange>& found);
  [[nodiscard]] std::vector<NodeQuota> quotas_of(std::size_t part) const;
  [[nodiscard]] bool another_pass_pays(placement::Bytes left, placement::Bytes total) const;
  [[nodiscard]] bool has_window_left();
  void next_window(placement::Microseconds now);
  void begin_retry_round(placement::Microseconds now);
  placement::Bytes count_retried();
  void plan(std::vector<PageUnit> units);
  void plan_again();
  void go_on(placement::Microseconds now);
  void move_failed(const Error& error, placement::Microseconds now);
  placement::Bytes settle(const std::vector<int>& places, const std::vector<int>& last_places,
                          placement::Microseconds now);
  placement::Bytes settle_moved(const PageUnit& unit, bool whole, std::vector<PageUnit>& again);
  void settle_failed(const PageUnit& unit, int status, std::vector<PageUnit>& again);
  void settle_absent(const PageUnit& unit);
  void ask_again(const PageUnit& unit);
  void count_left(Leftover reason, placement::Bytes size) { outcome_.left_because(reason) += size; }
  void fail(const Error& error, std::int64_t& in_a_row, placement::Microseconds now);
  void finish();

  [[nodiscard]] bool is_home(std::size_t part, placement::NodeId node) const;
  [[nodiscard]] Range& range() { return ranges_[window_.range]; }
  [[nodiscard]] Destinations& destinations() { return parts_[range().part]; }
  [[nodiscard]] placement::Bytes pool() const;

  placement::VmProcess process_;
  MemoryChange change_;
  std::string cells_unknown_because_;
  Phase phase_ = Phase::kSurvey;
  placement::Microseconds ready_at_;
  std::optional<Error> error_;
  std::int64_t failed_reads_ = 0;  ///< in a row
  std::int64_t failed_moves_ = 0;  ///< in a row

  std::int64_t pass_ = 0;
  placement::Bytes moved_in_pass_;
  placement::Bytes bound_by_policy_;
  std::vector<Destinations> parts_;  ///< first what is no cell's, then by cell
  std::vector<Range> ranges_;        ///< largest first
  std::size_t next_range_ = 0;
  placement::Bytes next_offset_;

  Window window_;
  std::vector<PageUnit> queue_;   ///< planned, by target, then address
  std::vector<PageUnit> parked_;  ///< no home has room
  placement::Bytes planned_;      ///< counted as moved by parts_, but not moved yet
  std::vector<Retry> retry_;      ///< for the next round
  std::vector<Retry> retrying_;   ///< of this round, still to be asked about, in descending order
  std::int64_t retry_round_ = 0;

  /// Shared by all transfers. Reading a target's room costs about as much as moving a huge page, so
  /// it is done once for a window's worth of pages.
  RoomBook& room_;
  RoomBook::Holder holder_;
  placement::Bytes granted_;
  ChunkSize chunk_;
  std::vector<PageUnit> submitted_;
  MoveResult result_;
  placement::Microseconds stall_target_;
  bool no_space_ = false;  ///< the last call ended because the target ran full

  Outcome outcome_;
};

}  // namespace vmnuma::migration
