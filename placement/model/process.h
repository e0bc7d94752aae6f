// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>

namespace vmnuma {

/// A process that cannot be mistaken for a later one with the same pid.
struct VmProcess {
  std::int64_t pid = 0;
  std::uint64_t start_time_ticks = 0;  ///< field 22 of /proc/PID/stat (proc(5), Linux 6.1)
  auto operator<=>(const VmProcess&) const = default;
};

}  // namespace vmnuma
