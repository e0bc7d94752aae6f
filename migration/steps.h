// SPDX-License-Identifier: Apache-2.0
/// The steps of an order, their numbers and texts in the journal, and where to resume after a
/// crash.
///
/// Numbers: in an order with P pins and C changed VMs, pins have the numbers 1..P in the order of
/// the changes, the memory of change c has P + c + 1, and taking back pin k has P + C + 1 + P - k;
/// so the number alone identifies a step. Properties: numbers are unique; after a crash before the
/// last pin every begun pin is undone, after a later one memory is moved again; a step without an
/// outcome counts as possibly done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "migration/journal.h"
#include "migration/limits.h"
#include "migration/order.h"

namespace vmnuma::migration {

/// A pin's position in its order.
struct PinStep {
  std::size_t change = 0;
  std::size_t pin = 0;
  bool operator==(const PinStep&) const = default;
};
/// All pins of the order, as they are made.
[[nodiscard]] std::vector<PinStep> pin_steps(const Order& order);

/// The step number of the pin at `index` in pin_steps(order), from 0.
[[nodiscard]] std::int32_t pin_number(std::size_t index);
[[nodiscard]] std::int32_t memory_number(const Order& order, std::size_t change);
[[nodiscard]] std::int32_t undo_number(const Order& order, std::size_t index);

/// "vCPU 3 of 'web1' to CPUs 8-15"; an empty set is "any CPU".
[[nodiscard]] std::string pin_text(const Order& order, PinStep step);
/// "vCPU 3 of 'web1' back to CPUs 0-7".
[[nodiscard]] std::string undo_text(const Order& order, PinStep step);
/// "memory of 'web1' to node 1", or "memory of 'web1' may use nodes 0-3".
[[nodiscard]] std::string memory_text(const VmChange& change);

/// What to do with an action that was open when the program ended.
struct ResumePoint {
  enum class Next { kNothingDone, kUndoPins, kMoveMemory };
  Next next{};
  std::size_t pins_begun = 0;  ///< for kUndoPins: number of pins that may have been made
  bool operator==(const ResumePoint&) const = default;
};
[[nodiscard]] ResumePoint resume_point(const OpenAction& open);

}  // namespace vmnuma::migration
