// SPDX-License-Identifier: Apache-2.0
/// One order on its way from the journal's opening entry to its closing one.
///
/// Problem: an order touches a VM in many calls, each of which can fail, and the program can die
/// between any two of them. Approach: a machine of small steps, each at most one call. Whatever can
/// be checked beforehand is checked first (same process, no job, room for the memory); then the
/// threads are pinned, all or none (PinWork); then the memory follows (MemoryWork). Memory that
/// does not move is no reason to take pins back. After a crash the journal's rows say where to
/// resume (steps.h).
///
/// Terms: Settling: up to the memory phase; no other order may pin threads of its VMs.
///
/// Properties:
///  - closed as done only with all pins made; as undone or dropped only with none made, unless the
///    detail names those that could not be taken back;
///  - no effect without its journal row, except that pins are taken back even if the journal is
///    gone;
///  - no call reaches a domain that was restarted under the same UUID.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "migration/journal.h"
#include "migration/limits.h"
#include "migration/memory_work.h"
#include "migration/order.h"
#include "migration/pin_work.h"
#include "migration/ports.h"
#include "migration/progress.h"
#include "migration/room_book.h"
#include "migration/steps.h"

namespace vmnuma::migration {

/// Members: the order with its two works, its phase, and what happened to it meanwhile.
class ActionRun {
 public:
  /// A new order. `room` must outlive this object.
  ActionRun(Order order, RoomBook& room, Microseconds now);
  /// An order that was open when the program ended.
  ActionRun(const OpenAction& open, RoomBook& room, Microseconds now);

  [[nodiscard]] std::int64_t action() const { return order_.action; }
  [[nodiscard]] const Order& order() const { return order_; }
  [[nodiscard]] bool concerns(const VmId& vm) const;
  [[nodiscard]] bool settling() const { return phase_ < Phase::kMemory; }
  /// Its VMs have their new home; page moves of older orders are no longer wanted.
  [[nodiscard]] bool pins_made() const { return pins_made_; }
  [[nodiscard]] bool closed() const { return phase_ == Phase::kClosed; }

  /// True if the next step is not a page move. While page moves are paused, only steps that finish
  /// something count.
  [[nodiscard]] bool has_step(bool paused) const;
  /// No step before this time.
  [[nodiscard]] Microseconds ready_at(Microseconds now);
  /// Makes at most one call; appends what the controller needs to know.
  void step(const Ports& ports, const Limits& limits, Microseconds now,
            std::vector<ActionEvent>& events);

  /// The memory of its VMs; empty before the pins are made.
  [[nodiscard]] std::vector<MemoryWork>& memory() { return memory_; }
  [[nodiscard]] const std::vector<MemoryWork>& memory() const { return memory_; }

  /// Before the memory phase: takes everything back. After that: stops this VM's page moves where
  /// they are; a set of memory nodes that is still to be restored stays open.
  void cancel(const VmId& vm, const std::string& why);
  /// Stops this VM's page moves where they are.
  void stop_memory(const VmId& vm, const std::string& why);

 private:
  enum class Phase { kOpen, kCheck, kFree, kSurvey, kRoom, kPins, kMemory, kClose, kClosed };
  /// Whether all its memory has room.
  struct RoomCheck {
    std::vector<RoomNeed> needs;
    std::vector<NodeId> targets;  ///< nodes that receive memory
    std::map<NodeId, NodeMemory> nodes;
  };
  struct Ending {
    ActionState state{};
    std::string detail;
    Attempts attempts;    ///< at the closing entry
    bool is_open = true;  ///< false: the journal could not be written when it was to be opened
  };

  void open(const Ports& ports, std::vector<ActionEvent>& events);
  void check(const Ports& ports, const Limits& limits, std::vector<ActionEvent>& events);
  void look_for_job(const Ports& ports, const Limits& limits, std::vector<ActionEvent>& events);
  void checked(const Limits& limits, std::vector<ActionEvent>& events);
  void next_survey(const Limits& limits, std::vector<ActionEvent>& events);
  void survey(const Ports& ports, const Limits& limits, std::vector<ActionEvent>& events);
  void look_for_room(const Ports& ports, const Limits& limits, std::vector<ActionEvent>& events);
  void step_pins(const Ports& ports, const Limits& limits, std::vector<ActionEvent>& events);
  void after_pins(const Limits& limits, std::vector<ActionEvent>& events);
  void begin_memory(const Limits& limits, std::vector<ActionEvent>& events);
  void memory_step(const Ports& ports, const Limits& limits, std::vector<ActionEvent>& events);
  void finish_memory(std::vector<ActionEvent>& events);
  void close(const Ports& ports);

  [[nodiscard]] ActionEvent event(ActionEvent::Kind kind) const;
  void end(ActionState state, std::string detail, std::vector<ActionEvent>& events);

  Order order_;
  PinWork pins_;
  std::vector<MemoryWork> memory_;
  std::string memory_left_alone_;
  RoomBook& room_;
  RoomCheck room_check_;

  Phase phase_ = Phase::kOpen;
  std::size_t index_ = 0;  ///< of the next change or node
  bool pins_made_ = false;
  Ending ending_;
  Microseconds now_;
  Microseconds began_at_;

  std::optional<ResumePoint> resume_;  ///< set for an action from before a restart
  std::optional<std::string> cancelled_;
};

}  // namespace vmnuma::migration
