// SPDX-License-Identifier: Apache-2.0
#include "migration/action_run.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "placement/base/sorted.h"

namespace vmnuma::migration {

namespace {

constexpr Microseconds kFirstCloseWait{1'000'000};
/// The number of attempts to close an entry that the journal has probably never opened.
constexpr std::int64_t kMostClosesInDoubt = 5;
constexpr Microseconds kLongestCloseWait{60'000'000};

}  // namespace

ActionRun::ActionRun(Order order, RoomBook& room, Microseconds now)
    : order_(std::move(order)), pins_(order_), room_(room), now_(now), began_at_(now) {}

ActionRun::ActionRun(const OpenAction& open, RoomBook& room, Microseconds now)
    : ActionRun(open.order, room, now) {
  resume_ = resume_point(open);
  phase_ = Phase::kCheck;
}

bool ActionRun::has_step(bool paused) const {
  if (phase_ == Phase::kClosed) {
    return false;
  }
  if (phase_ != Phase::kMemory) {
    return true;
  }
  const auto is_step = [paused](const MemoryWork& work) {
    return !work.done() && !work.moving() && (!paused || work.ending());
  };
  const auto is_done = [](const MemoryWork& work) { return work.done(); };
  return std::any_of(memory_.begin(), memory_.end(), is_step) ||
         std::all_of(memory_.begin(), memory_.end(), is_done);
}

Microseconds ActionRun::ready_at(Microseconds now) {
  if (phase_ == Phase::kPins) {
    return pins_.ready_at(now);
  }
  if (phase_ != Phase::kMemory) {
    return ending_.attempts.ready_at(now);
  }
  std::optional<Microseconds> first;
  for (MemoryWork& work : memory_) {
    if (!work.done() && !work.moving()) {
      const Microseconds ready = work.ending() ? now : work.ready_at(now);
      first = std::min(first.value_or(ready), ready);
    }
  }
  return first.value_or(now);
}

void ActionRun::step(const Ports& ports, const Limits& limits, Microseconds now,
                     std::vector<ActionEvent>& events) {
  now_ = now;
  switch (phase_) {
    case Phase::kOpen:
      return open(ports, events);
    case Phase::kCheck:
      return check(ports, limits, events);
    case Phase::kFree:
      return look_for_job(ports, limits, events);
    case Phase::kSurvey:
      return survey(ports, limits, events);
    case Phase::kRoom:
      return look_for_room(ports, limits, events);
    case Phase::kPins:
      return step_pins(ports, limits, events);
    case Phase::kMemory:
      return memory_step(ports, limits, events);
    case Phase::kClose:
      return close(ports);
    case Phase::kClosed:
      return;
  }
}

void ActionRun::open(const Ports& ports, std::vector<ActionEvent>& events) {
  events.push_back(event(ActionEvent::Kind::kStarted));
  if (const auto opened = ports.journal.open(order_); !opened) {
    end(ActionState::kDropped,
        "not begun, because the journal could not be written: " + opened.error().message, events);
    ending_.is_open = false;
    return;
  }
  phase_ = Phase::kCheck;
}

void ActionRun::check(const Ports& ports, const Limits& limits, std::vector<ActionEvent>& events) {
  if (index_ < order_.changes.size()) {
    const VmChange& change = order_.changes[index_];
    const auto alive = ports.mover.check(change.process);
    if (!alive && resume_) {
      // Any other error is ignored: what was begun must be finished.
      if (alive.error().code == ErrorCode::kVanished) {
        pins_.record_vanished(index_);
      }
    } else if (!alive) {
      end(ActionState::kDropped,
          alive.error().code == ErrorCode::kVanished
              ? fmt::format("'{}' ended", change.vm_name)
              : fmt::format("'{}' could not be checked: {}", change.vm_name, alive.error().message),
          events);
      return;
    }
    ++index_;
  }
  if (index_ >= order_.changes.size()) {
    checked(limits, events);
  }
}

void ActionRun::checked(const Limits& limits, std::vector<ActionEvent>& events) {
  index_ = 0;
  if (cancelled_ && !resume_) {
    end(ActionState::kDropped, *cancelled_, events);
    return;
  }
  if (!resume_) {
    phase_ = Phase::kFree;
    return;
  }
  if (pins_.all_vanished()) {
    end(ActionState::kDropped, "the VM ended while the service was not running", events);
    return;
  }
  switch (resume_->next) {
    case ResumePoint::Next::kNothingDone:
      end(ActionState::kDropped, "the service ended before anything was changed", events);
      return;
    case ResumePoint::Next::kUndoPins:
      pins_.take_back(resume_->pins_begun, "the service ended before all threads were pinned");
      after_pins(limits, events);
      return;
    case ResumePoint::Next::kMoveMemory:
      begin_memory(limits, events);
      return;
  }
}

/// Without this check, each call for a VM with a job would hold up all other orders until libvirt
/// gives up.
void ActionRun::look_for_job(const Ports& ports, const Limits& limits,
                             std::vector<ActionEvent>& events) {
  if (index_ < order_.changes.size()) {
    const VmChange& change = order_.changes[index_];
    const auto free = ports.control.check_free(run_of(change));
    if (!free && free.error().code == ErrorCode::kBusy) {
      end(ActionState::kDropped,
          fmt::format("'{}' is left alone for now: {}", change.vm_name, free.error().message),
          events);
      return;
    }
    ++index_;
  }
  if (index_ >= order_.changes.size()) {
    index_ = 0;
    next_survey(limits, events);
  }
}

void ActionRun::next_survey(const Limits& limits, std::vector<ActionEvent>& events) {
  const auto comes_home = [](const HomeChange& home) { return home.to.value >= 0; };
  const auto moves_memory = [&](const VmChange& change) {
    return std::any_of(change.homes.begin(), change.homes.end(), comes_home) &&
           limits.move_memory && !change.memory.quotas.empty() &&
           change.memory_mode != MemoryMode::kHandsOff;
  };
  // Exempt: a VM without a home gets one even if its memory does not fit, a released one gets its
  // pins back, and a pull moves what it can.
  const bool needs_room =
      order_.reason != Reason::kInitialPlacement && order_.reason != Reason::kMemoryPull;
  while (index_ < order_.changes.size() && !(needs_room && moves_memory(order_.changes[index_]))) {
    ++index_;
  }
  if (index_ < order_.changes.size()) {
    phase_ = Phase::kSurvey;
    return;
  }
  std::vector<NodeId>& targets = room_check_.targets;
  for (const RoomNeed& need : room_check_.needs) {
    if (need.in > Bytes{}) {
      targets.push_back(need.node);
    }
  }
  targets = sorted_unique(std::move(targets));
  index_ = 0;
  if (targets.empty()) {
    after_pins(limits, events);
  } else {
    phase_ = Phase::kRoom;
  }
}

void ActionRun::survey(const Ports& ports, const Limits& limits, std::vector<ActionEvent>& events) {
  const VmChange& change = order_.changes[index_];
  const auto ranges = ports.mover.find_ranges(change.process);
  if (!ranges) {
    end(ActionState::kDropped,
        ranges.error().code == ErrorCode::kVanished
            ? fmt::format("'{}' ended", change.vm_name)
            : fmt::format("where the memory of '{}' is could not be read: {}", change.vm_name,
                          ranges.error().message),
        events);
    return;
  }
  const auto needs = room_needs(change.memory.quotas, *ranges);
  room_check_.needs.insert(room_check_.needs.end(), needs.begin(), needs.end());
  room_.promise({action(), change.vm}, needs);
  ++index_;
  next_survey(limits, events);
}

void ActionRun::look_for_room(const Ports& ports, const Limits& limits,
                              std::vector<ActionEvent>& events) {
  const NodeId target = room_check_.targets[index_];
  auto memory = ports.mover.node_memory(target);
  if (!memory) {
    end(ActionState::kDropped,
        fmt::format("how much memory node {} has could not be read: {}", target.value,
                    memory.error().message),
        events);
    return;
  }
  room_.record_reading(target, *memory, limits.node_reserve, now_);
  room_check_.nodes.emplace(target, std::move(*memory));
  if (++index_ < room_check_.targets.size()) {
    return;
  }
  if (const auto reason = why_no_room(room_check_.needs, room_check_.nodes, limits.node_reserve,
                                      room_.promised_to_others(action()))) {
    end(ActionState::kDropped, *reason, events);
    return;
  }
  after_pins(limits, events);
}

void ActionRun::step_pins(const Ports& ports, const Limits& limits,
                          std::vector<ActionEvent>& events) {
  if (cancelled_ && pins_.between_pins()) {
    pins_.take_back(*cancelled_);
  } else {
    pins_.step(order_, ports, limits, now_);
  }
  after_pins(limits, events);
}

/// Continues according to the state of the pins, even if there are none.
void ActionRun::after_pins(const Limits& limits, std::vector<ActionEvent>& events) {
  phase_ = Phase::kPins;
  if (pins_.taking_back()) {
    room_.release(action());
  }
  if (pins_.made()) {
    begin_memory(limits, events);
  } else if (pins_.taken_back()) {
    end(pins_.changed_anything() ? ActionState::kUndone : ActionState::kDropped,
        pins_.why_taken_back(order_), events);
  }
}

void ActionRun::begin_memory(const Limits& limits, std::vector<ActionEvent>& events) {
  if (!pins_.none()) {
    events.push_back(event(ActionEvent::Kind::kPinned));
  }
  phase_ = Phase::kMemory;
  pins_made_ = true;
  for (std::size_t change = 0; change < order_.changes.size(); ++change) {
    const VmChange& vm = order_.changes[change];
    if (!changes_memory(vm)) {
      continue;
    }
    if (!vm.memory.quotas.empty() &&
        (!limits.move_memory || vm.memory_mode == MemoryMode::kHandsOff)) {
      memory_left_alone_ += fmt::format(
          "; memory of '{}' is left alone because {}", vm.vm_name,
          limits.move_memory ? "its memory mode is hands-off" : "page migration is switched off");
      continue;
    }
    memory_.emplace_back(vm, action(), memory_number(order_, change), room_, now_);
    if (cancelled_) {
      memory_.back().stop(*cancelled_);
    }
  }
  if (memory_.empty()) {
    finish_memory(events);
  }
}

void ActionRun::memory_step(const Ports& ports, const Limits& limits,
                            std::vector<ActionEvent>& events) {
  // While page moves are paused, only work that is ending has a step, so it comes first.
  const auto ending = [](const MemoryWork& work) { return work.ending(); };
  const auto has_step = [this](MemoryWork& work) {
    return !work.done() && !work.moving() && work.ready_at(now_) <= now_;
  };
  auto next = std::find_if(memory_.begin(), memory_.end(), ending);
  if (next == memory_.end()) {
    next = std::find_if(memory_.begin(), memory_.end(), has_step);
  }
  if (next != memory_.end()) {
    next->step(ports, limits, now_, {});
  } else {
    finish_memory(events);
  }
}

void ActionRun::finish_memory(std::vector<ActionEvent>& events) {
  std::string detail = pins_.none() ? "" : "; all threads are pinned";
  bool all_vanished = !memory_.empty();
  for (const MemoryWork& work : memory_) {
    detail += "; " + work.summary();
    all_vanished = all_vanished && work.vanished();
  }
  detail += memory_left_alone_;
  end(all_vanished ? ActionState::kDropped : ActionState::kDone,
      detail.empty() ? "there was nothing to do" : detail.substr(2), events);
}

void ActionRun::close(const Ports& ports) {
  const auto closed = ports.journal.close(action(), ending_.state, ending_.detail);
  if (closed || closed.error().code == ErrorCode::kNotFound) {
    phase_ = Phase::kClosed;
    return;
  }
  ending_.attempts.failed(now_, kFirstCloseWait, kLongestCloseWait);
  if (!ending_.is_open && ending_.attempts.failures() >= kMostClosesInDoubt) {
    phase_ = Phase::kClosed;
  }
}

ActionEvent ActionRun::event(ActionEvent::Kind kind) const {
  ActionEvent event = event_of(order_, kind);
  event.took = now_ - began_at_;
  return event;
}

void ActionRun::end(ActionState state, std::string detail, std::vector<ActionEvent>& events) {
  room_.release(action());
  ending_.state = state;
  ending_.detail = std::move(detail);
  ActionEvent finished = event(ActionEvent::Kind::kFinished);
  finished.state = ending_.state;
  finished.detail = ending_.detail;
  for (const MemoryWork& work : memory_) {
    finished.outcome += work.transfer().outcome();
    finished.set_failed = finished.set_failed || work.set_failed();
  }
  events.push_back(std::move(finished));
  phase_ = Phase::kClose;
}

void ActionRun::cancel(const VmId& vm, const std::string& why) {
  if (!order_.concerns(vm)) {
    return;
  }
  if (settling()) {
    cancelled_ = why;
    return;
  }
  for (MemoryWork& work : memory_) {
    if (work.vm() == vm && work.problem().empty()) {
      work.stop(why);
    }
  }
}

void ActionRun::stop_memory(const VmId& vm, const std::string& why) {
  for (MemoryWork& work : memory_) {
    if (work.vm() == vm) {
      work.stop(why);
    }
  }
}

}  // namespace vmnuma::migration
