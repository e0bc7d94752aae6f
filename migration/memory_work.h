// SPDX-License-Identifier: Apache-2.0
/// The memory side of one VM's change, from its first journal row to its last.
///
/// Problem: page moves have to be journalled, and the set of nodes that libvirt allows may have to
/// change (mode kMask, a released VM, a VM that is no longer masked). When that set shrinks,
/// libvirt copies everything outside it in one go, with its lock held, ignoring rates and reserves.
/// Approach: write the journal row; widen the set to the union of old and final; transfer; if next
/// to nothing is left, and nothing for lack of room, narrow to the final set and check where the
/// memory is now, because success does not mean moved; write the journal row. A failure here never
/// takes pins back, because memory that stays where it is is not a broken state. The exception is a
/// released VM whose set is not the one it was found with: nothing would correct that later. There,
/// a failed change of the set is retried with back-off, indefinitely while libvirt is unavailable
/// or a job of the VM keeps it busy, ten times otherwise. The work stays open meanwhile, even while
/// the program does not run.
///
/// Terms: Final set: MemoryChange::allowed_after if given, otherwise the homes in mode kMask,
/// otherwise none, and the set is left alone.
///
/// Properties:
///  - the set is never narrowed while libvirt would have to copy more than a little;
///  - widening never removes a node that the VM has by then, whatever it had when the order was
///    made;
///  - the process is checked before every change of the set, so that a restarted domain is left
///    alone;
///  - what is left is reported with its reason.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "migration/back_off.h"
#include "migration/limits.h"
#include "migration/order.h"
#include "migration/ports.h"
#include "migration/transfer.h"

namespace vmnuma::migration {

class MemoryWork {
 public:
  /// `number` is this work's step number in the journal. `room` must outlive this object.
  MemoryWork(const VmChange& change, std::int64_t action, std::int32_t number, RoomBook& room,
             Microseconds now);

  [[nodiscard]] const VmId& vm() const { return change_.vm; }
  [[nodiscard]] bool done() const { return phase_ == Phase::kDone; }
  /// True if the next step belongs to the transfer, whose timing is up to pacing and fairness.
  [[nodiscard]] bool moving() const { return phase_ == Phase::kTransfer; }
  /// True if only the last journal row is missing.
  [[nodiscard]] bool ending() const { return phase_ == Phase::kEnd; }
  [[nodiscard]] bool vanished() const;
  /// Why the set of nodes could not be changed, while that is being retried; otherwise empty.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  /// True if a change of the set of nodes failed and is not retried any more.
  [[nodiscard]] bool set_failed() const { return set_failed_; }
  /// The earliest time of the next step that is not a page move.
  [[nodiscard]] Microseconds ready_at(Microseconds now) { return attempts_.ready_at(now); }
  [[nodiscard]] Transfer& transfer() { return transfer_; }
  [[nodiscard]] const Transfer& transfer() const { return transfer_; }
  [[nodiscard]] Microseconds began_at() const { return began_at_; }

  /// Makes at most one call. `allowed` as in Transfer::step.
  TransferStep step(const Ports& ports, const Limits& limits, Microseconds now, Bytes allowed);
  /// Stops the work where it is; `why` becomes part of the summary.
  void stop(const std::string& why);

  /// "memory of 'web1': moved 1.9 GiB, left 0 B".
  [[nodiscard]] std::string summary() const;

  /// State for the executor's turns.
  struct Turn {
    std::int64_t last_served = 0;
    std::int64_t room_looks = 0;                 ///< consecutive, without success
    std::optional<Microseconds> next_room_look;  ///< set while it waits for room
    Bytes moved_by_all;                          ///< at the last look
  };
  Turn turn;

 private:
  enum class Phase {
    kBegin,
    kCheckToWiden,
    kWiden,
    kTransfer,
    kCheckToNarrow,
    kNarrow,
    kLookAgain,
    kEnd,
    kDone
  };

  void begin(const Ports& ports);
  /// True if the process is still the VM's.
  [[nodiscard]] bool still_runs(const Ports& ports);
  void widen(const Ports& ports, Microseconds now);
  void narrow(const Ports& ports, Microseconds now);
  /// Returns whether the change of the set succeeded. Notes a failure, unless it is to be retried.
  [[nodiscard]] bool succeeded(const Result<void>& set, const char* how, Microseconds now);
  void after_widening();
  void after_transfer();
  void look_again(const Ports& ports);
  void end(const Ports& ports);
  void note(const std::string& text);

  VmChange change_;
  std::vector<NodeId> final_nodes_;  ///< the final set; empty: it is left alone
  std::vector<NodeId> wide_nodes_;   ///< allowed while pages move; empty: left unchanged
  std::int64_t action_;
  std::int32_t number_;
  Microseconds began_at_;
  Phase phase_ = Phase::kBegin;
  Transfer transfer_;
  std::string notes_;
  Attempts attempts_;  ///< at changing the set
  std::string problem_;
  bool set_failed_ = false;
  bool widened_ = false;
  bool gone_ = false;  ///< the VM ended
};

}  // namespace vmnuma::migration
