// SPDX-License-Identifier: Apache-2.0
/// Who sets the limits of a unit of the service manager. Implemented by SystemdControl, and by a
/// fake in tests.
#pragma once

#include <string>

#include "placement/base/result.h"
#include "placement/model/memory_state.h"

namespace vmnuma::balancer {

class UnitControl {
 public:
  virtual ~UnitControl() = default;
  /// All settings of MemoryLimits at once, until the unit or the host ends. Blocks. Errors:
  /// unavailable (nobody answers, or not in time), permission-denied, not-found (no such unit), io.
  [[nodiscard]] virtual Result<void> set_memory(const std::string& unit,
                                                const placement::MemoryLimits& limits) = 0;
  /// Whether the unit has such settings already, until the host ends: somebody else's, if
  /// set_memory() was not called before. Errors: as set_memory().
  [[nodiscard]] virtual Result<bool> has_memory_settings(const std::string& unit) = 0;
  /// Takes away what is kept of set_memory(), which also outlives the unit, and would be another
  /// one's by the same name. What is in force stays. Returns when that is begun. Errors: as
  /// set_memory().
  [[nodiscard]] virtual Result<void> remove_memory_settings(const std::string& unit) = 0;
};

}  // namespace vmnuma::balancer
