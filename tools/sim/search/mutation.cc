// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tools/sim/search/choices.h"
#include "tools/sim/search/generator.h"

namespace vmnuma::tools {

namespace {

constexpr std::size_t kMostMutatedVms = 16;

void mutate_host(Scenario& scenario, Random& random) {
  ScenarioHost& host = scenario.host;
  switch (random.below(8)) {
    case 0:
      host = random_host(random);
      break;
    case 1: {
      const std::int32_t cores = one_of(random, {1, 2, 4, 8});
      for (ScenarioNode& node : host.nodes) {
        node.cores = node.cores == 0 ? 0 : cores;
        node.caches = 1;
      }
      break;
    }
    case 2:
      for (ScenarioNode& node : host.nodes) {
        node.threads_per_core = 3 - std::min(node.threads_per_core, 2);
      }
      break;
    case 3: {
      const auto memory = kGiB * one_of(random, {2, 4, 8, 16});
      for (ScenarioNode& node : host.nodes) {
        node.memory = node.memory.value == 0 ? node.memory : memory;
      }
      break;
    }
    case 4:
      if (host.others.empty()) {
        host.others.push_back(
            {host.nodes.front().id, random.below(20), std::nullopt, 50 * (1 + random.below(8))});
      } else {
        host.others.pop_back();
      }
      break;
    case 5:
      host.counts_reads = !host.counts_reads;
      break;
    case 6:
      draw_firmware(host, random);
      break;
    default:
      host.distances = even_distances(host.nodes.size(), one_of(random, {12, 21, 32}));
      break;
  }
}

void mutate_vm(ScenarioVm& vm, std::size_t which, const Scenario& scenario, Random& random) {
  switch (random.below(10)) {
    case 0:
      vm.vcpus = std::clamp(vm.vcpus + one_of(random, {-1, 1, vm.vcpus, -vm.vcpus / 2}), 1, 64);
      break;
    case 1:
      vm.memory = vm.memory * one_of(random, {1, 3, 4, 8}) / 2;
      break;
    case 2:
    case 3:
      draw_load(vm, random_shape(random), which, scenario.epochs, random);
      break;
    case 4:
      vm.stall.value = one_of<std::int64_t>(random, {0, 100, 300, 600});
      break;
    case 5:
      vm.start = chance(random, 50) ? 0 : random.below(scenario.epochs / 2);
      break;
    case 6:
      vm.limit_pct.reset();
      vm.policy.reservation_permille = 0;
      vm.policy.locality_weight_pct = VmPolicy{}.locality_weight_pct;
      break;
    default:
      draw_trait(vm, scenario.host, random);
      break;
  }
}

void mutate_once(Scenario& scenario, Random& random) {
  const std::size_t vms = scenario.vms.size();
  const std::size_t which = random.index(vms);
  switch (random.below(14)) {
    case 0:
      mutate_host(scenario, random);
      break;
    case 1:
      if (vms < kMostMutatedVms) {
        scenario.vms.push_back(scenario.vms[which]);
        mutate_vm(scenario.vms.back(), vms, scenario, random);
      }
      break;
    case 2:
      if (vms > 1) {
        scenario.vms.erase(scenario.vms.begin() + static_cast<std::ptrdiff_t>(which));
        scenario.faults.clear();
        scenario.talks.clear();
      }
      break;
    case 3:
      scenario.epochs = one_of<std::int64_t>(random, {30, 40, 60, 100});
      break;
    case 4:
      if (!scenario.faults.empty() && chance(random, 50)) {
        scenario.faults.pop_back();
      } else if (scenario.faults.size() < 3) {
        scenario.faults.push_back(random_fault(scenario, random));
      }
      break;
    case 5: {
      // Make all VMs like one of them.
      const ScenarioVm one = scenario.vms[which];
      std::fill(scenario.vms.begin(), scenario.vms.end(), one);
      break;
    }
    case 6: {
      // Make the same change to all.
      const Random same(random.next());
      for (std::size_t i = 0; i < scenario.vms.size(); ++i) {
        Random again = same;
        mutate_vm(scenario.vms[i], i, scenario, again);
      }
      break;
    }
    case 7:
      scenario.known_minutes = random_known_minutes(random);
      break;
    case 8:
      if (!scenario.talks.empty()) {
        scenario.talks.pop_back();
      } else if (vms > 1) {
        scenario.talks.push_back(random_talk(scenario, random));
      }
      break;
    default:
      mutate_vm(scenario.vms[which], which, scenario, random);
      break;
  }
}

}  // namespace

Scenario mutated(Scenario scenario, Random& random) {
  for (std::int64_t changes = 1 + random.below(3); changes > 0; --changes) {
    mutate_once(scenario, random);
    repair(scenario);
  }
  return scenario;
}

}  // namespace vmnuma::tools
