// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/search/features.h"

#include <algorithm>
#include <map>

#include "placement/model/topology.h"

namespace vmnuma::tools {

namespace {

template <FaultKind kKind>
bool has_fault(const Scenario& scenario) {
  return std::any_of(scenario.faults.begin(), scenario.faults.end(),
                     [](const Fault& fault) { return fault.kind == kKind; });
}
template <FaultKind kKind>
void end_fault(Scenario& scenario) {
  std::erase_if(scenario.faults, [](const Fault& fault) { return fault.kind == kKind; });
}

template <bool (*kIs)(const ScenarioVm&)>
bool any_vm(const Scenario& scenario) {
  return std::any_of(scenario.vms.begin(), scenario.vms.end(), kIs);
}
template <auto kMember>
bool any_differs(const Scenario& scenario) {
  return std::any_of(scenario.vms.begin(), scenario.vms.end(),
                     [](const ScenarioVm& vm) { return !(vm.*kMember == ScenarioVm{}.*kMember); });
}
template <auto kMember>
void make_standard(Scenario& scenario) {
  for (ScenarioVm& vm : scenario.vms) {
    vm.*kMember = ScenarioVm{}.*kMember;
  }
}
template <auto kMember>
bool any_policy_differs(const Scenario& scenario) {
  return std::any_of(scenario.vms.begin(), scenario.vms.end(), [](const ScenarioVm& vm) {
    return !(vm.policy.*kMember == VmPolicy{}.*kMember);
  });
}
template <auto kMember>
void make_policy_standard(Scenario& scenario) {
  for (ScenarioVm& vm : scenario.vms) {
    vm.policy.*kMember = VmPolicy{}.*kMember;
  }
}

bool shares_differ(const Scenario& scenario) {
  return std::any_of(scenario.vms.begin(), scenario.vms.end(), [&](const ScenarioVm& vm) {
    return vm.shares != scenario.vms.front().shares;
  });
}

bool is_bound(const ScenarioVm& vm) {
  return vm.numatune != NumatuneMode::kNone;
}
bool is_found_far(const ScenarioVm& vm) {
  return !is_bound(vm) && !vm.memory_on.empty();
}
void free_memory(Scenario& scenario) {
  for (ScenarioVm& vm : scenario.vms) {
    vm.numatune = NumatuneMode::kNone;
  }
}
void find_no_memory(Scenario& scenario) {
  for (ScenarioVm& vm : scenario.vms) {
    if (is_found_far(vm)) {
      vm.memory_on.clear();
    }
  }
}

bool sets_huge_pages_aside(const Scenario& scenario) {
  return has_huge_pages(scenario.host);
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
  std::int32_t cores = 0;
  for (const ScenarioNode& node : scenario.host.nodes) {
    cores = std::max(cores, node.cores);
  }
  return cores;
}
Bytes largest_node(const Scenario& scenario) {
  Bytes memory;
  for (const ScenarioNode& node : scenario.host.nodes) {
    memory = std::max(memory, node.memory);
  }
  return memory;
}
bool has_wide_vm(const Scenario& scenario) {
  return std::any_of(scenario.vms.begin(), scenario.vms.end(),
                     [&](const ScenarioVm& vm) { return vm.vcpus > widest_node(scenario); });
}
void narrow(Scenario& scenario) {
  for (ScenarioVm& vm : scenario.vms) {
    vm.vcpus = std::min(vm.vcpus, std::max(widest_node(scenario), 1));
    vm.cells = std::min(vm.cells, vm.vcpus);
  }
}
bool has_large_vm(const Scenario& scenario) {
  return std::any_of(scenario.vms.begin(), scenario.vms.end(),
                     [&](const ScenarioVm& vm) { return vm.memory > largest_node(scenario); });
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
  return std::any_of(scenario.host.nodes.begin(), scenario.host.nodes.end(), kIs);
}
const ScenarioNode& complete_node(const Scenario& scenario) {
  return *std::find_if(
      scenario.host.nodes.begin(), scenario.host.nodes.end(),
      [](const ScenarioNode& node) { return !is_memoryless(node) && !is_cpuless(node); });
}
ScenarioNode as_node(NodeId id, ScenarioNode like) {
  like.id = id;
  return like;
}
template <bool (*kIs)(const ScenarioNode&)>
void complete(Scenario& scenario) {
  const ScenarioNode like = complete_node(scenario);
  for (ScenarioNode& node : scenario.host.nodes) {
    if (kIs(node)) {
      node = as_node(node.id, like);
    }
  }
}
bool nodes_differ(const Scenario& scenario) {
  const ScenarioNode& like = complete_node(scenario);
  return std::any_of(scenario.host.nodes.begin(), scenario.host.nodes.end(),
                     [&](const ScenarioNode& node) {
                       return !is_memoryless(node) && !is_cpuless(node) &&
                              (node.cores != like.cores || node.memory != like.memory ||
                               node.threads_per_core != like.threads_per_core);
                     });
}
void make_nodes_alike(Scenario& scenario) {
  const ScenarioNode like = complete_node(scenario);
  for (ScenarioNode& node : scenario.host.nodes) {
    if (!is_memoryless(node) && !is_cpuless(node)) {
      node = as_node(node.id, like);
    }
  }
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
  constexpr std::int32_t kRemote = 21;
  const std::size_t count = scenario.host.nodes.size();
  for (std::size_t i = 0; i < scenario.host.distances.size(); ++i) {
    scenario.host.distances[i] = i % (count + 1) == 0 ? kLocalDistance : kRemote;
  }
}

bool has_talk(const Scenario& scenario) {
  return !scenario.talks.empty();
}
void end_talk(Scenario& scenario) {
  scenario.talks.clear();
}
bool has_other_load(const Scenario& scenario) {
  return !scenario.host.others.empty();
}
void end_other_load(Scenario& scenario) {
  scenario.host.others.clear();
}
bool has_quota(const Scenario& scenario) {
  return any_differs<&ScenarioVm::limit_pct>(scenario);
}
bool counts_reads(const Scenario& scenario) {
  return scenario.host.counts_reads;
}
void count_no_reads(Scenario& scenario) {
  scenario.host.counts_reads = false;
}
bool has_wrong_firmware(const Scenario& scenario) {
  return !scenario.host.firmware_distances.empty();
}
void repair_firmware(Scenario& scenario) {
  scenario.host.firmware_distances.clear();
}
bool believes_firmware(const Scenario& scenario) {
  return !scenario.host.distances_are_measured;
}
void measure_distances(Scenario& scenario) {
  scenario.host.distances_are_measured = true;
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
  return std::any_of(scenario.host.nodes.begin(), scenario.host.nodes.end(),
                     [&](const ScenarioNode& node) { return node.id.value != next++; });
}
void number_nodes_from_0(Scenario& scenario) {
  std::map<NodeId, NodeId> numbers;
  const auto renumber = [&](NodeId& id) { id = numbers.at(id); };
  const auto renumber_all = [&](std::vector<NodeId>& ids) {
    std::for_each(ids.begin(), ids.end(), renumber);
  };
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
    renumber_all(vm.placed_on);
    renumber_all(vm.pinned_on);
    renumber_all(vm.policy.nodes);
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
bool starts_late(const Scenario& scenario) {
  return any_differs<&ScenarioVm::start>(scenario);
}
bool stops(const Scenario& scenario) {
  return any_differs<&ScenarioVm::stop>(scenario);
}

constexpr Feature kTable[] = {
    {"a VM that dies", has_fault<FaultKind::kVmVanishes>, end_fault<FaultKind::kVmVanishes>},
    {"refused pins", has_fault<FaultKind::kPinRefused>, end_fault<FaultKind::kPinRefused>},
    {"pages that cannot move", has_fault<FaultKind::kPagesBusy>, end_fault<FaultKind::kPagesBusy>},
    {"memory taken by others", has_fault<FaultKind::kNoMemory>, end_fault<FaultKind::kNoMemory>},
    {"slow libvirt", has_fault<FaultKind::kSlowLibvirt>, end_fault<FaultKind::kSlowLibvirt>},
    {"missing readings", has_fault<FaultKind::kStaleSample>, end_fault<FaultKind::kStaleSample>},
    {"a daemon that dies", has_fault<FaultKind::kDaemonRestart>,
     end_fault<FaultKind::kDaemonRestart>},
    {"a node offline", has_fault<FaultKind::kNodeOffline>, end_fault<FaultKind::kNodeOffline>},
    {"libvirt gone", has_fault<FaultKind::kLibvirtGone>, end_fault<FaultKind::kLibvirtGone>},
    {"talk", has_talk, end_talk},
    {"CPU time that others use", has_other_load, end_other_load},
    {"loads that change every epoch or two", any_vm<flickers>, steady<flickers>},
    {"loads that come and go", any_vm<repeats>, steady<repeats>},
    {"irregular loads", any_vm<is_irregular>, steady<is_irregular>},
    {"a shift of load", any_vm<changes>, steady<changes>},
    {"noise", any_differs<&ScenarioVm::noise_pct>, make_standard<&ScenarioVm::noise_pct>},
    {"VMs that start later", starts_late, make_standard<&ScenarioVm::start>},
    {"VMs that stop", stops, make_standard<&ScenarioVm::stop>},
    {"a VM wider than a node", has_wide_vm, narrow},
    {"a VM larger than a node", has_large_vm, make_small},
    {"nearly full memory", is_nearly_full, add_memory},
    {"VMs found pinned", any_differs<&ScenarioVm::pinned_on>,
     make_standard<&ScenarioVm::pinned_on>},
    {"memory on nodes from the start", any_differs<&ScenarioVm::placed_on>,
     make_standard<&ScenarioVm::placed_on>},
    {"memory found on a node", any_vm<is_found_far>, find_no_memory},
    {"bound memory", any_vm<is_bound>, free_memory},
    {"huge pages", sets_huge_pages_aside, set_no_huge_pages_aside},
    {"unequal shares", shares_differ, make_standard<&ScenarioVm::shares>},
    {"CPU quotas", has_quota, make_standard<&ScenarioVm::limit_pct>},
    {"reserved CPU time", any_policy_differs<&VmPolicy::reservation_permille>,
     make_policy_standard<&VmPolicy::reservation_permille>},
    {"another use by QEMU than 0.015", any_differs<&ScenarioVm::qemu>,
     make_standard<&ScenarioVm::qemu>},
    {"a price of remote memory", any_policy_differs<&VmPolicy::locality_weight_pct>,
     make_policy_standard<&VmPolicy::locality_weight_pct>},
    {"counted reads", counts_reads, count_no_reads},
    {"a known history", has_history, forget_history},
    {"another stall than 0.3", any_differs<&ScenarioVm::stall>, make_standard<&ScenarioVm::stall>},
    {"guest cells", any_differs<&ScenarioVm::cells>, make_standard<&ScenarioVm::cells>},
    {"a group that belongs together", any_policy_differs<&VmPolicy::affinity_group>,
     make_policy_standard<&VmPolicy::affinity_group>},
    {"a group that belongs apart", any_policy_differs<&VmPolicy::anti_affinity_group>,
     make_policy_standard<&VmPolicy::anti_affinity_group>},
    {"a hard group", any_policy_differs<&VmPolicy::anti_affinity_hard>,
     make_policy_standard<&VmPolicy::anti_affinity_hard>},
    {"VMs with a mask of nodes", any_policy_differs<&VmPolicy::nodes>,
     make_policy_standard<&VmPolicy::nodes>},
    {"VMs that must not move", any_policy_differs<&VmPolicy::do_not_move>,
     make_policy_standard<&VmPolicy::do_not_move>},
    {"a memory mode", any_policy_differs<&VmPolicy::memory_mode>,
     make_policy_standard<&VmPolicy::memory_mode>},
    {"VMs split by memory", any_policy_differs<&VmPolicy::consolidate>,
     make_policy_standard<&VmPolicy::consolidate>},
    {"a strategy", has_strategy, drop_strategy},
    {"a CPU binding", any_policy_differs<&VmPolicy::cpu_binding>,
     make_policy_standard<&VmPolicy::cpu_binding>},
    {"a CPU policy", any_policy_differs<&VmPolicy::cpu_policy>,
     make_policy_standard<&VmPolicy::cpu_policy>},
    {"a class of CPU time", any_policy_differs<&VmPolicy::cpu_class>,
     make_policy_standard<&VmPolicy::cpu_class>},
    {"a memoryless node", any_node<is_memoryless>, complete<is_memoryless>},
    {"a node without CPUs", any_node<is_cpuless>, complete<is_cpuless>},
    {"uneven nodes", nodes_differ, make_nodes_alike},
    {"SMT", any_node<shares_cores>, set_nodes<&ScenarioNode::threads_per_core, 1>},
    {"several caches a node", any_node<has_caches>, set_nodes<&ScenarioNode::caches, 1>},
    {"nodes of one core", any_node<has_one_core>, widen_cores},
    {"wrong distances in the firmware", has_wrong_firmware, repair_firmware},
    {"decisions by the firmware's distances", believes_firmware, measure_distances},
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
