// SPDX-License-Identifier: Apache-2.0
/// The pins of an order: all of them, or none.
///
/// Problem: each thread is pinned by a call of its own, which can fail, and a VM must never be left
/// with some threads on the old home and some on the new one. Approach: pin one by one, each after
/// its journal row and only if the process is still the same. If a pin fails or the journal cannot
/// be written, every pin that was begun is taken back in reverse order, including the failed one,
/// because a call that reports a failure may have taken effect. Taking back is retried with
/// back-off: indefinitely while libvirt is unavailable or a job of the VM keeps it busy, ten times
/// otherwise.
///
/// Properties:
///  - no pin without its journal row, but pins are taken back even if the journal is gone;
///  - threads that no longer exist need not be taken back;
///  - no call reaches a domain that was restarted under the same UUID: the process is checked
///    before every call, and the call itself compares the domain's id.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "migration/back_off.h"
#include "migration/limits.h"
#include "migration/order.h"
#include "migration/ports.h"
#include "migration/steps.h"

namespace vmnuma::migration {

/// Not thread-safe; executor worker only. Every call must get the same order.
class PinWork {
 public:
  explicit PinWork(const Order& order);

  /// True if the order pins no thread.
  [[nodiscard]] bool none() const { return pins_.empty(); }
  /// True if all pins are made.
  [[nodiscard]] bool made() const { return phase_ == Phase::kMade; }
  /// True if the pins have been, or are being, taken back.
  [[nodiscard]] bool taking_back() const { return phase_ >= Phase::kUndoBegin; }
  [[nodiscard]] bool taken_back() const { return phase_ == Phase::kTakenBack; }
  /// Once taken back: whether any pin had been changed.
  [[nodiscard]] bool changed_anything() const { return restored_ || !not_restored_.empty(); }
  /// Once taken back: the cause, and the pins that could not be.
  [[nodiscard]] std::string why_taken_back(const Order& order) const;
  /// True if the next step would make a pin.
  [[nodiscard]] bool between_pins() const { return phase_ == Phase::kBegin; }

  /// Records that the process of this VM has ended.
  void record_vanished(std::size_t change) { vanished_[change] = true; }
  [[nodiscard]] bool all_vanished() const;

  /// The earliest time of the next step.
  [[nodiscard]] Microseconds ready_at(Microseconds now) { return attempts_.ready_at(now); }
  /// Makes at most one call. Not to be called when made or taken back.
  void step(const Order& order, const Ports& ports, const Limits& limits, Microseconds now);
  /// Takes back everything begun so far.
  void take_back(std::string cause) { take_back(index_, std::move(cause)); }
  /// Takes back the first `pins_begun` pins, which may have been made.
  void take_back(std::size_t pins_begun, std::string cause);

 private:
  enum class Phase {
    kBegin,
    kCheck,
    kPin,
    kEnd,
    kMade,
    kUndoBegin,
    kUndoCheck,
    kUndo,
    kUndoEnd,
    kTakenBack
  };

  void begin(const Order& order, const Ports& ports);
  void check(const Order& order, const Ports& ports);
  void pin(const Order& order, const Ports& ports, const Limits& limits);
  void pin_failed(const Order& order, const Error& error);
  void end(const Order& order, const Ports& ports);
  void next_undo();
  void undo_begin(const Order& order, const Ports& ports);
  void undo_check(const Order& order, const Ports& ports);
  void undo(const Order& order, const Ports& ports, const Limits& limits, Microseconds now);
  void undo_end(const Order& order, const Ports& ports);

  std::vector<PinStep> pins_;
  std::vector<bool> vanished_;  ///< by change
  Phase phase_;
  std::size_t index_ = 0;     ///< the next pin; when taking back, one past it
  Attempts attempts_;         ///< at taking back a pin
  std::string step_outcome_;  ///< of the pin just made or taken back
  std::string cause_;         ///< why pins are taken back
  std::string not_restored_;  ///< pins that could not be taken back
  bool restored_ = false;     ///< at least one was
};

}  // namespace vmnuma::migration
