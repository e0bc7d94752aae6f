// SPDX-License-Identifier: Apache-2.0
/// The pins of an order: all of them, or none.
///
/// Problem: each thread is pinned by a call of its own, which can fail, and a VM must never be left
/// with some threads on the old home and some on the new one. Approach: one by one, each with its
/// journal row before it and only if the process still is the same. A pin that fails, or a journal
/// that cannot be written, takes back every pin that was begun, the failed one included because a
/// call that reports a failure may have taken effect, in reverse order. Taking back is tried again
/// with back-off: without end while libvirt is not there, ten times otherwise.
///
/// Properties:
///  - no pin without its journal row, but pins are taken back even if the journal is gone;
///  - threads that no longer exist need not be taken back;
///  - nothing reaches a domain that was started anew under the same UUID: before every call the
///    process is compared, and the call itself compares the domain's id.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "migration/back_off.h"
#include "migration/limits.h"
#include "migration/order.h"
#include "migration/ports.h"
#include "migration/steps.h"

namespace vmnuma::migration {

/// Not thread-safe; executor worker only. Every call is given the same order.
class PinWork {
 public:
  explicit PinWork(const Order& order);

  /// It pins no thread.
  [[nodiscard]] bool none() const { return pins_.empty(); }
  /// All of them are.
  [[nodiscard]] bool made() const { return phase_ == Phase::kMade; }
  /// They are, or are going to be, as they were.
  [[nodiscard]] bool taking_back() const { return phase_ >= Phase::kUndoBegin; }
  [[nodiscard]] bool taken_back() const { return phase_ == Phase::kTakenBack; }
  /// Once taken back: anything has been changed.
  [[nodiscard]] bool changed_anything() const { return restored_ || !not_restored_.empty(); }
  /// Once taken back: why, and which could not be.
  [[nodiscard]] std::string why_taken_back(const Order& order) const;
  /// The next step would make a pin.
  [[nodiscard]] bool between_pins() const { return phase_ == Phase::kBegin; }

  /// That VM's process is no more.
  void note_vanished(std::size_t change) { vanished_[change] = true; }
  [[nodiscard]] bool all_vanished() const;

  /// No step before this time.
  [[nodiscard]] placement::Microseconds ready_at() const { return attempts_.ready_at(); }
  /// At most one call. Neither when made nor when taken back.
  void step(const Order& order, const Ports& ports, const Limits& limits,
            placement::Microseconds now);
  /// Whatever was begun so far is taken back.
  void take_back(std::string cause) { take_back(index_, std::move(cause)); }
  /// The first so many may have been made.
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
  void undo(const Order& order, const Ports& ports, const Limits& limits,
            placement::Microseconds now);
  void undo_end(const Order& order, const Ports& ports);

  std::vector<PinStep> pins_;
  std::vector<bool> vanished_;  ///< by change
  Phase phase_;
  std::size_t index_ = 0;     ///< of the pin that is next; when taking back, behind it
  Attempts attempts_;         ///< at taking back a pin
  std::string step_outcome_;  ///< of the pin just made or taken back
  std::string cause_;         ///< why pins are taken back
  std::string not_restored_;  ///< pins that could not be taken back
  bool restored_ = false;     ///< at least one was
};

}  // namespace vmnuma::migration
