// SPDX-License-Identifier: Apache-2.0
#include "balancer/controller/homes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "balancer/controller/cpu_control.h"
#include "balancer/controller/found_pins.h"
#include "placement/base/mapped.h"

namespace vmnuma::balancer {

namespace {

/// True if the client is pinned to isolated CPUs, which still exist, while its remembered home also
/// has CPUs for VMs: our pins would include those as well.
bool is_given_isolated_cpus(const VmRecord& vm, const ClientRecord& client, NodeId remembered,
                            const Topology& topology) {
  const std::optional<NodeIndex> home = topology.index_of(remembered);
  if (!home || topology.nodes[*home].cpus.empty()) {
    return false;
  }
  return std::ranges::any_of(topology.nodes, [&](const auto& node) {
    return std::ranges::any_of(client.shape.vcpus, [&](auto vcpu) {
      const auto pin = pinned_cpus(vm.description.vcpu_pins, vcpu);
      return std::find_first_of(pin.begin(), pin.end(), node.isolated_cpus.begin(),
                                node.isolated_cpus.end()) != pin.end();
    });
  });
}

}  // namespace

void Homes::adopt_found(const VmId& id, std::int64_t epoch) {
  if (vms_.of(id).released) {
    return;
  }
  const VmRecord& vm = *ledger_.find(id);
  ManagedVm& managed = vms_[id];
  const PinReader reader(ledger_.topology());
  std::vector<std::pair<ClientId, FoundHome>> found;
  for (std::size_t index = 0; index < vm.clients.size(); ++index) {
    const ClientId client{id, static_cast<std::int32_t>(index)};
    const PinState pins =
        reader.state_of(vm, vm.clients[index], managed.cpu_subset_of(client.index));
    const auto remembered = managed.remembered_homes.find(client.index);
    const bool is_remembered = remembered != managed.remembered_homes.end();
    const bool ours = is_remembered && remembered->second == pins.node;
    if (pins.kind == PinState::Kind::kOneNode ||
        (pins.kind == PinState::Kind::kIncomplete && ours)) {
      found.emplace_back(client, FoundHome{pins.node, NodeId{}});
      managed.why_here[client.index] = ours
                                           ? "it was placed here before the daemon was last started"
                                           : "it was found pinned to this node";
    } else if (pins.kind == PinState::Kind::kGone && is_remembered &&
               !is_given_isolated_cpus(vm, vm.clients[index], remembered->second,
                                       ledger_.topology())) {
      // The CPUs of its home went offline while the daemon was not running.
      managed.outdate(epoch);
    } else if (const auto home = find_cpu_subset(vm, index, ledger_.topology(), managed)) {
      found.emplace_back(client, *home);
      managed.why_here[client.index] = "it was placed here before the daemon was last started";
    } else if (pins.kind != PinState::Kind::kFree) {
      managed.cpu_subset.reset();
      leave_to_others(vm, differing_pins_text({}));
      return;
    }
  }
  for (const auto& [client, home] : found) {
    ledger_.adopt_home(client, home.home);
    ledger_.set_spill(client, home.spills_to);
  }
  if (!found.empty()) {
    remember_homes_of(id);
  }
}

void Homes::adopt_recovered(const VmId& id, std::int64_t epoch) {
  ManagedVm& managed = vms_[id];
  managed.recovered_in.reset();
  managed.pinned_by_others.reset();
  managed.cpu_subset.reset();
  adopt_found(id, epoch);
}

void Homes::give_up_homes_of(const VmRecord& vm) {
  for (std::size_t index = 0; index < vm.clients.size(); ++index) {
    give_up({vm.description.id, static_cast<std::int32_t>(index)});
  }
}

void Homes::adopt(const ClientId& client, NodeId node, std::string why) {
  ledger_.adopt_home(client, node);
  vms_[client.vm].why_here[client.index] = std::move(why);
}

void Homes::leave_to_others(const VmRecord& vm, std::string because) {
  const std::string& name = vm.description.name;
  effects_.say_of_vm(
      name, Severity::kNotice,
      fmt::format("VM '{}' is pinned externally ({}), leaving it alone", name, because));
  vms_[vm.description.id].pinned_by_others = std::move(because);
}

void Homes::settle_on_only_home() {
  const std::optional<NodeIndex> only = ledger_.topology().only_home();
  if (!only) {
    return;
  }
  const NodeId node = ledger_.topology().nodes[*only].id;
  for (const auto& [id, vm] : ledger_.vms()) {
    for (std::size_t index = 0; index < vm.clients.size() && !vms_.of(id).released; ++index) {
      if (vm.clients[index].home.value < 0) {
        adopt({id, static_cast<std::int32_t>(index)}, node,
              "no other node has both memory and CPUs that VMs may use");
      }
    }
  }
}

void Homes::place_again(const VmRecord& vm, std::string because) {
  const VmId id = vm.description.id;
  std::vector<NodeId> homes = mapped(vm.clients, &ClientRecord::home);
  give_up_homes_of(vm);
  ledger_.set_suggested(id, homes);
  remember_homes_of(id);
  effects_.say_of_vm(vm.description.name, Severity::kNotice, std::move(because));
}

void Homes::end_spills(const VmRecord& vm) {
  const VmId& id = vm.description.id;
  for (std::size_t index = 0; index < vm.clients.size(); ++index) {
    ledger_.set_spill({id, static_cast<std::int32_t>(index)}, NodeId{});
  }
  const VmCpus pinned = pins_as_given(vm);
  ManagedVm& managed = vms_[id];
  if (pinned == whole_homes(vm, ledger_.topology())) {
    managed.cpu_subset.reset();
  } else {
    managed.cpu_subset = pinned;
  }
}

void Homes::find_again(std::int64_t epoch) {
  const PinReader reader(ledger_.topology());
  for (const auto& [id, vm] : ledger_.vms()) {
    const ManagedVm& managed = vms_.of(id);
    const bool moving = std::any_of(vm.clients.begin(), vm.clients.end(),
                                    [](const ClientRecord& client) { return client.moving; });
    if (moving || managed.released || !managed.is_settled(epoch)) {
      continue;
    }
    for (std::size_t index = 0; index < vm.clients.size(); ++index) {
      const ClientId client{id, static_cast<std::int32_t>(index)};
      const PinState pins =
          reader.state_of(vm, vm.clients[index], managed.cpu_subset_of(client.index));
      if (pins.kind == PinState::Kind::kOneNode && !managed.pinned_by_others) {
        ledger_.adopt_home(client, pins.node);
      } else {
        give_up(client);
      }
    }
    remember_homes_of(id);
  }
}

// ---- the history ----

void Homes::remember(const ClientId& client, NodeId home) {
  vms_[client.vm].remembered_homes[client.index] = home;
  effects_.homes.push_back({client, home});
}

void Homes::forget_all_of(const VmId& id) {
  vms_[id].remembered_homes.clear();
  effects_.homes.push_back({{id, 0}, NodeId{}});
}

/// Writes all homes of the VM: the history forgets homes per VM, so after one change the unchanged
/// ones must be written again.
void Homes::remember_homes_of(const VmId& id) {
  const VmRecord* vm = ledger_.find(id);
  if (vm == nullptr || ledger_.topology().only_home()) {
    return;
  }
  std::map<std::int32_t, NodeId> now;
  for (std::size_t index = 0; index < vm->clients.size(); ++index) {
    if (vm->clients[index].home.value >= 0) {
      now.emplace(static_cast<std::int32_t>(index), vm->clients[index].home);
    }
  }
  if (now == vms_.of(id).remembered_homes) {
    return;
  }
  forget_all_of(id);
  for (const auto& [client, home] : now) {
    remember({id, client}, home);
  }
}

}  // namespace vmnuma::balancer
