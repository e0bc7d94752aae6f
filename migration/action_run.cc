// SPDX-License-Identifier: Apache-2.0
#include "migration/action_run.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace vmnuma::migration {

using placement::Microseconds;

namespace {

constexpr std::int64_t kMostUndoTries = 10;
constexpr std::int64_t kMostTriesOfAMissingThread = 3;
constexpr Microseconds kFirstUndoWait{100'000};
constexpr Microseconds kLongestUndoWait{30'000'000};
constexpr Microseconds kFirstCloseWait{1'000'000};
constexpr Microseconds kLongestCloseWait{60'000'000};

bool is_gone(const Error& error) {
  return error.code == ErrorCode::kNotFound || error.code == ErrorCode::kVanished;
}

}  // namespace

ActionRun::ActionRun(Order order, RoomBook& room, Microseconds now)
    : order_(std::move(order)),
      room_(room),
      pins_(pin_steps(order_)),
      now_(now),
      began_at_(now),
      vanished_(order_.changes.size()) {}

ActionRun::ActionRun(const OpenAction& open, RoomBook& room, Microseconds now)
    : ActionRun(open.order, room, now) {
  resume_ = resume_point(open);
  phase_ = Phase::kCheck;
}

bool ActionRun::concerns(const placement::VmId& vm) const {
  return std::any_of(order_.changes.begin(), order_.changes.end(),
                     [&](const VmChange& change) { return change.vm == vm; });
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

void ActionRun::step(const Ports& ports, const Limits& limits, Microseconds now,
                     std::vector<ActionEvent>& events) {
  now_ = now;
  switch (phase_) {
    case Phase::kOpen:
      return open(ports, events);
    case Phase::kCheck:
      return check(ports, limits, events);
    case Phase::kSurvey:
      return survey(ports, limits, events);
    case Phase::kRoom:
      return look_for_room(ports, limits, events);
    case Phase::kPinBegin:
      return pin_begin(ports, events);
    case Phase::kPinCheck:
      return pin_check(ports);
    case Phase::kPin:
      return pin(ports, limits);
    case Phase::kPinEnd:
      return pin_end(ports, limits, events);
    case Phase::kUndoBegin:
      return undo_begin(ports);
    case Phase::kUndoCheck:
      return undo_check(ports, events);
    case Phase::kUndo:
      return undo(ports, limits);
    case Phase::kUndoEnd:
      return undo_end(ports, events);
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
    return;
  }
  phase_ = Phase::kCheck;
}

void ActionRun::check(const Ports& ports, const Limits& limits, std::vector<ActionEvent>& events) {
  if (index_ < order_.changes.size()) {
    const VmChange& change = changed(index_);
    const auto alive = ports.mover.check(change.process);
    if (!alive && resume_) {
      // Whatever else the answer is, what was begun must be brought to an end.
      vanished_[index_] = alive.error().code == ErrorCode::kVanished;
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
    next_survey(limits, events);
    return;
  }
  if (std::find(vanished_.begin(), vanished_.end(), false) == vanished_.end()) {
    end(ActionState::kDropped, "the VM ended while the service was not running", events);
    return;
  }
  switch (resume_->next) {
    case ResumePoint::Next::kNothingDone:
      end(ActionState::kDropped, "the service ended before anything was changed", events);
      return;
    case ResumePoint::Next::kUndoPins:
      take_back(resume_->pins_begun, "the service ended before all threads were pinned", events);
      return;
    case ResumePoint::Next::kMoveMemory:
      begin_memory(limits, events);
      return;
  }
}

void ActionRun::next_survey(const Limits& limits, std::vector<ActionEvent>& events) {
  const auto comes_home = [](const HomeChange& home) { return home.to.value >= 0; };
  const auto moves_memory = [&](const VmChange& change) {
    return std::any_of(change.homes.begin(), change.homes.end(), comes_home) &&
           limits.move_memory && !change.memory.quotas.empty() &&
           change.memory_mode != placement::MemoryMode::kHandsOff;
  };
  // A VM without a home gets one even where its memory does not fit, one that is released gets
  // its pins back, and a pull moves what it can.
  const bool needs_room = order_.reason != placement::Reason::kInitialPlacement &&
                          order_.reason != placement::Reason::kMemoryPull;
  while (index_ < order_.changes.size() && !(needs_room && moves_memory(changed(index_)))) {
    ++index_;
  }
  if (index_ < order_.changes.size()) {
    phase_ = Phase::kSurvey;
    return;
  }
  for (const RoomNeed& need : needs_) {
    if (need.in > placement::Bytes{}) {
      targets_.push_back(need.node);
    }
  }
  std::sort(targets_.begin(), targets_.end());
  targets_.erase(std::unique(targets_.begin(), targets_.end()), targets_.end());
  index_ = 0;
  if (targets_.empty()) {
    begin_pins(limits, events);
  } else {
    phase_ = Phase::kRoom;
  }
}

void ActionRun::survey(const Ports& ports, const Limits& limits, std::vector<ActionEvent>& events) {
  const VmChange& change = changed(index_);
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
  needs_.insert(needs_.end(), needs.begin(), needs.end());
  room_.promise({action(), change.vm}, needs);
  ++index_;
  next_survey(limits, events);
}

void ActionRun::look_for_room(const Ports& ports, const Limits& limits,
                              std::vector<ActionEvent>& events) {
  auto memory = ports.mover.node_memory(targets_[index_]);
  if (!memory) {
    end(ActionState::kDropped,
        fmt::format("how much memory node {} has could not be read: {}", targets_[index_].value,
                    memory.error().message),
        events);
    return;
  }
  nodes_.emplace(targets_[index_], std::move(*memory));
  if (++index_ < targets_.size()) {
    return;
  }
  if (const auto reason =
          why_no_room(needs_, nodes_, limits.node_reserve, room_.promised_to_others(action()))) {
    end(ActionState::kDropped, *reason, events);
    return;
  }
  begin_pins(limits, events);
}

void ActionRun::begin_pins(const Limits& limits, std::vector<ActionEvent>& events) {
  index_ = 0;
  if (pins_.empty()) {
    begin_memory(limits, events);
  } else {
    phase_ = Phase::kPinBegin;
  }
}

void ActionRun::pin_begin(const Ports& ports, std::vector<ActionEvent>& events) {
  if (cancelled_) {
    take_back(index_, *cancelled_, events);
    return;
  }
  const auto begun =
      ports.journal.begin_step(action(), pin_number(index_), pin_text(order_, pins_[index_]));
  if (!begun) {
    take_back(index_, "the journal could not be written: " + begun.error().message, events);
    return;
  }
  phase_ = Phase::kPinCheck;
}

void ActionRun::pin_check(const Ports& ports) {
  const auto alive = ports.mover.check(changed(pins_[index_].change).process);
  phase_ = Phase::kPin;
  if (!alive) {
    pin_failed(alive.error());
  }
}

void ActionRun::pin(const Ports& ports, const Limits& limits) {
  const auto pinned = set_pin(ports, limits, pins_[index_], /*back=*/false);
  step_outcome_ = kStepSucceeded;
  phase_ = Phase::kPinEnd;
  if (!pinned) {
    pin_failed(pinned.error());
  }
}

void ActionRun::pin_failed(const Error& error) {
  step_outcome_ = error.message;
  cause_ = fmt::format("pinning {} failed: {}", pin_text(order_, pins_[index_]), error.message);
  phase_ = Phase::kPinEnd;
}

void ActionRun::pin_end(const Ports& ports, const Limits& limits,
                        std::vector<ActionEvent>& events) {
  const auto ended = ports.journal.end_step(action(), pin_number(index_), step_outcome_);
  ++index_;
  if (step_outcome_ != kStepSucceeded) {
    take_back(index_, cause_, events);
  } else if (!ended) {
    take_back(index_, "the journal could not be written: " + ended.error().message, events);
  } else if (index_ < pins_.size()) {
    phase_ = Phase::kPinBegin;
  } else {
    begin_memory(limits, events);
  }
}

void ActionRun::take_back(std::size_t pins_begun, std::string cause,
                          std::vector<ActionEvent>& events) {
  room_.release(action());
  cause_ = std::move(cause);
  index_ = pins_begun;
  next_undo(events);
}

void ActionRun::next_undo(std::vector<ActionEvent>& events) {
  tries_ = 0;
  while (index_ > 0 && vanished_[pins_[index_ - 1].change]) {
    --index_;
  }
  if (index_ > 0) {
    phase_ = Phase::kUndoBegin;
    return;
  }
  for (std::size_t change = 0; change < vanished_.size(); ++change) {
    cause_ += vanished_[change] ? fmt::format("; '{}' ended", changed(change).vm_name) : "";
  }
  end(restored_ || !not_restored_.empty() ? ActionState::kUndone : ActionState::kDropped,
      cause_ + not_restored_, events);
}

void ActionRun::undo_begin(const Ports& ports) {
  const std::size_t pin = index_ - 1;
  // A journal that cannot be written must not keep a VM half moved: after a crash every pin that
  // was begun is taken back anyway.
  (void)ports.journal.begin_step(action(), undo_number(order_, pin), undo_text(order_, pins_[pin]));
  phase_ = Phase::kUndoCheck;
}

/// Before every try. Whatever else the answer is, what was begun must be taken back.
void ActionRun::undo_check(const Ports& ports, std::vector<ActionEvent>& events) {
  const std::size_t change = pins_[index_ - 1].change;
  const auto alive = ports.mover.check(changed(change).process);
  phase_ = Phase::kUndo;
  if (!alive && alive.error().code == ErrorCode::kVanished) {
    vanished_[change] = true;
    next_undo(events);
  }
}

void ActionRun::undo(const Ports& ports, const Limits& limits) {
  const PinStep step = pins_[index_ - 1];
  const auto restored = set_pin(ports, limits, step, /*back=*/true);
  if (restored) {
    restored_ = true;
    step_outcome_ = kStepSucceeded;
    phase_ = Phase::kUndoEnd;
    return;
  }
  const Error& error = restored.error();
  const std::int64_t most_tries = is_gone(error) ? kMostTriesOfAMissingThread : kMostUndoTries;
  if (error.code == ErrorCode::kUnavailable || tries_ + 1 < most_tries) {
    wait(kFirstUndoWait, kLongestUndoWait);
    phase_ = Phase::kUndoCheck;
    return;
  }
  step_outcome_ = error.message;
  phase_ = Phase::kUndoEnd;
  if (is_gone(error)) {
    step_outcome_ = "there is no such thread any more";
  } else {
    not_restored_ +=
        fmt::format("; {} failed and is left so: {}", undo_text(order_, step), error.message);
  }
}

void ActionRun::undo_end(const Ports& ports, std::vector<ActionEvent>& events) {
  // As at its beginning.
  (void)ports.journal.end_step(action(), undo_number(order_, index_ - 1), step_outcome_);
  --index_;
  next_undo(events);
}

void ActionRun::begin_memory(const Limits& limits, std::vector<ActionEvent>& events) {
  if (!pins_.empty()) {
    events.push_back(event(ActionEvent::Kind::kPinned));
  }
  phase_ = Phase::kMemory;
  pins_made_ = true;
  for (std::size_t change = 0; change < order_.changes.size(); ++change) {
    const VmChange& vm = changed(change);
    const bool moves_pages = !vm.memory.quotas.empty();
    if (!moves_pages && vm.memory.allowed_after.empty()) {
      continue;
    }
    if (moves_pages &&
        (!limits.move_memory || vm.memory_mode == placement::MemoryMode::kHandsOff)) {
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
  // While page moves are paused only an ending one has a step, so those come first.
  const auto ending = [](const MemoryWork& work) { return work.ending(); };
  const auto has_step = [](const MemoryWork& work) { return !work.done() && !work.moving(); };
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
  std::string detail = pins_.empty() ? "" : "; all threads are pinned";
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
  const auto closed = ports.journal.close(action(), state_, detail_);
  if (closed || closed.error().code == ErrorCode::kNotFound) {
    phase_ = Phase::kClosed;
  } else {
    wait(kFirstCloseWait, kLongestCloseWait);
  }
}

Result<void> ActionRun::set_pin(const Ports& ports, const Limits& limits, PinStep step,
                                bool back) const {
  const VmChange& change = changed(step.change);
  const PinChange& pin = change.pins[step.pin];
  const auto& wanted = back ? pin.before : pin.after;
  const auto& cpus = wanted.empty() ? limits.all_cpus : wanted;
  switch (pin.thread) {
    case PinChange::Thread::kVcpu:
      return ports.control.pin_vcpu(run_of(change), pin.number, cpus);
    case PinChange::Thread::kEmulator:
      return ports.control.pin_emulator(run_of(change), cpus);
    case PinChange::Thread::kIoThread:
      return ports.control.pin_io_thread(run_of(change), pin.number, cpus);
  }
  return {};
}

ActionEvent ActionRun::event(ActionEvent::Kind kind) const {
  ActionEvent event{.kind = kind,
                    .action = action(),
                    .vms = {},
                    .state = {},
                    .detail = {},
                    .outcome = {},
                    .took = now_ - began_at_};
  for (const VmChange& change : order_.changes) {
    event.vms.push_back(change.vm);
  }
  return event;
}

void ActionRun::end(ActionState state, std::string detail, std::vector<ActionEvent>& events) {
  room_.release(action());
  state_ = state;
  detail_ = std::move(detail);
  ActionEvent finished = event(ActionEvent::Kind::kFinished);
  finished.state = state_;
  finished.detail = detail_;
  for (const MemoryWork& work : memory_) {
    finished.outcome += work.transfer().outcome();
  }
  events.push_back(std::move(finished));
  tries_ = 0;
  phase_ = Phase::kClose;
}

void ActionRun::wait(Microseconds first, Microseconds longest) {
  constexpr std::int64_t kMostDoublings = 20;
  ready_at_ =
      now_ + std::min(longest, first * (std::int64_t{1} << std::min(tries_, kMostDoublings)));
  ++tries_;
}

void ActionRun::cancel(const placement::VmId& vm, const std::string& why) {
  if (!concerns(vm)) {
    return;
  }
  if (settling()) {
    cancelled_ = why;
  } else {
    stop_memory(vm, why);
  }
}

void ActionRun::stop_memory(const placement::VmId& vm, const std::string& why) {
  for (MemoryWork& work : memory_) {
    if (work.vm() == vm) {
      work.stop(why);
    }
  }
}

}  // namespace vmnuma::migration
