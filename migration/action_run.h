// SPDX-License-Identifier: Apache-2.0
/// Carries one order from its opening entry in the journal to its closing one.
///
/// Problem: an order touches a VM in many calls, each of which can fail, and the program can die
/// between any two of them. Approach: a state machine of small steps, each making at most one call.
/// Whatever can be checked beforehand is checked first (same process, no job, room for the memory);
/// then the threads are pinned, all or none (PinWork); then the memory follows (MemoryWork). Pins
/// are not taken back because memory fails to move. After a crash the journal's rows say where to
/// resume (steps.h).
///
/// Terms: Settling: the phases before the memory phase, during which no other order may pin threads
/// of this order's VMs.
///
/// Properties:
///  - an order is closed as done only with all pins made, and as undone or dropped only with none
///    made, unless the detail names those that could not be taken back;
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

/// Members: the order, its pin work and memory work, its phase, and what has happened to it so far.
class ActionRun {
 public:
  /// A new order. `room` must outlive this object.
  ActionRun(Order order, RoomBook& room, Microseconds now);
  /// An order that was open when the program ended.
  ActionRun(const OpenAction& open, RoomBook& room, Microseconds now);

  [[nodiscard]] std::int64_t action() const { return order_.action; }
  [[nodiscard]] const Order& order() const { return order_; }
  [[nodiscard]] bool settling() const { return phase_ < Phase::kMemory; }
  /// True once its VMs have their new homes; page moves of older orders are then obsolete.
  [[nodiscard]] bool pins_made() const { return pins_made_; }
  [[nodiscard]] bool closed() const { return phase_ == Phase::kClosed; }

  /// True if the next step is something other than a page move. While page moves are paused, steps
  /// of the memory phase count only if they finish one VM's memory or the order.
  [[nodiscard]] bool has_step(bool paused) const;
  /// The earliest time of the next step.
  [[nodiscard]] Microseconds ready_at(Microseconds now);
  /// Makes at most one call; appends what the controller needs to know.
  void step(const Ports& ports, const Limits& limits, Microseconds now,
            std::vector<ActionEvent>& events);

  /// The memory work of its VMs; empty until the pins are made.
  [[nodiscard]] std::vector<MemoryWork>& memory() { return memory_; }
  [[nodiscard]] const std::vector<MemoryWork>& memory() const { return memory_; }

  /// Before the memory phase: takes all pins back. From then on: stops this VM's page moves where
  /// they are; if its set of memory nodes is still to be restored, that work stays open.
  void cancel(const VmId& vm, const std::string& why);
  /// Stops this VM's page moves where they are.
  void stop_memory(const VmId& vm, const std::string& why);

 private:
  enum class Phase { kOpen, kCheck, kFree, kSurvey, kRoom, kPins, kMemory, kClose, kClosed };
  /// The check that there is room for all of its memory.
  struct RoomCheck {
    std::vector<RoomNeed> needs;
    std::vector<NodeId> targets;  ///< nodes that receive memory
    std::map<NodeId, NodeMemory> nodes;
  };
  struct Ending {
    ActionState state{};
    std::string detail;
    Attempts attempts;    ///< at the closing entry
    bool is_open = true;  ///< false: the opening entry could not be written
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
