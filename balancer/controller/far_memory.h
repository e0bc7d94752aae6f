// SPDX-License-Identifier: Apache-2.0
/// What far memory costs on this host and its VMs, and how that is known.
///
/// Properties:
///  1. The price is what was measured, unless the administrator has set one; without either it is
///  the option's default.
///  2. A price that the administrator has set is that of all VMs, whatever their CPUs count.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "balancer/controller/events.h"

namespace vmnuma::balancer {

inline constexpr const char* kMemStallPct = "Numa.MemStallPct";

/// The administrator has set the price.
[[nodiscard]] bool is_price_set(const Settings& settings);

/// Sets Numa.MemStallPct and its origin.
void apply_measured_stall(const std::optional<MeasuredMemory>& measured, Settings& settings);

/// What a read of local memory takes, as Ledger::set_local_read_ns() asks.
[[nodiscard]] std::optional<std::int64_t> read_time_of_counters(
    const std::optional<MeasuredMemory>& measured, const Settings& settings);

/// A sentence without its end. `counted`: what a VM's CPUs counted, if it is of one VM and known.
[[nodiscard]] std::string far_memory_text(const std::optional<MeasuredMemory>& measured,
                                          const Settings& settings,
                                          std::optional<placement::Permille> counted);

}  // namespace vmnuma::balancer
