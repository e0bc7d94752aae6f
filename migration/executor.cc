// SPDX-License-Identifier: Apache-2.0
#include "migration/executor.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "migration/transfer_order.h"

namespace vmnuma::migration {

namespace {

constexpr Microseconds kRoomLookInterval{1'000'000};
constexpr std::int64_t kMostRoomLooks = 5;

void keep_earliest(std::optional<Microseconds>& next, Microseconds at) {
  next = next ? std::min(*next, at) : at;
}

bool overlap(const Order& a, const Order& b) {
  return std::any_of(a.changes.begin(), a.changes.end(),
                     [&](const VmChange& change) { return b.concerns(change.vm); });
}

/// True if both pin a VM's threads, or both move its memory.
bool make_same_changes(const VmChange& a, const VmChange& b) {
  return a.vm == b.vm &&
         ((!a.pins.empty() && !b.pins.empty()) || (changes_memory(a) && changes_memory(b)));
}

bool make_same_changes(const Order& a, const Order& b) {
  return std::any_of(a.changes.begin(), a.changes.end(), [&](const VmChange& one) {
    return std::any_of(b.changes.begin(), b.changes.end(),
                       [&](const VmChange& other) { return make_same_changes(one, other); });
  });
}

}  // namespace

Executor::Executor(DomainControl& control, PageMover& mover, Journal& journal, Limits limits)
    : ports_{control, mover, journal}, limits_(std::move(limits)) {
  pacer_.set_rates(limits_.bytes_per_second, limits_.vm_bytes_per_second);
}

void Executor::set_limits(Limits limits) {
  limits_ = std::move(limits);
  pacer_.set_rates(limits_.bytes_per_second, limits_.vm_bytes_per_second);
}

void Executor::drop_waiting(const std::function<bool(const Order&)>& is_dropped,
                            const std::string& why) {
  std::erase_if(waiting_, [&](const Order& order) {
    if (!is_dropped(order)) {
      return false;
    }
    ActionEvent& dropped = events_.emplace_back(event_of(order, ActionEvent::Kind::kFinished));
    dropped.state = ActionState::kDropped;
    dropped.detail = why;
    return true;
  });
}

void Executor::submit(Order order) {
  drop_waiting([&](const Order& older) { return make_same_changes(older, order); },
               fmt::format("superseded by action {} before it began", order.action));
  waiting_.push_back(std::move(order));
}

void Executor::cancel(const VmId& vm) {
  drop_waiting([&](const Order& order) { return order.concerns(vm); }, "cancelled before it began");
  for (ActionRun& run : runs_) {
    run.cancel(vm, "cancelled");
  }
}

void Executor::recover(const std::vector<OpenAction>& open, Microseconds now) {
  for (const OpenAction& action : open) {
    runs_.emplace_back(action, room_, now);
  }
}

ExecutorStep Executor::step(Microseconds now) {
  now_ = now;
  remove_closed();
  std::optional<Microseconds> next;
  if (step_runs(now, next) || begin_next(now)) {
    next = now;
  } else if (!paused_) {
    if (const auto moved_until = move_pages(now, next)) {
      next = moved_until;
    }
  }
  return {.events = std::exchange(events_, {}), .next_at = next};
}

bool Executor::step_runs(Microseconds now, std::optional<Microseconds>& next) {
  for (ActionRun& run : runs_) {
    if (!run.has_step(paused_)) {
      continue;
    }
    if (const Microseconds ready_at = run.ready_at(now); ready_at > now) {
      keep_earliest(next, ready_at);
      continue;
    }
    step_run(run, now);
    return true;
  }
  return false;
}

void Executor::step_run(ActionRun& run, Microseconds now) {
  const bool pinned_before = run.pins_made();
  run.step(ports_, limits_, now, events_);
  if (run.pins_made() && !pinned_before) {
    supersede_older(run);
  }
}

bool Executor::begin_next(Microseconds now) {
  if (paused_) {
    return false;
  }
  for (auto order = waiting_.begin(); order != waiting_.end(); ++order) {
    const bool settles_elsewhere = std::any_of(
        runs_.begin(), runs_.end(),
        [&](const ActionRun& run) { return run.settling() && overlap(run.order(), *order); });
    if (settles_elsewhere) {
      continue;
    }
    runs_.emplace_back(std::move(*order), room_, now);
    waiting_.erase(order);
    step_run(runs_.back(), now);
    return true;
  }
  return false;
}

std::optional<Microseconds> Executor::move_pages(Microseconds now,
                                                 std::optional<Microseconds>& next) {
  std::vector<Candidate> ready;
  for (ActionRun& run : runs_) {
    for (MemoryWork& work : run.memory()) {
      if (!work.moving()) {
        continue;
      }
      Transfer& transfer = work.transfer();
      if (transfer.waits_for_room()) {
        look_for_room(work, now);
        if (transfer.waits_for_room()) {
          keep_earliest(next, work.turn.next_room_look.value_or(now + kRoomLookInterval));
          continue;
        }
      }
      if (transfer.ready_at() > now) {
        keep_earliest(next, transfer.ready_at());
        continue;
      }
      Bytes allowed;
      if (const Bytes wanted = transfer.wants(); wanted > Bytes{}) {
        const Allowance allowance = pacer_.allow(now, work.vm(), wanted);
        if (const auto* later = std::get_if<Microseconds>(&allowance)) {
          keep_earliest(next, *later);
          continue;
        }
        allowed = std::get<Bytes>(allowance);
      }
      ready.push_back({&run, &work, allowed});
    }
  }
  if (ready.empty()) {
    return std::nullopt;
  }
  const Candidate chosen = choose(ready);
  const TransferStep done = chosen.work->step(ports_, limits_, now, chosen.allowed);
  if (done.moved > Bytes{}) {
    pacer_.charge(now, chosen.work->vm(), done.moved);
    moved_by_all_ += done.moved;
    chosen.work->turn.room_looks = 0;
  }
  return now + done.elapsed;
}

Executor::Candidate Executor::choose(const std::vector<Candidate>& ready) {
  std::vector<Contender> contenders;
  for (const Candidate& candidate : ready) {
    const bool mid_window = candidate.run->action() == last_action_ &&
                            candidate.work->vm() == last_vm_ &&
                            !candidate.work->transfer().between_windows();
    if (mid_window) {
      return candidate;
    }
    const Prediction& predicted = candidate.run->order().predicted;
    const Bytes remaining = sum_of(candidate.run->memory(), [](const MemoryWork& work) {
      return work.transfer().remaining();
    });
    contenders.push_back({.gain = predicted.lost_before - predicted.lost_after,
                          .action_remaining = remaining,
                          .last_served = candidate.work->turn.last_served});
  }
  ++turn_;
  const Candidate& chosen = ready[next_contender(contenders, turn_)];
  chosen.work->turn.last_served = turn_;
  last_action_ = chosen.run->action();
  last_vm_ = chosen.work->vm();
  return chosen;
}

void Executor::look_for_room(MemoryWork& work, Microseconds now) {
  MemoryWork::Turn& turn = work.turn;
  if (!turn.next_room_look) {
    turn.next_room_look = now + kRoomLookInterval;
    turn.moved_by_all = moved_by_all_;
    return;
  }
  if (turn.moved_by_all != moved_by_all_) {
    turn.moved_by_all = moved_by_all_;
    turn.room_looks = 0;
  } else if (now < *turn.next_room_look) {
    return;
  } else if (++turn.room_looks >= kMostRoomLooks) {
    turn = {.last_served = turn.last_served};
    work.transfer().give_up_room(now);
    return;
  }
  turn.next_room_look = now + kRoomLookInterval;
  work.transfer().retry_room(now);
}

void Executor::supersede_older(const ActionRun& newer) {
  for (ActionRun& run : runs_) {
    if (&run == &newer) {
      continue;
    }
    for (const VmChange& change : newer.order().changes) {
      if (changes_memory(change)) {
        run.stop_memory(change.vm, fmt::format("superseded by action {}", newer.action()));
      }
    }
  }
}

void Executor::remove_closed() {
  std::vector<VmId> ended;
  for (const ActionRun& run : runs_) {
    for (const VmChange& change : run.order().changes) {
      if (run.closed()) {
        ended.push_back(change.vm);
      }
    }
  }
  runs_.remove_if([](const ActionRun& run) { return run.closed(); });
  for (const VmId& vm : ended) {
    if (std::none_of(runs_.begin(), runs_.end(),
                     [&](const ActionRun& run) { return run.order().concerns(vm); })) {
      pacer_.forget(vm);
    }
  }
}

std::vector<TransferProgress> Executor::transfers() const {
  std::vector<TransferProgress> rows;
  for (const ActionRun& run : runs_) {
    for (const MemoryWork& work : run.memory()) {
      if (work.done()) {
        continue;
      }
      const Transfer& transfer = work.transfer();
      const Bytes moved = transfer.outcome().moved;
      const std::int64_t milliseconds =
          std::max<std::int64_t>(1, (now_ - work.began_at()).value / 1000);
      rows.push_back({.vm = work.vm(),
                      .action = run.action(),
                      .done = moved,
                      .remaining = transfer.remaining(),
                      .per_second = moved * 1000 / milliseconds,
                      .outcome = transfer.outcome(),
                      .waits_for_room = transfer.waits_for_room(),
                      .problem = work.problem()});
    }
  }
  return rows;
}

}  // namespace vmnuma::migration
