// SPDX-License-Identifier: Apache-2.0
/// Who sets the limits of a unit of the service manager. Implemented by SystemdControl, and by a
/// fake in tests.
#pragma once

#include <string>

#include "placement/model/memory_state.h"
#include "placement/result.h"

namespace vmnuma::balancer {

class UnitControl {
 public:
  virtual ~UnitControl() = default;
  /// All settings of MemoryLimits at once, until the unit or the host ends. Blocks. Errors:
  /// unavailable (nobody answers, or not in time), permission-denied, not-found (no such unit), io.
  [[nodiscard]] virtual Result<void> set_memory(const std::string& unit,
                                                const placement::MemoryLimits& limits) = 0;
};

}  // namespace vmnuma::balancer
