// SPDX-License-Identifier: Apache-2.0
/// Carries out orders: one call at a time, journalled, paced, and undone on failure.
///
/// Problem: orders arrive faster than memory can be moved, pages of several VMs are in flight at
/// once, each under the administrator's rate limits, and the program may be stopped or die at any
/// moment. Approach: a state machine without a clock or a thread of its own. Each step makes at
/// most one blocking call through a port, so the same code runs on a live worker thread and in
/// simulated time. Steps that settle or close an action come first, then the next waiting order,
/// then page moves by usefulness (transfer_order.h). A transfer to a full target waits while moves
/// of other transfers may make room, and after the last of those moves for at most five more
/// checks, a second apart.
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
/// Thread: not thread-safe. One worker thread owns it and makes all calls; only values are passed
/// in and out.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
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
  /// When to call step() again: at once if not later than now; later for pacing or back-off.
  /// Includes the duration of the call, so that simulated time passes correctly. Empty: only after
  /// submit, cancel, set_paused or recover.
  std::optional<Microseconds> next_at;
};

/// Members: the orders by stage, their shared state, and the turn being served.
class Executor {
 public:
  Executor(DomainControl& control, PageMover& mover, Journal& journal, Limits limits);

  /// Queues an order. It supersedes a waiting order that pins or moves the same things, which then
  /// finishes as dropped. A memory pull and an order for new CPUs of the same VM do not affect each
  /// other.
  void submit(Order order);
  /// For a VM that ended or must not be moved: drops its waiting order, takes a settling one back,
  /// and stops page moves where they are. In an exchange that is already moving memory, only this
  /// VM's part stops.
  void cancel(const VmId& vm);
  /// While it is paused, no orders begin and no pages move. Settling orders are completed.
  void set_paused(bool paused) { paused_ = paused; }
  /// Takes up the result of Journal::open_actions at the start, before the first submit. `now` is
  /// monotonic.
  void recover(const std::vector<OpenAction>& open, Microseconds now);

  /// Applies from the next call on.
  void set_limits(Limits limits);
  /// While set, no page is moved: the host is short of memory.
  void set_memory_pressure(bool high) { pacer_.set_memory_pressure(high); }

  /// Makes at most one blocking call. `now` is monotonic.
  [[nodiscard]] ExecutorStep step(Microseconds now);

  /// The memory in flight, by action and VM.
  [[nodiscard]] std::vector<TransferProgress> transfers() const;
  /// True if nothing is waiting, settling, moving or still to be closed.
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
  void drop_waiting(const std::function<bool(const Order&)>& is_dropped, const std::string& why);
  void remove_closed();

  Ports ports_;
  Limits limits_;
  Pacer pacer_;
  RoomBook room_;
  std::deque<Order> waiting_;
  std::list<ActionRun> runs_;  ///< in order of begin; a list, so that their addresses are stable
  std::vector<ActionEvent> events_;
  bool paused_ = false;
  Microseconds now_;
  std::int64_t turn_ = 0;
  std::int64_t last_action_ = 0;  ///< of which a window is in progress
  VmId last_vm_;
  Bytes moved_by_all_;
};

}  // namespace vmnuma::migration
