// SPDX-License-Identifier: Apache-2.0
/// Random choices shared by the generator and mutations.
#pragma once

#include <initializer_list>

#include "tools/sim/scenario/random.h"
#include "tools/sim/scenario/scenario.h"

namespace vmnuma::tools {

template <class T>
[[nodiscard]] T one_of(Random& random, std::initializer_list<T> values) {
  return values.begin()[random.index(values.size())];
}

[[nodiscard]] inline bool chance(Random& random, std::int64_t pct) {
  return random.below(100) < pct;
}

/// Returns a host with equal, uneven, memoryless, CPU-less, one-core or many nodes, near each other
/// or not.
[[nodiscard]] ScenarioHost random_host(Random& random);

enum class LoadShape { kSteady, kBurst, kOnOff, kAntiPhase, kShift, kChurn, kIrregular };
[[nodiscard]] inline LoadShape random_shape(Random& random) {
  return static_cast<LoadShape>(random.below(7));
}

/// Gives the VM a load of that shape. `which` distinguishes VMs with opposite phases.
void draw_load(ScenarioVm& vm, LoadShape shape, std::size_t which, std::int64_t epochs,
               Random& random);

/// Returns a VM without load that would fit onto some nodes of the host.
[[nodiscard]] ScenarioVm random_vm(const ScenarioHost& host, Random& random);

/// Gives a VM a special trait: its initial place, shares, quota, reservation, group, cells, memory.
void draw_trait(ScenarioVm& vm, const ScenarioHost& host, Random& random);

/// Decides whether the firmware's distances are correct.
void draw_firmware(ScenarioHost& host, Random& random);

/// Returns the cost of remote memory for the VM, in per cent of that with the standard stall.
[[nodiscard]] std::int32_t true_locality_weight(const ScenarioVm& vm);

/// Returns the minutes of a history, usually none.
[[nodiscard]] std::int64_t random_known_minutes(Random& random);

[[nodiscard]] ScenarioTalk random_talk(const Scenario& scenario, Random& random);

[[nodiscard]] Fault random_fault(const Scenario& scenario, Random& random);

}  // namespace vmnuma::tools
