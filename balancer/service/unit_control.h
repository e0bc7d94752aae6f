// SPDX-License-Identifier: Apache-2.0
/// Sets the limits of units of the service manager. Implemented by SystemdControl, and by a fake in
/// tests.
#pragma once

#include <string>

#include "placement/base/result.h"
#include "placement/model/memory_state.h"

namespace vmnuma::balancer {

class UnitControl {
 public:
  virtual ~UnitControl() = default;
  /// Sets everything in MemoryLimits at once, until the unit or the host ends. Blocks. Errors:
  /// unavailable (no answer, or not in time), permission-denied, not-found (no such unit), io.
  [[nodiscard]] virtual Result<void> set_memory(const std::string& unit,
                                                const MemoryLimits& limits) = 0;
  /// True if the unit already has such settings, until the host ends. Unless set_memory() was
  /// called before, they are another program's. Errors: as set_memory().
  [[nodiscard]] virtual Result<bool> has_memory_settings(const std::string& unit) = 0;
  /// Removes the stored settings of set_memory(), which outlive the unit and would apply to a later
  /// one of the same name. What is in force stays. Returns once the removal has begun. Errors: as
  /// set_memory().
  [[nodiscard]] virtual Result<void> remove_memory_settings(const std::string& unit) = 0;
};

}  // namespace vmnuma::balancer
