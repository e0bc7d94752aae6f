// SPDX-License-Identifier: Apache-2.0
#include "balancer/controller/confinement.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "placement/model/text.h"

namespace vmnuma::balancer {

namespace {

/// The nodes with CPUs that the VM may use, and whether it may use all CPUs that VMs may use.
struct Reach {
  std::vector<NodeId> nodes;
  bool is_whole = true;
};
Reach reach_of(const std::vector<CpuId>& allowed, const Topology& topology) {
  Reach reach;
  for (const Node& node : topology.nodes) {
    const auto count = std::ranges::count_if(
        node.cpus, [&](const Cpu& cpu) { return std::ranges::binary_search(allowed, cpu.id); });
    if (count > 0) {
      reach.nodes.push_back(node.id);
    }
    reach.is_whole = reach.is_whole && count == std::ssize(node.cpus);
  }
  return reach;
}

/// Property 2.
void settle(const VmRecord& vm, const std::vector<NodeId>& nodes, const std::string& why,
            Homes& homes) {
  for (std::size_t index = 0; index < vm.clients.size() && nodes.size() < 2; ++index) {
    const ClientId client{vm.description.id, static_cast<std::int32_t>(index)};
    const NodeId home = vm.clients[index].home;
    if (!nodes.empty() && home != nodes.front()) {
      homes.adopt(client, nodes.front(), why);
    } else if (nodes.empty() && home.value >= 0) {
      homes.give_up(client);
    }
  }
  homes.remember_homes_of(vm.description.id);
}

}  // namespace

void record_confined(const Sample& sample, const Ledger& ledger, ManagedVms& vms, Homes& homes,
                     Effects& effects) {
  for (const VmSample& reading : sample.vms) {
    const VmRecord* vm = ledger.find(reading.id);
    if (vm == nullptr) {
      continue;
    }
    const Reach reach = reading.cpus ? reach_of(*reading.cpus, ledger.topology()) : Reach{};
    const std::string& name = vm->description.name;
    if (reach.is_whole) {
      if (vms.of(reading.id).confined) {
        vms[reading.id].confined.reset();
        effects.say_of_vm(
            name, Severity::kNotice,
            fmt::format("the cgroup of VM '{}' no longer restricts its CPUs, managing it again",
                        name));
      }
      continue;
    }
    std::string why = fmt::format("its cgroup lets it run on CPUs {} only", to_list(*reading.cpus));
    if (vms.of(reading.id).confined != why) {
      effects.say_of_vm(name, Severity::kNotice,
                        fmt::format("VM '{}' is left alone: {}", name, why));
    }
    const bool is_moving = std::ranges::any_of(vm->clients, &ClientRecord::moving);
    if (!is_moving && !vms.of(reading.id).released) {
      settle(*vm, reach.nodes, why, homes);
    }
    vms[reading.id].confined = std::move(why);
  }
}

}  // namespace vmnuma::balancer
