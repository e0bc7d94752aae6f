// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/search/generator.h"

#include <algorithm>

#include <fmt/format.h>

#include "placement/base/sorted.h"
#include "placement/model/topology.h"
#include "tools/sim/search/choices.h"

namespace vmnuma::tools {

namespace {

/// Returns the distances of a host, node by node.
template <class Distance>
std::vector<std::int32_t> distances_of(std::size_t nodes, const Distance& distance) {
  std::vector<std::int32_t> distances;
  for (std::size_t from = 0; from < nodes; ++from) {
    for (std::size_t to = 0; to < nodes; ++to) {
      distances.push_back(distance(from, to));
    }
  }
  return distances;
}

/// Returns the distances of a ring: ten more per step.
std::vector<std::int32_t> ring(std::size_t nodes) {
  return distances_of(nodes, [nodes](std::size_t from, std::size_t to) {
    const std::size_t apart = from > to ? from - to : to - from;
    return static_cast<std::int32_t>(10 + 10 * std::min({apart, nodes - apart, std::size_t{20}}));
  });
}

/// Returns the distances of a host of which each half is a package.
std::vector<std::int32_t> sub_numa(std::size_t nodes) {
  return distances_of(nodes, [nodes](std::size_t from, std::size_t to) {
    const bool same_package = from / (nodes / 2) == to / (nodes / 2);
    return from == to ? 10 : same_package ? 12 : 32;
  });
}

NodeId random_node(const ScenarioHost& host, Random& random) {
  return host.nodes[random.index(host.nodes.size())].id;
}

PlacementStrategy random_strategy(Random& random) {
  return one_of(random, {PlacementStrategy::kMostAllocated, PlacementStrategy::kLeastAllocated,
                         PlacementStrategy::kDistributeEvenly});
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
  host.distances = even_distances(host.nodes.size(), one_of(random, {12, 21, 21, 32}));
  if (count > 1) {
    switch (random.below(8)) {
      case 0:  // uneven
        for (ScenarioNode& other : host.nodes) {
          other.cores = std::max(1, other.cores / one_of(random, {1, 1, 2, 4}));
          other.memory = std::max(kGiB, other.memory / one_of(random, {1, 1, 2, 4}));
          other.threads_per_core = one_of(random, {node.threads_per_core, 1, 2});
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
  if (chance(random, 5)) {
    for (ScenarioNode& other : host.nodes) {
      other.id.value = other.id.value * 2 + 1;
    }
  }
  if (chance(random, 15)) {
    OtherLoad other{random_node(host, random), random.below(20), std::nullopt,
                    100 * (1 + random.below(std::max(node.cores, 1)))};
    if (chance(random, 50)) {
      other.until = other.from + 1 + random.below(20);
    }
    if (chance(random, 30)) {
      other.node.reset();
    }
    host.others.push_back(other);
  }
  if (chance(random, 10)) {
    draw_firmware(host, random);
  }
  host.counts_reads = chance(random, 10);
  if (chance(random, 10)) {
    for (ScenarioNode& each : host.nodes) {
      each.huge_pages = each.memory / one_of(random, {2, 2, 4});
    }
  }
  return host;
}

void draw_firmware(ScenarioHost& host, Random& random) {
  host.firmware_distances = even_distances(host.nodes.size(), one_of(random, {12, 21, 32}));
  if (host.firmware_distances == host.distances) {
    host.firmware_distances.clear();
  }
}

std::int64_t random_known_minutes(Random& random) {
  constexpr std::int64_t kDay = 24 * 60;
  return one_of<std::int64_t>(random, {0, 0, 0, 0, 0, 0, 120, kDay});
}

ScenarioTalk random_talk(const Scenario& scenario, Random& random) {
  const auto most = static_cast<std::int64_t>(scenario.vms.size());
  const std::int64_t count = std::min(most, one_of<std::int64_t>(random, {2, 2, 2, 3, 12}));
  const std::int64_t first = random.below(most - count + 1);
  ScenarioTalk talk;
  for (std::int64_t vm = first; vm < first + count; ++vm) {
    talk.vms.push_back(static_cast<std::size_t>(vm));
  }
  talk.wakeups_per_second = 1000 * (1 + random.below(200));
  return talk;
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
    case LoadShape::kIrregular: {
      const std::int64_t longest = one_of<std::int64_t>(random, {3, 8, 20});
      vm.load.clear();
      bool works = which % 2 == 0;
      for (std::int64_t from = 0; from < epochs; from += 1 + random.below(longest)) {
        vm.load.push_back({from, works ? high : low});
        works = !works;
      }
      break;
    }
  }
}

ScenarioVm random_vm(const ScenarioHost& host, Random& random) {
  const std::int64_t cores = std::ranges::max(host.nodes, {}, &ScenarioNode::cores).cores;
  const Bytes memory = std::ranges::max(host.nodes, {}, &ScenarioNode::memory).memory;
  ScenarioVm vm;
  const std::int64_t most = chance(random, 20) ? cores * 2 : cores;
  vm.vcpus = static_cast<std::int32_t>(1 + random.below(std::max<std::int64_t>(most, 1)));
  // In sixteenths of the largest node; sometimes more than it has.
  const std::int64_t sixteenths = chance(random, 10) ? 16 + random.below(12) : 1 + random.below(10);
  vm.memory = memory * sixteenths / 16;
  vm.huge_pages = has_huge_pages(host) && chance(random, 50);
  vm.stall.value = one_of<std::int64_t>(random, {0, 100, 300, 300, 300, 600});
  vm.noise_pct = chance(random, 20) ? 10 : 0;
  return vm;
}

std::int32_t true_locality_weight(const ScenarioVm& vm) {
  return static_cast<std::int32_t>(vm.stall.value * 100 / ScenarioVm{}.stall.value);
}

void draw_trait(ScenarioVm& vm, const ScenarioHost& host, Random& random) {
  const NodeId node = random_node(host, random);
  switch (random.below(14)) {
    case 0:
    case 1:
      vm.placed_on = {host.nodes.front().id};
      break;
    case 2:
      vm.placed_on = {node};
      if (chance(random, 30)) {
        vm.placed_on.clear();
        for (const ScenarioNode& each : host.nodes) {
          vm.placed_on.push_back(each.id);
        }
      }
      break;
    case 3:
    case 4:
      vm.memory_on = {{node, vm.memory / one_of(random, {1, 1, 2, 4})}};
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
    case 10:
      vm.limit_pct = vm.vcpus * one_of(random, {25, 50, 75});
      break;
    case 11:
      vm.policy.reservation_permille = one_of(random, {100, 250, 500, 1000});
      if (chance(random, 30)) {
        vm.limit_pct = vm.vcpus * one_of(random, {25, 50, 75});
      }
      break;
    case 12:
      vm.qemu.value = one_of<std::int64_t>(random, {0, 50, 200});
      break;
    case 13:
      vm.stall.value = one_of<std::int64_t>(random, {0, 100, 600});
      vm.policy.locality_weight_pct = true_locality_weight(vm);
      break;
    default:
      break;
  }
}

namespace {

void draw_rule(ScenarioVm& vm, const ScenarioHost& host, Random& random) {
  VmPolicy& policy = vm.policy;
  switch (random.below(11)) {
    case 0:
    case 1:
      policy.nodes =
          sorted_unique(std::vector{random_node(host, random), random_node(host, random)});
      break;
    case 2:
      policy.do_not_move = true;
      break;
    case 3:
      policy.anti_affinity_group = "never";
      policy.anti_affinity_hard = true;
      policy.affinity_group.clear();
      break;
    case 4:
      policy.memory_mode =
          one_of(random, {MemoryMode::kMask, MemoryMode::kMask, MemoryMode::kHandsOff});
      break;
    case 5:
      policy.consolidate = false;
      break;
    case 6:
      policy.strategy = random_strategy(random);
      break;
    case 7:
    case 8:
      policy.cpu_binding = one_of(random, {CpuBinding::kShare, CpuBinding::kExclusive});
      policy.cpu_policy =
          one_of(random, {CpuPolicy::kNone, CpuPolicy::kFullPCPUs, CpuPolicy::kSpreadByPCPUs});
      break;
    case 9:
      policy.cpu_class = one_of(random, {CpuClass::kLatency, CpuClass::kBatch});
      break;
    default:
      vm.pinned_on = {random_node(host, random)};
      break;
  }
}

}  // namespace

Scenario with_rules(Scenario scenario, Random& random) {
  const std::int64_t rules = one_of<std::int64_t>(random, {20, 50, 90});
  for (ScenarioVm& vm : scenario.vms) {
    while (chance(random, rules)) {
      draw_rule(vm, scenario.host, random);
    }
  }
  if (chance(random, 20)) {
    scenario.strategy = random_strategy(random);
  }
  scenario.host.distances_are_measured = !chance(random, 20);
  repair(scenario);
  return scenario;
}

Fault random_fault(const Scenario& scenario, Random& random) {
  Fault fault;
  fault.epoch = random.below(std::max<std::int64_t>(scenario.epochs * 2 / 3, 1));
  fault.epochs = one_of<std::int64_t>(random, {1, 3, 10, 30});
  fault.kind = kValuesOf<FaultKind>[random.index(kValuesOf<FaultKind>.size())];
  switch (fault.kind) {
    case FaultKind::kVmVanishes:
    case FaultKind::kPinRefused:
    case FaultKind::kPagesBusy:
      fault.vm = random.index(scenario.vms.size());
      break;
    case FaultKind::kNodeOffline:
      fault.node = random_node(scenario.host, random);
      fault.cores = one_of(random, {0, 0, 1, 2});
      break;
    case FaultKind::kNoMemory:
      if (chance(random, 70)) {
        fault.node = random_node(scenario.host, random);
      } else {
        fault.vm = random.index(scenario.vms.size());
      }
      break;
    case FaultKind::kSlowLibvirt:
      if (chance(random, 50)) {
        fault.vm = random.index(scenario.vms.size());
      }
      break;
    case FaultKind::kStaleSample:
      switch (random.below(4)) {
        case 0:
          fault.node = random_node(scenario.host, random);
          break;
        case 1:
          break;
        default:
          fault.vm = random.index(scenario.vms.size());
          break;
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
  scenario.known_minutes = random_known_minutes(random);
  std::int64_t cores = 0;
  for (const ScenarioNode& node : scenario.host.nodes) {
    cores += node.cores;
  }
  // vCPUs in per cent of cores.
  const std::int64_t wanted = cores * one_of<std::int64_t>(random, {40, 70, 100, 100, 130, 180});
  const LoadShape shape = random_shape(random);
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
    draw_load(vm, mixed ? random_shape(random) : shape, i, scenario.epochs, random);
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
    scenario.talks.push_back(random_talk(scenario, random));
  }
  for (std::int64_t faults = chance(random, 20) ? 1 + random.below(2) : 0; faults > 0; --faults) {
    scenario.faults.push_back(random_fault(scenario, random));
  }
  repair(scenario);
  return scenario;
}

}  // namespace vmnuma::tools
