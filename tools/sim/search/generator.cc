// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/search/generator.h"

#include <algorithm>

#include <fmt/format.h>

#include "placement/model/topology.h"
#include "tools/sim/search/choices.h"

namespace vmnuma::tools {

using placement::Bytes;
using placement::kGiB;
using placement::kMiB;
using placement::NodeId;

namespace {

std::vector<std::int32_t> flat(std::size_t nodes, std::int32_t remote) {
  std::vector<std::int32_t> distances;
  for (std::size_t i = 0; i < nodes * nodes; ++i) {
    distances.push_back(i % (nodes + 1) == 0 ? placement::kLocalDistance : remote);
  }
  return distances;
}

/// Ten more for each step along the ring.
std::vector<std::int32_t> ring(std::size_t nodes) {
  std::vector<std::int32_t> distances;
  for (std::size_t from = 0; from < nodes; ++from) {
    for (std::size_t to = 0; to < nodes; ++to) {
      const std::size_t apart = from > to ? from - to : to - from;
      distances.push_back(
          static_cast<std::int32_t>(10 + 10 * std::min({apart, nodes - apart, std::size_t{20}})));
    }
  }
  return distances;
}

/// Halves of the host are packages.
std::vector<std::int32_t> sub_numa(std::size_t nodes) {
  std::vector<std::int32_t> distances;
  for (std::size_t from = 0; from < nodes; ++from) {
    for (std::size_t to = 0; to < nodes; ++to) {
      const bool same_package = from / (nodes / 2) == to / (nodes / 2);
      distances.push_back(from == to ? 10 : same_package ? 12 : 32);
    }
  }
  return distances;
}

std::size_t random_vm_index(const Scenario& scenario, Random& random) {
  return static_cast<std::size_t>(random.below(static_cast<std::int64_t>(scenario.vms.size())));
}

NodeId random_node(const ScenarioHost& host, Random& random) {
  return host
      .nodes[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(host.nodes.size())))]
      .id;
}

}  // namespace

ScenarioHost random_host(Random& random) {
  ScenarioHost host;
  const std::int32_t count =
      one_of(random, {1, 2, 2, 2, 2, 2, 2, 3, 3, 4, 4, 4, 4, 4, 8, 8, 16, 64});
  ScenarioNode node;
  node.cores = one_of(random, {1, 2, 2, 4, 4, 4, 8});
  node.threads_per_core = one_of(random, {1, 1, 2});
  node.memory = kGiB * std::min(one_of(random, {2, 4, 8, 16}), std::max(128 / count, 2));
  node.caches = node.cores % 2 == 0 && chance(random, 10) ? 2 : 1;
  for (std::int32_t i = 0; i < count; ++i) {
    node.id = NodeId{i};
    host.nodes.push_back(node);
  }
  host.distances = flat(host.nodes.size(), one_of(random, {12, 21, 21, 32}));
  if (count > 1) {
    switch (random.below(8)) {
      case 0:  // uneven
        for (ScenarioNode& other : host.nodes) {
          other.cores = std::max(1, other.cores / one_of(random, {1, 1, 2, 4}));
          other.memory = std::max(kGiB, other.memory / one_of(random, {1, 1, 2, 4}));
          other.caches = 1;
        }
        break;
      case 1:
        host.nodes.back().memory = Bytes{};
        break;
      case 2:
        host.nodes.back().cores = 0;
        break;
      case 3:
        if (count >= 4) {
          host.distances = ring(host.nodes.size());
        }
        break;
      case 4:
        if (count >= 4 && count % 2 == 0) {
          host.distances = sub_numa(host.nodes.size());
        }
        break;
      default:
        break;
    }
  }
  if (chance(random, 15)) {
    host.others.push_back({random_node(host, random), random.below(20), std::nullopt,
                           100 * (1 + random.below(std::max(node.cores, 1)))});
  }
  return host;
}

void draw_load(ScenarioVm& vm, LoadShape shape, std::size_t which, std::int64_t epochs,
               Random& random) {
  const std::int64_t high = one_of<std::int64_t>(random, {40, 60, 80, 90, 100, 100});
  const std::int64_t low = one_of<std::int64_t>(random, {0, 0, 5, 20});
  const std::int64_t middle = std::max<std::int64_t>(epochs / 2, 1);
  vm.load_repeats = 0;
  vm.stop.reset();
  switch (shape) {
    case LoadShape::kSteady:
      vm.load = {{0, high}};
      break;
    case LoadShape::kBurst: {
      const std::int64_t from = 1 + random.below(middle);
      vm.load = {{0, low}, {from, high}, {from + 1 + random.below(10), low}};
      break;
    }
    case LoadShape::kOnOff:
    case LoadShape::kAntiPhase: {
      const std::int64_t spell = one_of<std::int64_t>(random, {1, 1, 2, 2, 3, 5, 8, 15});
      const bool begins_low = shape == LoadShape::kAntiPhase && which % 2 == 1;
      vm.load = {{0, begins_low ? low : high}, {spell, begins_low ? high : low}};
      vm.load_repeats = 2 * spell;
      break;
    }
    case LoadShape::kShift: {
      const bool falls = which % 2 == 1;
      vm.load = {{0, falls ? high : low}, {1 + random.below(middle), falls ? low : high}};
      break;
    }
    case LoadShape::kChurn:
      vm.load = {{0, high}};
      vm.start = random.below(middle);
      vm.stop = vm.start + 5 + random.below(middle);
      break;
  }
}

