// SPDX-License-Identifier: Apache-2.0
/// One order on its way from the journal's opening entry to its closing one.
///
/// Problem: an order touches a VM in many calls, each of which can fail, and the program can die
/// between any two of them. A VM must never be left with some threads on the old home and some on
/// the new one. Approach: a machine of small steps, each at most one call. Everything that can be
/// looked at beforehand is (same process, room for the memory); then the pins are made one by one,
/// each with its journal row before it and only if the process still is the same; then the memory
/// follows (MemoryWork). A pin that fails, or a journal that cannot be written, takes back every
/// pin that was begun, the failed one included because a call that reports a failure may have taken
/// effect, in reverse order. Taking back is tried again with back-off: without end while libvirt is
/// not there, ten times otherwise. Memory that does not move is no reason to take pins back. After
/// a crash the journal's rows say where to go on (steps.h).
///
/// Terms: Settling: before the memory; nobody else may pin threads of its VMs.
///
/// Properties:
///  - closed done only with all pins made, undone or dropped only with none made, unless the detail
///    says which could not be taken back;
///  - no effect without its journal row, except that pins are taken back even if the journal is
///    gone;
///  - threads that no longer exist need not be taken back;
///  - nothing reaches a domain that was started anew under the same UUID: before every effect the
///    process is compared, and the call itself compares the domain's id.
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
#include "migration/ports.h"
#include "migration/progress.h"
#include "migration/room_book.h"
#include "migration/steps.h"

namespace vmnuma::migration {

class ActionRun {
 public:
  /// A new order. `room` must outlive this object.
  ActionRun(Order order, RoomBook& room, placement::Microseconds now);
  /// One that was open when the program ended.
  ActionRun(const OpenAction& open, RoomBook& room, placement::Microseconds now);

  [[nodiscard]] std::int64_t action() const { return order_.action; }
  [[nodiscard]] const Order& order() const { return order_; }
  [[nodiscard]] bool concerns(const placement::VmId& vm) const;
  [[nodiscard]] bool settling() const { return phase_ < Phase::kMemory; }
  /// Its VMs have their new home; page moves of older orders are no longer wanted.
  [[nodiscard]] bool pins_made() const { return pins_made_; }
  [[nodiscard]] bool closed() const { return phase_ == Phase::kClosed; }

  /// True if the next step is no page move. While page moves are paused, only what ends something
  /// is a step.
  [[nodiscard]] bool has_step(bool paused) const;
  /// No step before this time.
  [[nodiscard]] placement::Microseconds ready_at() const { return ready_at_; }
  /// At most one call; appends what the controller is to know.
  void step(const Ports& ports, const Limits& limits, placement::Microseconds now,
            std::vector<ActionEvent>& events);

  /// The memory of its VMs; empty before the pins are made.
  [[nodiscard]] std::vector<MemoryWork>& memory() { return memory_; }
  [[nodiscard]] const std::vector<MemoryWork>& memory() const { return memory_; }

  /// Before the memory: takes everything back. Afterwards: ends this VM's page moves where they
  /// are.
  void cancel(const placement::VmId& vm, const std::string& why);
  /// Ends this VM's page moves where they are.
  void stop_memory(const placement::VmId& vm, const std::string& why);

 private:
  enum class Phase {
    kOpen,
    kCheck,
    kSurvey,
    kRoom,
    kPinBegin,
    kPinCheck,
    kPin,
    kPinEnd,
    kUndoBegin,
    kUndoCheck,
    kUndo,
    kUndoEnd,
    kMemory,
    kClose,
    kClosed
  };

  void open(const Ports& ports, std::vector<ActionEvent>& events);
  void check(const Ports& ports, const Limits& limits, std::vector<ActionEvent>& events);
  void checked(const Limits& limits, std::vector<ActionEvent>& events);
  void next_survey(const Limits& limits, std::vector<ActionEvent>& events);
  void survey(const Ports& ports, const Limits& limits, std::vector<ActionEvent>& events);
  void look_for_room(const Ports& ports, const Limits& limits, std::vector<ActionEvent>& events);
  void begin_pins(const Limits& limits, std::vector<ActionEvent>& events);
  void pin_begin(const Ports& ports, std::vector<ActionEvent>& events);
  void pin_check(const Ports& ports);
  void pin(const Ports& ports, const Limits& limits);
  void pin_failed(const Error& error);
  void pin_end(const Ports& ports, const Limits& limits, std::vector<ActionEvent>& events);
  void take_back(std::size_t pins_begun, std::string cause, std::vector<ActionEvent>& events);
  void next_undo(std::vector<ActionEvent>& events);
  void undo_begin(const Ports& ports);
  void undo_check(const Ports& ports, std::vector<ActionEvent>& events);
  void undo(const Ports& ports, const Limits& limits);
  void undo_end(const Ports& ports, std::vector<ActionEvent>& events);
  void begin_memory(const Limits& limits, std::vector<ActionEvent>& events);
  void memory_step(const Ports& ports, const Limits& limits, std::vector<ActionEvent>& events);
  void finish_memory(std::vector<ActionEvent>& events);
  void close(const Ports& ports);

  [[nodiscard]] Result<void> set_pin(const Ports& ports, const Limits& limits, PinStep step,
                                     bool back) const;
  [[nodiscard]] const VmChange& changed(std::size_t change) const { return order_.changes[change]; }
  [[nodiscard]] ActionEvent event(ActionEvent::Kind kind) const;
  void end(ActionState state, std::string detail, std::vector<ActionEvent>& events);
  void wait(placement::Microseconds first, placement::Microseconds longest);

  Order order_;
  RoomBook& room_;
  std::vector<PinStep> pins_;
  std::optional<ResumePoint> resume_;  ///< set for an action of before a restart
  Phase phase_ = Phase::kOpen;
  placement::Microseconds now_;
  placement::Microseconds began_at_;
  placement::Microseconds ready_at_;
  std::int64_t tries_ = 0;  ///< of the call that is being tried again

  std::size_t index_ = 0;       ///< of the change, node or pin that is next
  std::vector<bool> vanished_;  ///< by change
  std::vector<RoomNeed> needs_;
  std::vector<placement::NodeId> targets_;  ///< nodes that memory comes to
  std::map<placement::NodeId, NodeMemory> nodes_;

  std::string step_outcome_;  ///< of the pin just made or taken back
  std::optional<std::string> cancelled_;
  std::string cause_;         ///< why pins are taken back
  std::string not_restored_;  ///< pins that could not be taken back
  bool restored_ = false;     ///< at least one was

  bool pins_made_ = false;
  std::vector<MemoryWork> memory_;
  std::string memory_left_alone_;

  ActionState state_{};
  std::string detail_;
};

}  // namespace vmnuma::migration
