// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/search/features.h"

#include <algorithm>
#include <functional>
#include <map>

namespace vmnuma::tools {

namespace {

template <FaultKind kKind>
bool has_fault(const Scenario& scenario) {
  return std::ranges::count(scenario.faults, kKind, &Fault::kind) > 0;
}
template <FaultKind kKind>
void end_fault(Scenario& scenario) {
  std::erase_if(scenario.faults, [](const Fault& fault) { return fault.kind == kKind; });
}
template <FaultKind kKind>
constexpr Feature fault(std::string_view name) {
  return {name, has_fault<kKind>, end_fault<kKind>};
}

template <bool (*kIs)(const ScenarioVm&)>
bool any_vm(const Scenario& scenario) {
  return std::ranges::any_of(scenario.vms, kIs);
}
template <auto kMember>
bool any_differs(const Scenario& scenario) {
  return std::ranges::any_of(
      scenario.vms, [](const ScenarioVm& vm) { return !(vm.*kMember == ScenarioVm{}.*kMember); });
}
template <auto kMember>
void make_standard(Scenario& scenario) {
  for (ScenarioVm& vm : scenario.vms) {
    vm.*kMember = ScenarioVm{}.*kMember;
  }
}
/// A member that differs from its default.
template <auto kMember>
constexpr Feature of_vms(std::string_view name) {
  return {name, any_differs<kMember>, make_standard<kMember>};
}
template <auto kMember>
bool any_policy_differs(const Scenario& scenario) {
  return std::ranges::any_of(scenario.vms, [](const ScenarioVm& vm) {
    return !(vm.policy.*kMember == VmPolicy{}.*kMember);
  });
}
template <auto kMember>
void make_policy_standard(Scenario& scenario) {
  for (ScenarioVm& vm : scenario.vms) {
    vm.policy.*kMember = VmPolicy{}.*kMember;
  }
}
template <auto kMember>
constexpr Feature of_policies(std::string_view name) {
  return {name, any_policy_differs<kMember>, make_policy_standard<kMember>};
}
template <auto kMember>
constexpr Feature of_host(std::string_view name) {
  return {
      name,
      [](const Scenario& scenario) { return !(scenario.host.*kMember == ScenarioHost{}.*kMember); },
      [](Scenario& scenario) { scenario.host.*kMember = ScenarioHost{}.*kMember; }};
}

bool shares_differ(const Scenario& scenario) {
  return std::ranges::any_of(
      scenario.vms, [&](const ScenarioVm& vm) { return vm.shares != scenario.vms.front().shares; });
}

bool is_found_far(const ScenarioVm& vm) {
  return vm.numatune == NumatuneMode::kNone && !vm.memory_on.empty();
}
void find_no_memory(Scenario& scenario) {
  for (ScenarioVm& vm : scenario.vms) {
    if (is_found_far(vm)) {
      vm.memory_on.clear();
    }
  }
}

void set_no_huge_pages_aside(Scenario& scenario) {
  for (ScenarioNode& node : scenario.host.nodes) {
    node.huge_pages = Bytes{};
  }
  make_standard<&ScenarioVm::huge_pages>(scenario);
}

/// Returns whether the load repeats after at most four epochs.
bool flickers(const ScenarioVm& vm) {
  return vm.load_repeats > 0 && vm.load_repeats <= 4;
}
bool repeats(const ScenarioVm& vm) {
  return vm.load_repeats > 4;
}
/// Returns whether the load changes more often than in any burst.
bool is_irregular(const ScenarioVm& vm) {
  return vm.load_repeats == 0 && vm.load.size() > 3;
}
bool changes(const ScenarioVm& vm) {
  return vm.load_repeats == 0 && vm.load.size() > 1 && !is_irregular(vm);
}
template <bool (*kIs)(const ScenarioVm&)>
void steady(Scenario& scenario) {
  for (ScenarioVm& vm : scenario.vms) {
    if (kIs(vm)) {
      std::int64_t most = 0;
      for (const LoadStep& step : vm.load) {
        most = std::max(most, step.pct);
      }
      vm.load = {{0, most}};
      vm.load_repeats = 0;
    }
  }
}

std::int32_t widest_node(const Scenario& scenario) {
  return std::ranges::max(scenario.host.nodes, {}, &ScenarioNode::cores).cores;
}
Bytes largest_node(const Scenario& scenario) {
  return std::ranges::max(scenario.host.nodes, {}, &ScenarioNode::memory).memory;
}
bool has_wide_vm(const Scenario& scenario) {
  return std::ranges::any_of(
      scenario.vms, [&](const ScenarioVm& vm) { return vm.vcpus > widest_node(scenario); });
}
void narrow(Scenario& scenario) {
  for (ScenarioVm& vm : scenario.vms) {
    vm.vcpus = std::min(vm.vcpus, std::max(widest_node(scenario), 1));
    vm.cells = std::min(vm.cells, vm.vcpus);
  }
}
bool has_large_vm(const Scenario& scenario) {
  return std::ranges::any_of(
      scenario.vms, [&](const ScenarioVm& vm) { return vm.memory > largest_node(scenario); });
}
void make_small(Scenario& scenario) {
  for (ScenarioVm& vm : scenario.vms) {
    if (vm.memory > largest_node(scenario)) {
      vm.memory = largest_node(scenario) / 2;
    }
  }
}
/// Returns whether VMs have more than 85 % of the host's memory.
bool is_nearly_full(const Scenario& scenario) {
  Bytes all;
  Bytes used;
  for (const ScenarioNode& node : scenario.host.nodes) {
    all += node.memory;
  }
  for (const ScenarioVm& vm : scenario.vms) {
    used += vm.memory;
  }
  return used * 20 > all * 17;
}
void add_memory(Scenario& scenario) {
  for (ScenarioNode& node : scenario.host.nodes) {
    node.memory = node.memory * 2;
  }
}

bool is_memoryless(const ScenarioNode& node) {
  return node.memory == Bytes{};
}
bool is_cpuless(const ScenarioNode& node) {
  return node.cores == 0;
}
template <bool (*kIs)(const ScenarioNode&)>
bool any_node(const Scenario& scenario) {
  return std::ranges::any_of(scenario.host.nodes, kIs);
}
bool is_complete(const ScenarioNode& node) {
  return !is_memoryless(node) && !is_cpuless(node);
}
const ScenarioNode& complete_node(const Scenario& scenario) {
  return *std::ranges::find_if(scenario.host.nodes, is_complete);
}
template <bool (*kIs)(const ScenarioNode&)>
void make_alike(Scenario& scenario) {
  ScenarioNode like = complete_node(scenario);
  for (ScenarioNode& node : scenario.host.nodes) {
    if (kIs(node)) {
      like.id = node.id;
      node = like;
    }
  }
}
bool nodes_differ(const Scenario& scenario) {
  const ScenarioNode& like = complete_node(scenario);
  return std::ranges::any_of(scenario.host.nodes, [&](const ScenarioNode& node) {
    return is_complete(node) && (node.cores != like.cores || node.memory != like.memory ||
                                 node.threads_per_core != like.threads_per_core);
  });
}
bool shares_cores(const ScenarioNode& node) {
  return node.threads_per_core > 1;
}
bool has_caches(const ScenarioNode& node) {
  return node.caches > 1;
}
bool has_one_core(const ScenarioNode& node) {
  return node.cores == 1;
}
template <auto kMember, std::int32_t kValue>
void set_nodes(Scenario& scenario) {
  for (ScenarioNode& node : scenario.host.nodes) {
    node.*kMember = kValue;
  }
}
/// Multiplies all cores and vCPUs by four.
void widen_cores(Scenario& scenario) {
  for (ScenarioNode& node : scenario.host.nodes) {
    node.cores *= 4;
  }
  for (ScenarioVm& vm : scenario.vms) {
    vm.vcpus = std::min(vm.vcpus * 4, 1024);
  }
}
bool distances_differ(const Scenario& scenario) {
  std::vector<std::int32_t> remote;
  const std::size_t count = scenario.host.nodes.size();
  for (std::size_t i = 0; i < scenario.host.distances.size(); ++i) {
    if (i % (count + 1) != 0) {
      remote.push_back(scenario.host.distances[i]);
    }
  }
  return std::adjacent_find(remote.begin(), remote.end(), std::not_equal_to<>{}) != remote.end();
}
void make_distances_alike(Scenario& scenario) {
  scenario.host.distances = even_distances(scenario.host.nodes.size(), kRemoteDistance);
}

bool has_history(const Scenario& scenario) {
  return scenario.known_minutes > 0;
}
void forget_history(Scenario& scenario) {
  scenario.known_minutes = 0;
  for (ScenarioVm& vm : scenario.vms) {
    if (!vm.load.empty()) {
      vm.load.front().from = std::max<std::int64_t>(vm.load.front().from, 0);
    }
  }
}
bool has_strategy(const Scenario& scenario) {
  return scenario.strategy != Scenario{}.strategy ||
         any_policy_differs<&VmPolicy::strategy>(scenario);
}
void drop_strategy(Scenario& scenario) {
  scenario.strategy = Scenario{}.strategy;
  make_policy_standard<&VmPolicy::strategy>(scenario);
}
bool has_gaps(const Scenario& scenario) {
  std::int32_t next = 0;
  return std::ranges::any_of(scenario.host.nodes,
                             [&](const ScenarioNode& node) { return node.id.value != next++; });
}
void number_nodes_from_0(Scenario& scenario) {
  std::map<NodeId, NodeId> numbers;
  const auto renumber = [&](NodeId& id) { id = numbers.at(id); };
  for (ScenarioNode& node : scenario.host.nodes) {
    const NodeId next{static_cast<std::int32_t>(numbers.size())};
    numbers[node.id] = next;
    node.id = next;
  }
  for (OtherLoad& other : scenario.host.others) {
    if (other.node) {
      renumber(*other.node);
    }
  }
  for (ScenarioVm& vm : scenario.vms) {
    std::ranges::for_each(vm.placed_on, renumber);
    std::ranges::for_each(vm.pinned_on, renumber);
    std::ranges::for_each(vm.policy.nodes, renumber);
    for (NodeBytes& part : vm.memory_on) {
      renumber(part.node);
    }
  }
  for (Fault& fault : scenario.faults) {
    if (fault.node) {
      renumber(*fault.node);
    }
  }
}

constexpr Feature kTable[] = {
    fault<FaultKind::kVmVanishes>("a VM that dies"),
    fault<FaultKind::kPinRefused>("refused pins"),
    fault<FaultKind::kPagesBusy>("pages that cannot move"),
    fault<FaultKind::kNoMemory>("memory taken by others"),
    fault<FaultKind::kSlowLibvirt>("slow libvirt"),
    fault<FaultKind::kStaleSample>("missing readings"),
    fault<FaultKind::kDaemonRestart>("a daemon that dies"),
    fault<FaultKind::kNodeOffline>("a node offline"),
    fault<FaultKind::kLibvirtGone>("libvirt gone"),
    {"talk", [](const Scenario& scenario) { return !scenario.talks.empty(); },
     [](Scenario& scenario) { scenario.talks.clear(); }},
    of_host<&ScenarioHost::others>("CPU time that others use"),
    {"loads that change every epoch or two", any_vm<flickers>, steady<flickers>},
    {"loads that come and go", any_vm<repeats>, steady<repeats>},
    {"irregular loads", any_vm<is_irregular>, steady<is_irregular>},
    {"a shift of load", any_vm<changes>, steady<changes>},
    of_vms<&ScenarioVm::noise_pct>("noise"),
    of_vms<&ScenarioVm::start>("VMs that start later"),
    of_vms<&ScenarioVm::stop>("VMs that stop"),
    {"a VM wider than a node", has_wide_vm, narrow},
    {"a VM larger than a node", has_large_vm, make_small},
    {"nearly full memory", is_nearly_full, add_memory},
    of_vms<&ScenarioVm::pinned_on>("VMs found pinned"),
    of_vms<&ScenarioVm::placed_on>("memory on nodes from the start"),
    {"memory found on a node", any_vm<is_found_far>, find_no_memory},
    of_vms<&ScenarioVm::numatune>("bound memory"),
    {"huge pages", [](const Scenario& scenario) { return has_huge_pages(scenario.host); },
     set_no_huge_pages_aside},
    {"unequal shares", shares_differ, make_standard<&ScenarioVm::shares>},
    of_vms<&ScenarioVm::limit_pct>("CPU quotas"),
    of_policies<&VmPolicy::reservation_permille>("reserved CPU time"),
    of_vms<&ScenarioVm::qemu>("another use by QEMU than 0.015"),
    of_policies<&VmPolicy::locality_weight_pct>("a price of remote memory"),
    of_host<&ScenarioHost::counts_reads>("counted reads"),
    {"a known history", has_history, forget_history},
    of_vms<&ScenarioVm::stall>("another stall than 0.3"),
    of_vms<&ScenarioVm::cells>("guest cells"),
    of_policies<&VmPolicy::affinity_group>("a group that belongs together"),
    of_policies<&VmPolicy::anti_affinity_group>("a group that belongs apart"),
    of_policies<&VmPolicy::anti_affinity_hard>("a hard group"),
    of_policies<&VmPolicy::nodes>("VMs with a mask of nodes"),
    of_policies<&VmPolicy::do_not_move>("VMs that must not move"),
    of_policies<&VmPolicy::memory_mode>("a memory mode"),
    of_policies<&VmPolicy::consolidate>("VMs split by memory"),
    {"a strategy", has_strategy, drop_strategy},
    of_policies<&VmPolicy::cpu_binding>("a CPU binding"),
    of_policies<&VmPolicy::cpu_policy>("a CPU policy"),
    of_policies<&VmPolicy::cpu_class>("a class of CPU time"),
    {"a memoryless node", any_node<is_memoryless>, make_alike<is_memoryless>},
    {"a node without CPUs", any_node<is_cpuless>, make_alike<is_cpuless>},
    {"uneven nodes", nodes_differ, make_alike<is_complete>},
    {"SMT", any_node<shares_cores>, set_nodes<&ScenarioNode::threads_per_core, 1>},
    {"several caches a node", any_node<has_caches>, set_nodes<&ScenarioNode::caches, 1>},
    {"nodes of one core", any_node<has_one_core>, widen_cores},
    of_host<&ScenarioHost::firmware_distances>("wrong distances in the firmware"),
    of_host<&ScenarioHost::distances_are_measured>("decisions by the firmware's distances"),
    {"uneven distances", distances_differ, make_distances_alike},
    {"gaps in the numbers of nodes", has_gaps, number_nodes_from_0},
};

}  // namespace

std::span<const Feature> features() {
  return kTable;
}

std::vector<std::string_view> features_in(const Scenario& scenario) {
  std::vector<std::string_view> names;
  for (const Feature& feature : kTable) {
    if (feature.is_in(scenario)) {
      names.push_back(feature.name);
    }
  }
  return names;
}

}  // namespace vmnuma::tools
