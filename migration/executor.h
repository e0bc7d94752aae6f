// SPDX-License-Identifier: Apache-2.0
/// Carries orders out: one call at a time, journalled, paced, undone on failure.
///
/// Problem: orders arrive faster than memory can be moved, pages of several VMs are in flight at
/// once, each under the administrator's rate limits, and the program may be stopped or die at any
/// moment. Approach: a step machine without a clock or a thread of its own. Each step makes at most
/// one blocking call through a port, so the same code runs on a live worker thread and in simulated
/// time. Steps that settle or close an action come first, then the next waiting order, then page
/// moves by usefulness (transfer_order.h). A transfer to a full target waits while moves of other
/// transfers may make room, and for at most five looks, a second apart, after the last of those
/// moves.
///
/// Terms: Run: an order being carried out (ActionRun).
///
/// Properties:
///  - orders of one VM begin in the order of submission, and never while another order of it
///    settles;
///  - every order ends with exactly one kFinished;
///  - a newer order of a VM ends the older one's page moves once its own pins are made;
///  - after a crash recover() leaves no VM half moved and no action open;
///  - nothing is moved faster than the rates allow, and all transfers together leave a node's
///    reserve free;
///  - while paused nothing is moved at all;
///  - an idle executor asks for no further step.
///
/// Thread: not thread-safe. One worker thread owns it and makes all calls; values go in and out.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "migration/action_run.h"
#include "migration/domain_control.h"
#include "migration/journal.h"
#include "migration/limits.h"
#include "migration/order.h"
#include "migration/pacing.h"
#include "migration/page_mover.h"
#include "migration/ports.h"
#include "migration/progress.h"
#include "migration/room_book.h"

namespace vmnuma::migration {

struct ExecutorStep {
  std::vector<ActionEvent> events;
  /// When to call again: at once if not later than now; later for pacing or a back-off. Includes
  /// the duration of the call, so that simulated time passes correctly. Empty: only after submit,
  /// cancel, resume or recover.
  std::optional<Microseconds> next_at;
};

/// Members: the orders by stage, their shared state, and the current turn.
class Executor {
 public:
  Executor(DomainControl& control, PageMover& mover, Journal& journal, Limits limits);

  /// Queues an order. It supersedes a waiting order that pins or moves the same things: that one
  /// finishes as dropped. A pull of memory and new CPUs of the same VM do not affect each other.
  void submit(Order order);
  /// The VM ended or must not be moved: a waiting order is dropped, a settling one is taken back,
  /// page moves stop where they are. Of an exchange that moves memory, only this VM's part.
  void cancel(const VmId& vm);
  /// Begins no order and moves no page until resume(). Settling orders are completed.
  void pause() { paused_ = true; }
  void resume() { paused_ = false; }
  /// What Journal::open_actions returned at the start, before the first submit.
  void recover(const std::vector<OpenAction>& open);

  /// Applies to calls from now on.
  void set_limits(Limits limits);
  /// While set, no page is moved: the host is short of memory.
  void set_memory_pressure(bool high) { pacer_.set_memory_pressure(high); }

  /// At most one blocking call. `now` is monotonic.
  [[nodiscard]] ExecutorStep step(Microseconds now);

  /// Memory in flight, by action and VM.
  [[nodiscard]] std::vector<TransferProgress> transfers() const;
  /// Nothing is waiting, settling, moving or still to be closed.
  [[nodiscard]] bool idle() const { return waiting_.empty() && runs_.empty() && events_.empty(); }

 private:
  struct Candidate {
    ActionRun* run = nullptr;
    MemoryWork* work = nullptr;
    Bytes allowed;
  };

  bool step_runs(Microseconds now, std::optional<Microseconds>& next);
  bool begin_next(Microseconds now);
  std::optional<Microseconds> move_pages(Microseconds now, std::optional<Microseconds>& next);
  void step_run(ActionRun& run, Microseconds now);
  void look_for_room(MemoryWork& work, Microseconds now);
  [[nodiscard]] Candidate choose(const std::vector<Candidate>& ready);
  void supersede_older(const ActionRun& newer);
  void drop_waiting(const Order& order, const std::string& why);
  void remove_closed();

  Ports ports_;
  Limits limits_;
  Pacer pacer_;
  RoomBook room_;
  std::deque<Order> waiting_;
  std::list<ActionRun> runs_;  ///< a list keeps their addresses stable; in order of begin
  std::vector<ActionEvent> events_;
  bool paused_ = false;
  Microseconds now_;
  std::int64_t turn_ = 0;
  std::int64_t last_action_ = 0;  ///< its window is being worked on
  VmId last_vm_;
  Bytes moved_by_all_;
};

}  // namespace vmnuma::migration