ScenarioVm random_vm(const ScenarioHost& host, Random& random) {
  std::int64_t cores = 0;
  Bytes memory;
  for (const ScenarioNode& node : host.nodes) {
    cores = std::max<std::int64_t>(cores, node.cores);
    memory = std::max(memory, node.memory);
  }
  ScenarioVm vm;
  const std::int64_t most = chance(random, 20) ? cores * 2 : cores;
  vm.vcpus = static_cast<std::int32_t>(1 + random.below(std::max<std::int64_t>(most, 1)));
  // In sixteenths of the largest node; sometimes more than it has.
  const std::int64_t sixteenths = chance(random, 10) ? 16 + random.below(12) : 1 + random.below(10);
  vm.memory = memory * sixteenths / 16;
  vm.stall.value = one_of<std::int64_t>(random, {0, 100, 300, 300, 300, 600});
  vm.noise_pct = chance(random, 20) ? 10 : 0;
  return vm;
}

void draw_trait(ScenarioVm& vm, const ScenarioHost& host, Random& random) {
  using placement::NumatuneMode;
  const NodeId node = random_node(host, random);
  switch (random.below(10)) {
    case 0:
    case 1:
      vm.placed_on = {host.nodes.front().id};
      break;
    case 2:
      vm.placed_on = {node};
      break;
    case 3:
    case 4:
      vm.memory_on = {{node, vm.memory}};
      break;
    case 5:
      vm.shares = one_of(random, {100, 512, 4096});
      break;
    case 6:
      vm.policy.affinity_group = "together";
      vm.policy.anti_affinity_group.clear();
      break;
    case 7:
      vm.policy.anti_affinity_group = "apart";
      vm.policy.affinity_group.clear();
      break;
    case 8:
      vm.cells = one_of(random, {2, 2, 4});
      break;
    case 9:
      vm.memory_on = {{node, vm.memory}};
      vm.numatune = one_of(random, {NumatuneMode::kStrict, NumatuneMode::kPreferred,
                                    NumatuneMode::kInterleave, NumatuneMode::kRestrictive});
      break;
    default:
      break;
  }
}

Fault random_fault(const Scenario& scenario, Random& random) {
  Fault fault;
  fault.epoch = random.below(std::max<std::int64_t>(scenario.epochs * 2 / 3, 1));
  fault.epochs = one_of<std::int64_t>(random, {1, 3, 10, 30});
  fault.kind = kValuesOf<FaultKind>[static_cast<std::size_t>(
      random.below(static_cast<std::int64_t>(kValuesOf<FaultKind>.size())))];
  switch (fault.kind) {
    case FaultKind::kVmVanishes:
    case FaultKind::kPinRefused:
    case FaultKind::kPagesBusy:
      fault.vm = random_vm_index(scenario, random);
      break;
    case FaultKind::kNodeOffline:
    case FaultKind::kNoMemory:
      fault.node = random_node(scenario.host, random);
      break;
    case FaultKind::kSlowLibvirt:
    case FaultKind::kStaleSample:
      if (chance(random, 50)) {
        fault.vm = random_vm_index(scenario, random);
      }
      break;
    case FaultKind::kDaemonRestart:
    case FaultKind::kLibvirtGone:
      break;
  }
  return fault;
}

Scenario random_scenario(Random& random) {
  Scenario scenario;
  scenario.name = "found";
  scenario.seed = static_cast<std::uint64_t>(1 + random.below(1000));
  scenario.epochs = one_of<std::int64_t>(random, {30, 30, 40, 60});
  scenario.host = random_host(random);
  std::int64_t cores = 0;
  for (const ScenarioNode& node : scenario.host.nodes) {
    cores += node.cores;
  }
  // vCPUs in per cent of cores.
  const std::int64_t wanted = cores * one_of<std::int64_t>(random, {40, 70, 100, 100, 130, 180});
  const auto shape = static_cast<LoadShape>(random.below(kLoadShapes));
  const bool mixed = chance(random, 30);
  const bool arrive_together = chance(random, 25);
  const std::int64_t arrival = 1 + random.below(scenario.epochs / 3);
  const std::int64_t traits = one_of<std::int64_t>(random, {0, 0, 20, 40, 80});
  const bool piled_up = chance(random, 15);
  std::int64_t vcpus = 0;
  for (std::size_t i = 0; i < 12 && vcpus * 100 < wanted; ++i) {
    ScenarioVm vm = random_vm(scenario.host, random);
    if (arrive_together) {
      vm.start = arrival;
    }
    draw_load(vm, mixed ? static_cast<LoadShape>(random.below(kLoadShapes)) : shape, i,
              scenario.epochs, random);
    if (piled_up) {
      vm.placed_on = {scenario.host.nodes.front().id};
    }
    if (chance(random, traits)) {
      draw_trait(vm, scenario.host, random);
    }
    vm.name = fmt::format("vm{}", i);
    vcpus += vm.vcpus;
    scenario.vms.push_back(std::move(vm));
  }
  if (chance(random, 10) && scenario.vms.size() > 1) {
    scenario.talks.push_back({{0, 1}, 1000 * (1 + random.below(200))});
  }
  for (std::int64_t faults = chance(random, 20) ? 1 + random.below(2) : 0; faults > 0; --faults) {
    scenario.faults.push_back(random_fault(scenario, random));
  }
  repair(scenario);
  return scenario;
}

}  // namespace vmnuma::tools
