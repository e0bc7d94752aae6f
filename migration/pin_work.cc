// SPDX-License-Identifier: Apache-2.0
#include "migration/pin_work.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace vmnuma::migration {

namespace {

constexpr std::int64_t kMostUndoTries = 10;
constexpr std::int64_t kMostTriesOfAMissingThread = 3;
constexpr Microseconds kFirstUndoWait{100'000};
constexpr Microseconds kLongestUndoWait{30'000'000};

Result<void> set_pin(const Order& order, const Ports& ports, const Limits& limits, PinStep step,
                     bool back) {
  const VmChange& change = order.changes[step.change];
  const PinChange& pin = change.pins[step.pin];
  const auto& wanted = back ? pin.before : pin.after;
  const auto& cpus = wanted.empty() ? limits.all_cpus : wanted;
  return ports.control.pin(run_of(change), {pin.thread, pin.number}, cpus);
}

}  // namespace

PinWork::PinWork(const Order& order)
    : pins_(pin_steps(order)),
      vanished_(order.changes.size()),
      phase_(pins_.empty() ? Phase::kMade : Phase::kBegin) {}

bool PinWork::all_vanished() const {
  return std::find(vanished_.begin(), vanished_.end(), false) == vanished_.end();
}

std::string PinWork::why_taken_back(const Order& order) const {
  std::string why = cause_;
  for (std::size_t change = 0; change < vanished_.size(); ++change) {
    why += vanished_[change] ? fmt::format("; '{}' ended", order.changes[change].vm_name) : "";
  }
  return why + not_restored_;
}

void PinWork::step(const Order& order, const Ports& ports, const Limits& limits, Microseconds now) {
  switch (phase_) {
    case Phase::kBegin:
      return begin(order, ports);
    case Phase::kCheck:
      return check(order, ports);
    case Phase::kPin:
      return pin(order, ports, limits);
    case Phase::kEnd:
      return end(order, ports);
    case Phase::kUndoBegin:
      return undo_begin(order, ports);
    case Phase::kUndoCheck:
      return undo_check(order, ports);
    case Phase::kUndo:
      return undo(order, ports, limits, now);
    case Phase::kUndoEnd:
      return undo_end(order, ports);
    case Phase::kMade:
    case Phase::kTakenBack:
      return;
  }
}

void PinWork::begin(const Order& order, const Ports& ports) {
  const auto begun =
      ports.journal.begin_step(order.action, pin_number(index_), pin_text(order, pins_[index_]));
  if (begun) {
    phase_ = Phase::kCheck;
  } else {
    take_back("the journal could not be written: " + begun.error().message);
  }
}

void PinWork::check(const Order& order, const Ports& ports) {
  const auto alive = ports.mover.check(order.changes[pins_[index_].change].process);
  phase_ = Phase::kPin;
  if (!alive) {
    pin_failed(order, alive.error());
  }
}

void PinWork::pin(const Order& order, const Ports& ports, const Limits& limits) {
  const auto pinned = set_pin(order, ports, limits, pins_[index_], /*back=*/false);
  step_outcome_ = kStepSucceeded;
  phase_ = Phase::kEnd;
  if (!pinned) {
    pin_failed(order, pinned.error());
  }
}

void PinWork::pin_failed(const Order& order, const Error& error) {
  step_outcome_ = error.message;
  cause_ = fmt::format("pinning {} failed: {}", pin_text(order, pins_[index_]), error.message);
  phase_ = Phase::kEnd;
}

void PinWork::end(const Order& order, const Ports& ports) {
  const auto ended = ports.journal.end_step(order.action, pin_number(index_), step_outcome_);
  ++index_;
  if (step_outcome_ != kStepSucceeded) {
    take_back(std::exchange(cause_, {}));
  } else if (!ended) {
    take_back("the journal could not be written: " + ended.error().message);
  } else {
    phase_ = index_ < pins_.size() ? Phase::kBegin : Phase::kMade;
  }
}

void PinWork::take_back(std::size_t pins_begun, std::string cause) {
  cause_ = std::move(cause);
  index_ = pins_begun;
  next_undo();
}

void PinWork::next_undo() {
  attempts_.reset_failures();
  while (index_ > 0 && vanished_[pins_[index_ - 1].change]) {
    --index_;
  }
  phase_ = index_ > 0 ? Phase::kUndoBegin : Phase::kTakenBack;
}

void PinWork::undo_begin(const Order& order, const Ports& ports) {
  const std::size_t pin = index_ - 1;
  // A journal that cannot be written must not leave a VM half moved: after a crash every begun pin
  // is taken back anyway.
  (void)ports.journal.begin_step(order.action, undo_number(order, pin),
                                 undo_text(order, pins_[pin]));
  phase_ = Phase::kUndoCheck;
}

/// Checks the process before every try. Whatever else the answer is, what was begun must be taken
/// back.
void PinWork::undo_check(const Order& order, const Ports& ports) {
  const std::size_t change = pins_[index_ - 1].change;
  const auto alive = ports.mover.check(order.changes[change].process);
  phase_ = Phase::kUndo;
  if (!alive && alive.error().code == ErrorCode::kVanished) {
    vanished_[change] = true;
    next_undo();
  }
}

void PinWork::undo(const Order& order, const Ports& ports, const Limits& limits, Microseconds now) {
  const PinStep step = pins_[index_ - 1];
  const auto restored = set_pin(order, ports, limits, step, /*back=*/true);
  if (restored) {
    restored_ = true;
    step_outcome_ = kStepSucceeded;
    phase_ = Phase::kUndoEnd;
    return;
  }
  const Error& error = restored.error();
  const std::int64_t most_tries = error.is_gone() ? kMostTriesOfAMissingThread : kMostUndoTries;
  if (is_transient(error) || attempts_.failures() + 1 < most_tries) {
    attempts_.failed(now, kFirstUndoWait, kLongestUndoWait);
    phase_ = Phase::kUndoCheck;
    return;
  }
  step_outcome_ = error.message;
  phase_ = Phase::kUndoEnd;
  if (error.is_gone()) {
    step_outcome_ = "there is no such thread any more";
  } else {
    not_restored_ +=
        fmt::format("; {} failed and is left so: {}", undo_text(order, step), error.message);
  }
}

void PinWork::undo_end(const Order& order, const Ports& ports) {
  // A failure is ignored for the same reason as in undo_begin().
  (void)ports.journal.end_step(order.action, undo_number(order, index_ - 1), step_outcome_);
  --index_;
  next_undo();
}

}  // namespace vmnuma::migration
