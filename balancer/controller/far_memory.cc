// SPDX-License-Identifier: Apache-2.0
// The controller's part that knows what far memory costs and how that is known.
#include <fmt/format.h>

#include "balancer/controller/controller.h"

namespace vmnuma::balancer {

namespace {

constexpr const char* kMemStallPct = "Numa.MemStallPct";

bool is_set(const std::map<std::string, Origin>& origins) {
  const auto origin = origins.find(kMemStallPct);
  return origin != origins.end() && origin->second != Origin::kMeasured;
}

}  // namespace

/// The price of far memory is what was measured, unless the administrator has set one.
void Controller::take_measured_stall() {
  if (is_set(setup_.origins)) {
    return;
  }
  setup_.options.mem_stall_pct = placement::Options{}.mem_stall_pct;
  setup_.origins.erase(kMemStallPct);
  if (setup_.measured_memory) {
    setup_.options.mem_stall_pct = setup_.measured_memory->stall_pct;
    setup_.origins[kMemStallPct] = Origin::kMeasured;
  }
  ledger_.set_options(setup_.options);
}

/// The same nodes at other distances: nothing else that is known changes.
void Controller::take_distances(const placement::Topology& topology, Effects& effects) {
  setup_.topology = topology;
  ledger_.set_topology(topology);
  take_measured_stall();
  effects.log.push_back({Severity::kInfo, "between nodes " + far_memory_text(), {}});
}

/// A sentence without its end.
std::string Controller::far_memory_text() const {
  const std::int64_t pct = setup_.options.mem_stall_pct;
  if (!setup_.measured_memory) {
    return fmt::format(
        "distances are the firmware's, and {} % of run time is {} to wait for memory", pct,
        is_set(setup_.origins) ? "set" : "assumed");
  }
  if (is_set(setup_.origins)) {
    return fmt::format("distances are measured, and {} % of run time is set to wait for memory",
                       pct);
  }
  return fmt::format(
      "distances are measured, and {} % of run time is reckoned to wait for memory, of which a "
      "local read takes {} ns",
      pct, setup_.measured_memory->local_read_ns);
}

}  // namespace vmnuma::balancer
