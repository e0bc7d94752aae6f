// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "tools/sim/search/choices.h"
#include "tools/sim/search/generator.h"

namespace vmnuma::tools {

namespace {

constexpr std::int64_t kFullestPct = 97;
/// Limit for epochs times nodes and VMs, so that a trial takes a fraction of a second.
constexpr std::int64_t kMostWork = 1500;
constexpr std::int64_t kFewestEpochs = 15;
constexpr std::int64_t kMostReservedPermille = 750;

Bytes whole_pages(Bytes bytes) {
  return std::max(kSimPage * (bytes.value / kSimPage.value), kSimPage);
}

void repair_host(ScenarioHost& host) {
  if (std::ranges::none_of(host.nodes, can_be_home)) {
    host.nodes.front().cores = std::max(host.nodes.front().cores, 2);
    host.nodes.front().memory = std::max(host.nodes.front().memory, kGiB * 2);
  }
  for (ScenarioNode& node : host.nodes) {
    const Bytes most = node.memory / 4 * 3;
    node.huge_pages = kSimPage * (std::min(node.huge_pages, most).value / kSimPage.value);
  }
  std::erase_if(host.others, [&](const OtherLoad& other) {
    return other.node && find_node(host, *other.node) == nullptr;
  });
  if (host.firmware_distances.size() != host.distances.size()) {
    host.firmware_distances.clear();
  }
}

/// Repairs the amounts of either ordinary memory or huge pages.
void repair_memory(Scenario& scenario, bool huge_pages) {
  Bytes room;
  for (const ScenarioNode& node : scenario.host.nodes) {
    room += huge_pages ? node.huge_pages : node.memory - node.huge_pages;
  }
  const Bytes most = room / 100 * kFullestPct;
  Bytes all;
  for (ScenarioVm& vm : scenario.vms) {
    if (vm.huge_pages == huge_pages) {
      vm.memory = whole_pages(std::min(vm.memory, most));
      all += vm.memory;
    }
  }
  for (ScenarioVm& vm : scenario.vms) {
    if (vm.huge_pages == huge_pages && all > most) {
      // In MiB, because the product of bytes would exceed 64 bits.
      vm.memory = whole_pages(vm.memory * (most.value >> 20U) / (all.value >> 20U));
    }
  }
}

void repair_places(ScenarioVm& vm, const ScenarioHost& host) {
  const auto has_no_cores = [&](NodeId id) {
    const ScenarioNode* const node = find_node(host, id);
    return node == nullptr || node->cores == 0;
  };
  std::erase_if(vm.placed_on, has_no_cores);
  std::erase_if(vm.pinned_on, has_no_cores);
  std::erase_if(vm.policy.nodes, [&](NodeId id) { return find_node(host, id) == nullptr; });
  std::erase_if(vm.memory_on, [&](const NodeBytes& part) {
    const ScenarioNode* const node = find_node(host, part.node);
    return node == nullptr || node->memory == Bytes{};
  });
  Bytes left = vm.memory;
  for (NodeBytes& part : vm.memory_on) {
    part.bytes = kSimPage * (std::min(part.bytes, left).value / kSimPage.value);
    left -= part.bytes;
  }
  std::erase_if(vm.memory_on, [](const NodeBytes& part) { return part.bytes == Bytes{}; });
  if (vm.memory_on.empty()) {
    vm.numatune = NumatuneMode::kNone;
  }
}

/// Ensures that no node has more memory bound to it than it has.
void repair_bound_memory(Scenario& scenario) {
  std::map<NodeId, Bytes> bound;
  for (ScenarioVm& vm : scenario.vms) {
    if (vm.numatune == NumatuneMode::kNone) {
      continue;
    }
    for (const NodeBytes& part : vm.memory_on) {
      const ScenarioNode& node = *find_node(scenario.host, part.node);
      const Bytes most = vm.huge_pages ? node.huge_pages : node.memory - node.huge_pages;
      Bytes& taken = bound[part.node];
      if (taken + part.bytes > most / 100 * kFullestPct) {
        vm.numatune = NumatuneMode::kNone;
        break;
      }
      taken += part.bytes;
    }
  }
}

/// Repairs a load. One that does not repeat was constant at its first value during the known time.
void repair_load(ScenarioVm& vm, std::int64_t epochs, std::int64_t known) {
  vm.start = std::min(vm.start, epochs - 1);
  if (vm.stop && (*vm.stop <= vm.start || *vm.stop >= epochs)) {
    vm.stop.reset();
  }
  if (!vm.load.empty() && vm.load_repeats > 0 && vm.load_repeats <= vm.load.back().from) {
    vm.load_repeats = vm.load.back().from + 1;
  }
  if (!vm.load.empty() && vm.load.front().from <= 0) {
    vm.load.front().from = vm.load_repeats > 0 ? 0 : -known;
  }
}

void repair_cpu_time(ScenarioVm& vm) {
  const std::int64_t whole = std::int64_t{100} * vm.vcpus;
  if (vm.limit_pct && *vm.limit_pct >= whole) {
    vm.limit_pct.reset();
  }
  if (vm.limit_pct) {
    vm.limit_pct = std::max<std::int64_t>(*vm.limit_pct, 1);
    vm.policy.reservation_permille = std::min(
        vm.policy.reservation_permille, static_cast<std::int32_t>(*vm.limit_pct * 1000 / whole));
  }
  if (vm.policy.locality_weight_pct != VmPolicy{}.locality_weight_pct) {
    vm.policy.locality_weight_pct = true_locality_weight(vm);
  }
  vm.policy.anti_affinity_hard =
      vm.policy.anti_affinity_hard && !vm.policy.anti_affinity_group.empty();
}

/// Ensures that reservations can be kept. They are in whole per cent, as written to files.
void repair_reservations(Scenario& scenario) {
  std::int64_t most = 0;
  for (const ScenarioNode& node : scenario.host.nodes) {
    most += kMostReservedPermille * node.cores;
  }
  std::int64_t all = 0;
  for (const ScenarioVm& vm : scenario.vms) {
    all += std::int64_t{vm.policy.reservation_permille} * vm.vcpus;
  }
  for (ScenarioVm& vm : scenario.vms) {
    std::int64_t its = vm.policy.reservation_permille;
    its = all > most ? its * most / all : its;
    vm.policy.reservation_permille = static_cast<std::int32_t>(its / 10 * 10);
  }
}

bool is_possible(const Fault& fault, const Scenario& scenario) {
  const bool node_is_there = !fault.node || find_node(scenario.host, *fault.node) != nullptr;
  const bool vm_is_there = !fault.vm || *fault.vm < scenario.vms.size();
  return node_is_there && vm_is_there && fault.epoch < scenario.epochs;
}

/// Ensures that at most one node goes offline, and that another one with CPUs remains.
void repair_faults(Scenario& scenario) {
  std::erase_if(scenario.faults, [&](const Fault& fault) { return !is_possible(fault, scenario); });
  for (Fault& fault : scenario.faults) {
    if (fault.cores > 0 && fault.cores >= find_node(scenario.host, *fault.node)->cores) {
      fault.cores = 0;
    }
  }
  bool one_is_offline = false;
  std::erase_if(scenario.faults, [&](const Fault& fault) {
    if (fault.kind != FaultKind::kNodeOffline) {
      return false;
    }
    const bool another = std::ranges::any_of(scenario.host.nodes, [&](const ScenarioNode& node) {
      return node.id != *fault.node && can_be_home(node);
    });
    const bool refused = one_is_offline || !another;
    one_is_offline = true;
    return refused;
  });
}

}  // namespace

void repair(Scenario& scenario) {
  repair_host(scenario.host);
  const auto size = static_cast<std::int64_t>(scenario.host.nodes.size() + scenario.vms.size());
  scenario.epochs = std::min(scenario.epochs, std::max(kMostWork / size, kFewestEpochs));
  for (ScenarioVm& vm : scenario.vms) {
    vm.huge_pages = vm.huge_pages && has_huge_pages(scenario.host);
  }
  repair_memory(scenario, /*huge_pages=*/false);
  repair_memory(scenario, /*huge_pages=*/true);
  for (std::size_t i = 0; i < scenario.vms.size(); ++i) {
    ScenarioVm& vm = scenario.vms[i];
    vm.name = fmt::format("vm{}", i);
    vm.vcpus = std::max(vm.vcpus, 1);
    vm.cells = std::min(vm.cells, vm.vcpus);
    repair_places(vm, scenario.host);
    repair_load(vm, scenario.epochs, known_epochs(scenario));
    repair_cpu_time(vm);
  }
  repair_bound_memory(scenario);
  repair_reservations(scenario);
  std::erase_if(scenario.talks, [&](const ScenarioTalk& talk) {
    return std::ranges::any_of(talk.vms, [&](std::size_t vm) { return vm >= scenario.vms.size(); });
  });
  repair_faults(scenario);
}

}  // namespace vmnuma::tools
