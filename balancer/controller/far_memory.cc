// SPDX-License-Identifier: Apache-2.0
#include "balancer/controller/far_memory.h"

#include <map>

#include <fmt/format.h>

namespace vmnuma::balancer {

namespace {

constexpr const char* kMemStallPct = "Numa.MemStallPct";

bool is_set(const std::map<std::string, Origin>& origins) {
  const auto origin = origins.find(kMemStallPct);
  return origin != origins.end() && origin->second != Origin::kMeasured;
}

}  // namespace

void apply_measured_stall(const std::optional<MeasuredMemory>& measured, Settings& settings) {
  if (is_set(settings.origins)) {
    return;
  }
  settings.options.mem_stall_pct = placement::Options{}.mem_stall_pct;
  settings.origins.erase(kMemStallPct);
  if (measured) {
    settings.options.mem_stall_pct = measured->stall_pct;
    settings.origins[kMemStallPct] = Origin::kMeasured;
  }
}

std::string far_memory_text(const std::optional<MeasuredMemory>& measured,
                            const Settings& settings) {
  const std::int64_t pct = settings.options.mem_stall_pct;
  if (!measured) {
    return fmt::format(
        "distances are the firmware's, and {} % of run time is {} to wait for memory", pct,
        is_set(settings.origins) ? "set" : "assumed");
  }
  if (is_set(settings.origins)) {
    return fmt::format("distances are measured, and {} % of run time is set to wait for memory",
                       pct);
  }
  return fmt::format(
      "distances are measured, and {} % of run time is reckoned to wait for memory, of which a "
      "local read takes {} ns",
      pct, measured->local_read_ns);
}

}  // namespace vmnuma::balancer
