// SPDX-License-Identifier: Apache-2.0
#include "balancer/controller/cpu_pins.h"

#include <algorithm>
#include <optional>

#include "placement/base/mapped.h"
#include "placement/base/sorted.h"
#include "placement/cpu_assignment.h"

namespace vmnuma::balancer {

namespace {

bool asks_for_cpus(const VmPolicy& policy) {
  return policy.cpu_binding != CpuBinding::kNode || policy.cpu_policy != CpuPolicy::kNone ||
         policy.cpu_class != CpuClass::kNone;
}

/// Where a client lives and, if it spills, runs as well.
struct Places {
  NodeIndex home = kNoNode;
  NodeIndex second = kNoNode;
};

/// The places of clients once the relocations are made.
std::map<ClientId, Places> places_after(const Ledger& ledger,
                                        const std::vector<Relocation>& relocations,
                                        const std::set<VmId>& left_alone) {
  const Topology& topology = ledger.topology();
  std::map<ClientId, Places> places;
  for (const auto& [id, vm] : ledger.vms()) {
    for (std::size_t index = 0; index < vm.clients.size(); ++index) {
      const ClientRecord& client = vm.clients[index];
      if (const auto home = topology.index_of(client.home)) {
        places[{id, static_cast<std::int32_t>(index)}] = {
            *home, topology.index_of(client.spills_to).value_or(kNoNode)};
      }
    }
  }
  for (const Relocation& relocation : relocations) {
    if (ledger.find(relocation.client.vm) != nullptr) {
      places[relocation.client] = {relocation.to, relocation.spills_to};
    }
  }
  std::erase_if(places, [&](const auto& entry) { return left_alone.contains(entry.first.vm); });
  return places;
}

/// The CPUs that the client has had on the node, and whether these were cores of its own: then the
/// VM's reach is larger, because one core is left for all.
Former former_of(const VmCpus& vm, std::size_t client, const Node& node) {
  std::vector<CpuId> reach;
  for (const CpuId cpu : cpus_of(node)) {
    if (std::ranges::binary_search(vm.reach, cpu)) {
      reach.push_back(cpu);
    }
  }
  return {vm.clients[client], reach != vm.clients[client]};
}

std::vector<CpuGrant> grants_on(const Ledger& ledger, NodeIndex node,
                                const std::map<ClientId, Places>& places,
                                const std::map<VmId, VmCpus>& former) {
  std::vector<CpuRequest> requests;
  FormerCpus had;
  for (const auto& [id, place] : places) {
    if (place.home != node) {
      continue;
    }
    const VmRecord& vm = *ledger.find(id.vm);
    const auto index = static_cast<std::size_t>(id.index);
    const ClientRecord& client = vm.clients[index];
    const VmPolicy& policy = vm.description.policy;
    requests.push_back({id, static_cast<std::int32_t>(client.shape.vcpus.size()),
                        policy.cpu_binding, policy.cpu_policy, policy.cpu_class, client.average});
    if (const auto known = former.find(id.vm);
        known != former.end() && index < known->second.clients.size()) {
      had[id] = former_of(known->second, index, ledger.topology().nodes[node]);
    }
  }
  return requests.empty() ? std::vector<CpuGrant>{}
                          : assign_cpus(ledger.topology().nodes[node], requests, had);
}

/// The node's CPUs except all threads of cores that belong to a single other VM.
std::vector<CpuId> without_cores_of_others(const Node& node, const std::vector<CpuGrant>& grants,
                                           const VmId& vm) {
  std::set<std::int32_t> taken;
  for (const CpuGrant& grant : grants) {
    for (const Cpu& cpu : node.cpus) {
      if (grant.exclusive_cores > 0 && grant.client.vm != vm &&
          std::ranges::binary_search(grant.cpus, cpu.id)) {
        taken.insert(cpu.core);
      }
    }
  }
  std::vector<CpuId> cpus;
  for (const Cpu& cpu : node.cpus) {
    if (!taken.contains(cpu.core)) {
      cpus.push_back(cpu.id);
    }
  }
  return cpus;
}

void give(VmCpus& vm, std::size_t client, const std::vector<CpuId>& cpus,
          const std::vector<CpuId>& reach) {
  vm.clients[client] = cpus;
  vm.reach.insert(vm.reach.end(), reach.begin(), reach.end());
  vm.reach = sorted_unique(std::move(vm.reach));
}

/// Adds CPUs to those that the client already has.
void give_more(VmCpus& vm, std::size_t client, const std::vector<CpuId>& cpus) {
  std::vector<CpuId> all = vm.clients[client];
  all.insert(all.end(), cpus.begin(), cpus.end());
  give(vm, client, sorted_unique(std::move(all)), cpus);
}

}  // namespace

std::vector<CpuId> cpus_of(const Node& node) {
  return mapped(node.cpus, &Cpu::id);
}

VmCpus whole_nodes(const std::vector<NodeIndex>& homes, const Topology& topology) {
  VmCpus whole;
  whole.clients.resize(homes.size());
  for (std::size_t client = 0; client < homes.size(); ++client) {
    if (homes[client] != kNoNode) {
      const std::vector<CpuId> all = cpus_of(topology.nodes[homes[client]]);
      give(whole, client, all, all);
    }
  }
  return whole;
}

VmCpus whole_homes(const VmRecord& vm, const Topology& topology) {
  std::vector<NodeIndex> homes;
  homes.reserve(vm.clients.size());
  for (const ClientRecord& client : vm.clients) {
    homes.push_back(topology.index_of(client.home).value_or(kNoNode));
  }
  return whole_nodes(homes, topology);
}

CpuPins find_cpu_pins(const Ledger& ledger, const std::vector<Relocation>& relocations,
                      const std::map<VmId, VmCpus>& former, const std::set<VmId>& left_alone) {
  CpuPins pins;
  const std::map<ClientId, Places> places = places_after(ledger, relocations, left_alone);
  const bool is_plain =
      std::ranges::none_of(places,
                           [](const auto& entry) { return entry.second.second != kNoNode; }) &&
      std::ranges::none_of(ledger.vms(), [](const auto& entry) {
        return asks_for_cpus(entry.second.description.policy);
      });
  if (is_plain) {
    return pins;
  }
  const Topology& topology = ledger.topology();
  std::map<VmId, VmCpus> given;
  std::map<VmId, VmCpus> whole;
  for (const auto& [id, vm] : ledger.vms()) {
    given[id].clients.resize(vm.clients.size());
    whole[id].clients.resize(vm.clients.size());
  }
  std::vector<std::vector<CpuGrant>> grants_by_node;
  for (NodeIndex node = 0; node < topology.nodes.size(); ++node) {
    const std::vector<CpuGrant>& grants =
        grants_by_node.emplace_back(grants_on(ledger, node, places, former));
    for (const CpuGrant& grant : grants) {
      if (!grant.refused.empty()) {
        pins.refused[grant.client] = grant.refused;
      }
      if (grant.exclusive_cores > 0) {
        pins.exclusive_cores[grant.client] = grant.exclusive_cores;
      }
    }
    const std::vector<CpuId> all = cpus_of(topology.nodes[node]);
    for (const CpuGrant& grant : grants) {
      const auto index = static_cast<std::size_t>(grant.client.index);
      give(given[grant.client.vm], index, grant.cpus,
           without_cores_of_others(topology.nodes[node], grants, grant.client.vm));
      give(whole[grant.client.vm], index, all, all);
    }
  }
  for (const auto& [client, place] : places) {
    if (place.second != kNoNode) {
      give_more(given[client.vm], static_cast<std::size_t>(client.index),
                without_cores_of_others(topology.nodes[place.second], grants_by_node[place.second],
                                        client.vm));
    }
  }
  for (auto& [id, cpus] : given) {
    if (cpus != whole[id]) {
      pins.subsets.emplace(id, std::move(cpus));
    }
  }
  return pins;
}

}  // namespace vmnuma::balancer
