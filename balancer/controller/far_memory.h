// SPDX-License-Identifier: Apache-2.0
/// The price of remote memory for this host and its VMs, and where it comes from.
///
///  1. The price is the measured one, unless the administrator has set one; without either it is
///  the option's default.
///  2. A price set by the administrator applies to all VMs, whatever their CPUs count.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "balancer/controller/events.h"

namespace vmnuma::balancer {

inline constexpr const char* kMemStallPct = "Numa.MemStallPct";

/// True if the administrator has set the price.
[[nodiscard]] bool is_price_set(const Settings& settings);

/// Sets Numa.MemStallPct and its origin.
void apply_measured_stall(const std::optional<MeasuredMemory>& measured, Settings& settings);

/// The time of a local memory read, for Ledger::set_local_read_ns().
[[nodiscard]] std::optional<std::int64_t> read_time_of_counters(
    const std::optional<MeasuredMemory>& measured, const Settings& settings);

/// Describes the price and its origin, as a sentence without a full stop. `counted`: what one VM's
/// CPUs counted, if the sentence is about a VM and that is known.
[[nodiscard]] std::string far_memory_text(const std::optional<MeasuredMemory>& measured,
                                          const Settings& settings,
                                          std::optional<Permille> counted);

}  // namespace vmnuma::balancer
