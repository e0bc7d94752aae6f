// SPDX-License-Identifier: Apache-2.0
/// What far memory costs on this host, and how that is known.
///
/// Properties:
///  1. The price is what was measured, unless the administrator has set one; without either it is
///  the option's default.
#pragma once

#include <optional>
#include <string>

#include "balancer/controller/events.h"

namespace vmnuma::balancer {

/// Sets Numa.MemStallPct and its origin.
void apply_measured_stall(const std::optional<MeasuredMemory>& measured, Settings& settings);

/// A sentence without its end.
[[nodiscard]] std::string far_memory_text(const std::optional<MeasuredMemory>& measured,
                                          const Settings& settings);

}  // namespace vmnuma::balancer
