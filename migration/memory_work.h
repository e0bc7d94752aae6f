// SPDX-License-Identifier: Apache-2.0
/// The memory side of one VM's change, from its first journal row to its last.
///
/// Problem: around the page moves there is the journal, and where the set of nodes that libvirt
/// allows is to be another (mode kMask, a VM that is released, a VM that is masked no longer),
/// libvirt copies all that lies outside a smaller set in one go, with its lock held, at any pace
/// and below any reserve. Approach: journal row; widen the set to what is allowed and what shall
/// be; transfer; if next to nothing is left, and nothing for lack of room, narrow the set to what
/// it shall be, and look where the memory is now, because success does not mean moved; journal row.
/// A failure here never takes pins back: memory that stays where it is is no broken state.
///
/// Terms: Final set: MemoryChange::allowed_after, else in mode kMask the homes, else there is none
/// and the set is left alone.
///
/// Properties:
///  - the set is never narrowed while more than a little would have to be copied by libvirt;
///  - it is never widened to less than the VM had;
///  - the process is compared before every change of the set, so that a domain that was started
///    anew is left alone;
///  - what is left is said with its reason.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "migration/limits.h"
#include "migration/order.h"
#include "migration/ports.h"
#include "migration/transfer.h"

namespace vmnuma::migration {

class MemoryWork {
 public:
  /// `number` is its step's in the journal. `room` must outlive this object.
  MemoryWork(const VmChange& change, std::int64_t action, std::int32_t number, RoomBook& room,
             placement::Microseconds now);

  [[nodiscard]] const placement::VmId& vm() const { return change_.vm; }
  [[nodiscard]] bool done() const { return phase_ == Phase::kDone; }
  /// The next step belongs to the transfer, so pacing and fairness decide when.
  [[nodiscard]] bool moving() const { return phase_ == Phase::kTransfer; }
  /// Only the last journal row is missing.
  [[nodiscard]] bool ending() const { return phase_ == Phase::kEnd; }
  [[nodiscard]] bool vanished() const;
  [[nodiscard]] Transfer& transfer() { return transfer_; }
  [[nodiscard]] const Transfer& transfer() const { return transfer_; }
  [[nodiscard]] placement::Microseconds began_at() const { return began_at_; }

  /// At most one call. `allowed` as in Transfer::step.
  TransferStep step(const Ports& ports, const Limits& limits, placement::Microseconds now,
                    placement::Bytes allowed);
  /// Ends it where it is; `why` becomes part of the summary.
  void stop(const std::string& why);

  /// "memory of 'web1': moved 1.9 GiB, left 0 B".
  [[nodiscard]] std::string summary() const;

  /// For the executor's turns.
  struct Turn {
    std::int64_t last_served = 0;
    std::int64_t room_looks = 0;                            ///< in vain, in a row
    std::optional<placement::Microseconds> next_room_look;  ///< set while it waits for room
    placement::Bytes moved_by_all;                          ///< when it last looked
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
  /// True if the process still is the VM's.
  [[nodiscard]] bool still_runs(const Ports& ports);
  [[nodiscard]] bool set_nodes(const Ports& ports, const std::vector<placement::NodeId>& nodes,
                               const char* how);
  void after_widening();
  void after_transfer();
  void look_again(const Ports& ports);
  void end(const Ports& ports);
  void note(const std::string& text);

  VmChange change_;
  std::vector<placement::NodeId> final_nodes_;  ///< the final set; empty: it is left alone
  std::vector<placement::NodeId> wide_nodes_;   ///< while pages move; empty: as it is
  std::int64_t action_;
  std::int32_t number_;
  placement::Microseconds began_at_;
  Phase phase_ = Phase::kBegin;
  Transfer transfer_;
  std::string notes_;
  bool widened_ = false;
  bool gone_ = false;  ///< the VM ended
};

}  // namespace vmnuma::migration
