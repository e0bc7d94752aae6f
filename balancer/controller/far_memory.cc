// SPDX-License-Identifier: Apache-2.0
#include "balancer/controller/far_memory.h"

#include <string_view>

#include <fmt/format.h>

#include "balancer/controller/views.h"
#include "placement/memory_cost.h"

namespace vmnuma::balancer {

bool is_price_set(const Settings& settings) {
  const auto origin = settings.origins.find(kMemStallPct);
  return origin != settings.origins.end() && origin->second != Origin::kMeasured;
}

void apply_measured_stall(const std::optional<MeasuredMemory>& measured, Settings& settings) {
  if (is_price_set(settings)) {
    return;
  }
  settings.options.mem_stall_pct = Options{}.mem_stall_pct;
  settings.origins.erase(kMemStallPct);
  if (measured) {
    settings.options.mem_stall_pct = measured->stall_pct;
    settings.origins[kMemStallPct] = Origin::kMeasured;
  }
}

std::optional<std::int64_t> read_time_of_counters(const std::optional<MeasuredMemory>& measured,
                                                  const Settings& settings) {
  if (is_price_set(settings)) {
    return std::nullopt;
  }
  return measured ? usable_read_ns(measured->local_read_ns) : kTypicalReadNs;
}

std::string far_memory_text(const std::optional<MeasuredMemory>& measured, const Settings& settings,
                            std::optional<Permille> counted) {
  const std::int64_t pct = settings.options.mem_stall_pct;
  const std::string_view distances =
      measured ? "distances are measured" : "distances are the firmware's";
  if (is_price_set(settings)) {
    return fmt::format("{}, and {} % of run time is configured to count as waiting for memory",
                       distances, pct);
  }
  static_assert(kMostTimesHost == 4, "the sentence below says so");
  if (counted) {
    const Permille used = reckoned_stall(counted, settings.options);
    const std::string why =
        used == *counted
            ? fmt::format("as its CPUs counted (the host's figure is {} %)", pct)
            : fmt::format("{} the host's {} %, because its CPUs counted {} %",
                          used > *counted ? "a quarter of" : "four times", pct, percent(*counted));
    return fmt::format(
        "{}, and {} % of its run time is estimated to be spent waiting for memory, {}", distances,
        percent(used), why);
  }
  if (!measured) {
    return fmt::format("{}, and {} % of run time is assumed to be spent waiting for memory",
                       distances, pct);
  }
  return fmt::format(
      "{}, and {} % of run time is estimated to be spent waiting for memory; a local read takes {} "
      "ns",
      distances, pct, measured->local_read_ns);
}

}  // namespace vmnuma::balancer
