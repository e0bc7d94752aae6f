// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/search/features.h"

#include <algorithm>
#include <functional>
#include <map>

namespace vmnuma::tools {

namespace {

template <FaultKind kKind>
void end_faults(Scenario& scenario) {
  std::erase_if(scenario.faults, [](const Fault& fault) { return fault.kind == kKind; });
}

template <class T>
T& part_of(ScenarioVm& vm, T ScenarioVm::*member) {
  return vm.*member;
}
template <class T>
T& part_of(ScenarioVm& vm, T VmPolicy::*member) {
  return vm.policy.*member;
}
/// Sets a member of all VMs, or of their policies, to its default.
template <auto kMember>
void make_standard(Scenario& scenario) {
  ScenarioVm standard;
  for (ScenarioVm& vm : scenario.vms) {
    part_of(vm, kMember) = part_of(standard, kMember);
  }
}
template <auto kMember>
void make_host_standard(Scenario& scenario) {
  scenario.host.*kMember = ScenarioHost{}.*kMember;
}

void equalize_shares(Scenario& scenario) {
  const auto differs = [&](const ScenarioVm& vm) {
    return vm.shares != scenario.vms.front().shares;
  };
  if (std::ranges::any_of(scenario.vms, differs)) {
    make_standard<&ScenarioVm::shares>(scenario);
  }
}

void find_no_memory(Scenario& scenario) {
  for (ScenarioVm& vm : scenario.vms) {
    if (vm.numatune == NumatuneMode::kNone) {
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
void narrow(Scenario& scenario) {
  for (ScenarioVm& vm : scenario.vms) {
    vm.vcpus = std::min(vm.vcpus, std::max(widest_node(scenario), 1));
    vm.cells = std::min(vm.cells, vm.vcpus);
  }
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
  const Bytes all = sum_of(scenario.host.nodes, &ScenarioNode::memory);
  const Bytes used = sum_of(scenario.vms, &ScenarioVm::memory);
  return used * 20 > all * 17;
}
void add_memory(Scenario& scenario) {
  if (is_nearly_full(scenario)) {
    for (ScenarioNode& node : scenario.host.nodes) {
      node.memory = node.memory * 2;
    }
  }
}

bool is_memoryless(const ScenarioNode& node) {
  return node.memory == Bytes{};
}
bool is_cpuless(const ScenarioNode& node) {
  return node.cores == 0;
}
const ScenarioNode& complete_node(const Scenario& scenario) {
  return *std::ranges::find_if(scenario.host.nodes, can_be_home);
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
void even_out_nodes(Scenario& scenario) {
  const ScenarioNode& like = complete_node(scenario);
  const auto differs = [&like](const ScenarioNode& node) {
    return can_be_home(node) && (node.cores != like.cores || node.memory != like.memory ||
                                 node.threads_per_core != like.threads_per_core);
  };
  if (std::ranges::any_of(scenario.host.nodes, differs)) {
    make_alike<can_be_home>(scenario);
  }
}
template <auto kMember, std::int32_t kValue>
void set_nodes(Scenario& scenario) {
  for (ScenarioNode& node : scenario.host.nodes) {
    node.*kMember = kValue;
  }
}
/// Multiplies all cores and vCPUs by four, if a node has only one core.
void widen_cores(Scenario& scenario) {
  if (std::ranges::count(scenario.host.nodes, 1, &ScenarioNode::cores) == 0) {
    return;
  }
  for (ScenarioNode& node : scenario.host.nodes) {
    node.cores *= 4;
  }
  for (ScenarioVm& vm : scenario.vms) {
    vm.vcpus = std::min(vm.vcpus * 4, 1024);
  }
}
void make_distances_alike(Scenario& scenario) {
  std::vector<std::int32_t> remote;
  const std::size_t count = scenario.host.nodes.size();
  for (std::size_t i = 0; i < scenario.host.distances.size(); ++i) {
    if (i % (count + 1) != 0) {
      remote.push_back(scenario.host.distances[i]);
    }
  }
  if (std::adjacent_find(remote.begin(), remote.end(), std::not_equal_to<>{}) != remote.end()) {
    scenario.host.distances = even_distances(count, kRemoteDistance);
  }
}

void forget_history(Scenario& scenario) {
  scenario.known_minutes = 0;
  for (ScenarioVm& vm : scenario.vms) {
    if (!vm.load.empty()) {
      vm.load.front().from = std::max<std::int64_t>(vm.load.front().from, 0);
    }
  }
}
void drop_strategy(Scenario& scenario) {
  scenario.strategy = Scenario{}.strategy;
  make_standard<&VmPolicy::strategy>(scenario);
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
    {"a VM that dies", end_faults<FaultKind::kVmVanishes>},
    {"refused pins", end_faults<FaultKind::kPinRefused>},
    {"pages that cannot move", end_faults<FaultKind::kPagesBusy>},
    {"memory taken by others", end_faults<FaultKind::kNoMemory>},
    {"slow libvirt", end_faults<FaultKind::kSlowLibvirt>},
    {"missing readings", end_faults<FaultKind::kStaleSample>},
    {"a daemon that dies", end_faults<FaultKind::kDaemonRestart>},
    {"a node offline", end_faults<FaultKind::kNodeOffline>},
    {"libvirt gone", end_faults<FaultKind::kLibvirtGone>},
    {"talk", [](Scenario& scenario) { scenario.talks.clear(); }},
    {"CPU time that others use", make_host_standard<&ScenarioHost::others>},
    {"loads that change every epoch or two", steady<flickers>},
    {"loads that come and go", steady<repeats>},
    {"irregular loads", steady<is_irregular>},
    {"a shift of load", steady<changes>},
    {"noise", make_standard<&ScenarioVm::noise_pct>},
    {"VMs that start later", make_standard<&ScenarioVm::start>},
    {"VMs that stop", make_standard<&ScenarioVm::stop>},
    {"a VM wider than a node", narrow},
    {"a VM larger than a node", make_small},
    {"nearly full memory", add_memory},
    {"VMs found pinned", make_standard<&ScenarioVm::pinned_on>},
    {"memory on nodes from the start", make_standard<&ScenarioVm::placed_on>},
    {"memory found on a node", find_no_memory},
    {"bound memory", make_standard<&ScenarioVm::numatune>},
    {"huge pages", set_no_huge_pages_aside},
    {"unequal shares", equalize_shares},
    {"CPU quotas", make_standard<&ScenarioVm::limit_pct>},
    {"reserved CPU time", make_standard<&VmPolicy::reservation_permille>},
    {"another use by QEMU than 0.015", make_standard<&ScenarioVm::qemu>},
    {"a price of remote memory", make_standard<&VmPolicy::locality_weight_pct>},
    {"counted reads", make_host_standard<&ScenarioHost::counts_reads>},
    {"a known history", forget_history},
    {"another stall than 0.3", make_standard<&ScenarioVm::stall>},
    {"guest cells", make_standard<&ScenarioVm::cells>},
    {"a group that belongs together", make_standard<&VmPolicy::affinity_group>},
    {"a group that belongs apart", make_standard<&VmPolicy::anti_affinity_group>},
    {"a hard group", make_standard<&VmPolicy::anti_affinity_hard>},
    {"VMs with a mask of nodes", make_standard<&VmPolicy::nodes>},
    {"VMs that must not move", make_standard<&VmPolicy::do_not_move>},
    {"a memory mode", make_standard<&VmPolicy::memory_mode>},
    {"VMs split by memory", make_standard<&VmPolicy::consolidate>},
    {"a strategy", drop_strategy},
    {"a CPU binding", make_standard<&VmPolicy::cpu_binding>},
    {"a CPU policy", make_standard<&VmPolicy::cpu_policy>},
    {"a class of CPU time", make_standard<&VmPolicy::cpu_class>},
    {"a memoryless node", make_alike<is_memoryless>},
    {"a node without CPUs", make_alike<is_cpuless>},
    {"uneven nodes", even_out_nodes},
    {"SMT", set_nodes<&ScenarioNode::threads_per_core, 1>},
    {"several caches a node", set_nodes<&ScenarioNode::caches, 1>},
    {"nodes of one core", widen_cores},
    {"wrong distances in the firmware", make_host_standard<&ScenarioHost::firmware_distances>},
    {"decisions by the firmware's distances",
     make_host_standard<&ScenarioHost::distances_are_measured>},
    {"uneven distances", make_distances_alike},
    {"gaps in the numbers of nodes", number_nodes_from_0},
};

}  // namespace

std::span<const Feature> features() {
  return kTable;
}

bool has_feature(const Scenario& scenario, const Feature& feature) {
  Scenario without = scenario;
  feature.take_away(without);
  return without != scenario;
}

std::vector<std::string_view> features_in(const Scenario& scenario) {
  std::vector<std::string_view> names;
  for (const Feature& feature : kTable) {
    if (has_feature(scenario, feature)) {
      names.push_back(feature.name);
    }
  }
  return names;
}

}  // namespace vmnuma::tools
