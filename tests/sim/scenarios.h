// SPDX-License-Identifier: Apache-2.0
/// The scenarios that come with the program, and hosts and VMs for tests of the simulator itself.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tools/sim/scenario/catalogue.h"
#include "tools/sim/scenario/scenario.h"
#include "tools/sim/simulation.h"

namespace vmnuma::tools {

inline const std::string kScenarioDirectory = VMNUMA_SOURCE_DIR "/tools/sim/scenarios";

inline std::vector<std::string> scenario_names() {
  std::vector<std::string> names;
  const auto scenarios = list_scenarios(kScenarioDirectory);
  for (const Scenario& scenario : scenarios.value_or(std::vector<Scenario>{})) {
    names.push_back(scenario.name);
  }
  return names;
}

inline SimulationResult run_to_end(Scenario scenario) {
  Simulation simulation(std::move(scenario));
  while (!simulation.finished()) {
    simulation.run_epoch();
  }
  return simulation.result();
}

inline void run_until(Simulation& simulation, std::int64_t epoch) {
  while (simulation.epoch() < epoch) {
    simulation.run_epoch();
  }
}

/// So many nodes of 4 cores and 8 GiB, all at the same distance.
inline ScenarioHost small_host(std::int32_t nodes, std::int32_t threads_per_core = 1) {
  ScenarioHost host;
  for (std::int32_t i = 0; i < nodes; ++i) {
    host.nodes.push_back({NodeId{i}, 4, threads_per_core, kGiB * 8});
    for (std::int32_t j = 0; j < nodes; ++j) {
      host.distances.push_back(i == j ? 10 : 20);
    }
  }
  return host;
}

/// A VM whose vCPUs always want so much, and nothing else in it wants anything.
inline ScenarioVm busy_vm(std::string name, std::int32_t vcpus, std::int64_t pct) {
  ScenarioVm vm;
  vm.name = std::move(name);
  vm.vcpus = vcpus;
  vm.memory = kGiB;
  vm.load = {{0, pct}};
  vm.qemu = Permille{};
  return vm;
}

}  // namespace vmnuma::tools
