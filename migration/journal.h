// SPDX-License-Identifier: Apache-2.0
/// The port that records intents before they are carried out, so that a crash leaves nothing half
/// done without a record. Implemented by the service over the history database and by an in-memory
/// fake.
///
/// A step is identified by its number together with the order (migration/steps.h); its text is for
/// humans. A step without an outcome was begun and may or may not have taken effect.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "migration/order.h"
#include "placement/base/names.h"
#include "placement/base/result.h"

namespace vmnuma::migration {

/// How an action ended.
enum class ActionState {
  kDone,     ///< the pins are as ordered; the detail says what happened to the memory
  kUndone,   ///< a pin failed, and those already made were taken back
  kDropped,  ///< nothing was changed, or the VM ended
};
[[nodiscard]] constexpr auto names(ActionState) {
  return names_in_order<ActionState>("done", "undone", "dropped");
}

/// The outcome of a successful step. Any other text is the reason of a failure.
inline constexpr std::string_view kStepSucceeded = "ok";

struct JournalStep {
  std::int32_t number = 0;
  std::string text;
  std::optional<std::string> outcome;
  bool operator==(const JournalStep&) const = default;
};

/// An action that was opened and not closed.
struct OpenAction {
  Order order;
  std::vector<JournalStep> steps;  ///< ascending number
  bool operator==(const OpenAction&) const = default;
};

/// All calls block until the record would survive a crash of this program; executor worker only.
/// Errors of all: io, no-space, busy, corrupt; not-found for an action that is not open.
class Journal {
 public:
  virtual ~Journal() = default;

  [[nodiscard]] virtual Result<void> open(const Order& order) = 0;
  /// If the step was begun before, replaces the earlier record of that number.
  [[nodiscard]] virtual Result<void> begin_step(std::int64_t action, std::int32_t number,
                                                std::string_view text) = 0;
  [[nodiscard]] virtual Result<void> end_step(std::int64_t action, std::int32_t number,
                                              std::string_view outcome) = 0;
  [[nodiscard]] virtual Result<void> close(std::int64_t action, ActionState state,
                                           std::string_view detail) = 0;
  /// Ascending action number.
  [[nodiscard]] virtual Result<std::vector<OpenAction>> open_actions() = 0;
};

}  // namespace vmnuma::migration
