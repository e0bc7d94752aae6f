// SPDX-License-Identifier: Apache-2.0
#include "balancer/core/new_vm.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "placement/arrangement.h"
#include "placement/clients.h"
#include "placement/exclusive_cores.h"
#include "placement/memory_cost.h"
#include "placement/memory_room.h"

namespace vmnuma::balancer {

namespace {

/// Lets the client touch all of its memory: at home, and then as near as there is room. That room
/// is then taken.
void touch_memory(Snapshot& snapshot, ClientState& client, MemoryRoom& room, NewHome& home) {
  std::vector<NodeIndex> nodes(snapshot.nodes.size());
  std::iota(nodes.begin(), nodes.end(), NodeIndex{0});
  std::ranges::stable_sort(nodes, {}, [&](NodeIndex node) {
    return node == client.home ? 0 : snapshot.topology.distance(client.home, node);
  });
  client.memory.assign(nodes.size(), Bytes{});
  client.memory_known = true;
  Bytes left = client.memory_size;
  const auto index = static_cast<ClientIndex>(&client - snapshot.clients.data());
  const bool is_ordinary = page_size_of(snapshot, client) == Bytes{};
  for (const NodeIndex node : nodes) {
    const bool may_lie_there =
        client.bound_to.empty() || std::ranges::binary_search(client.bound_to, node);
    const Bytes there = may_lie_there ? std::max(room.of(index, node), Bytes{}) : Bytes{};
    const Bytes here = std::min(left, there);
    client.memory[node] = here;
    room.of(index, node) -= here;
    snapshot.nodes[node].free -= is_ordinary ? here : Bytes{};
    left -= here;
    home.elsewhere += node == client.home ? Bytes{} : here;
  }
  home.nowhere = left;
}

/// Gives the client its own cores, on which no other client can count then.
void hold_own_cores(const Snapshot& snapshot, ClientState& client) {
  const VmPolicy& policy = snapshot.vms[client.vm].policy;
  if (policy.cpu_binding == CpuBinding::kExclusive && client.home != kNoNode) {
    client.exclusive_cores =
        cores_for(policy.cpu_policy, client.vcpu_count(), snapshot.topology.nodes[client.home]);
  }
}

/// Returns the VM's homes, and the nodes on which its memory lies. Ascending.
std::vector<NodeIndex> homes_of_vm(const Snapshot& snapshot, const VmId& id) {
  std::vector<NodeIndex> nodes;
  const VmState* vm = find_vm(snapshot, id);
  for (NodeIndex node = 0; vm != nullptr && node < snapshot.nodes.size(); ++node) {
    const auto clients = clients_of(snapshot, *vm);
    if (std::ranges::any_of(clients, [node](const ClientState& client) {
          return client.home == node ||
                 (node < client.memory.size() && client.memory[node] > Bytes{});
        })) {
      nodes.push_back(node);
    }
  }
  return nodes;
}

}  // namespace

void add_vm(Snapshot& snapshot, const NewVm& vm, const Options& options) {
  // Inserted at its place by id.
  const auto place = std::ranges::lower_bound(snapshot.vms, vm.description.id, {}, &VmState::id);
  const auto index = static_cast<std::size_t>(place - snapshot.vms.begin());
  VmState state;
  state.id = vm.description.id;
  state.name = vm.description.name;
  state.guest_os = vm.description.guest_os;
  state.policy = vm.description.policy;
  state.weight = vm.weight;
  state.memory_stays_because = why_memory_stays(vm.description).value_or("");
  state.huge_page_size = vm.description.huge_page_size;
  state.stall = stall_of(state.policy, /*counted=*/std::nullopt, options);
  state.device_nodes = device_nodes(snapshot.topology, vm.description);
  state.wished_nodes = wished_nodes(snapshot.topology, vm.description);
  state.measured = false;
  state.suggested = vm.suggested;
  state.first_client = place == snapshot.vms.end() ? snapshot.clients.size() : place->first_client;
  const std::vector<ClientShape> shapes =
      split_into_clients(vm.description, snapshot.topology, options.prefer_ht != 0);
  state.client_count = shapes.size();
  const std::vector<NodeIndex> allowed = allowed_homes(snapshot.topology, vm.description);
  std::vector<ClientState> clients;
  for (const ClientShape& shape : shapes) {
    ClientState client;
    client.id = {state.id, static_cast<std::int32_t>(clients.size())};
    client.vcpus = shape.vcpus;
    client.memory_size = shape.memory;
    client.page_size = other_page_size(vm.description, shape.cells);
    client.allowed = allowed;
    client.bound_to = bound_nodes(snapshot.topology, vm.description, shape.cells);
    client.epochs_since_swap = 1'000'000;
    client.demand = snapshot.epoch_length * client.vcpu_count() * vm.load.value / 1000;
    client.used = client.load = client.demand;
    client.weight = static_cast<std::int64_t>(vm.weight) * 1000 * client.vcpu_count() /
                    static_cast<std::int64_t>(vm.description.vcpus.size());
    state.demand += client.demand;
    clients.push_back(std::move(client));
  }
  const std::size_t count = clients.size();
  snapshot.clients.insert(
      snapshot.clients.begin() + static_cast<std::ptrdiff_t>(state.first_client),
      std::make_move_iterator(clients.begin()), std::make_move_iterator(clients.end()));
  snapshot.vms.insert(place, std::move(state));
  for (std::size_t v = index; v < snapshot.vms.size(); ++v) {
    VmState& moved = snapshot.vms[v];
    moved.first_client += v > index ? count : 0;
    for (ClientState& client : clients_of(snapshot, moved)) {
      client.vm = v;
    }
  }
}

std::vector<NewHome> place_vm(Snapshot& snapshot, const VmId& id, const Options& options,
                              NodeIndex& last_placed_on) {
  const VmState* vm = find_vm(snapshot, id);
  std::vector<HomeChoice> choices;
  {
    Arrangement by_load(snapshot, options, Arrangement::Basis::kLoad);
    choices = choose_homes(by_load, vm->first_client, vm->client_count, last_placed_on);
  }
  MemoryRoom room(snapshot);
  auto choice = choices.begin();  // in the order of the clients
  std::vector<NewHome> homes;
  for (std::size_t i = 0; i < vm->client_count; ++i) {
    const ClientIndex index = vm->first_client + i;
    ClientState& client = snapshot.clients[index];
    NewHome home;
    home.client = client.id;
    home.vcpus = client.vcpu_count();
    home.memory = client.memory_size;
    if (choice != choices.end() && choice->client == index) {
      home.home = client.home = choice->home;
      home.considered = std::move(choice->considered);
      ++choice;
    }
    if (client.home != kNoNode) {
      hold_own_cores(snapshot, client);
      touch_memory(snapshot, client, room, home);
    }
    homes.push_back(std::move(home));
  }
  return homes;
}

void settle_vm(Snapshot& snapshot, const VmId& id, const std::vector<NodeIndex>& homes) {
  const VmState* vm = find_vm(snapshot, id);
  MemoryRoom room(snapshot);
  for (std::size_t i = 0; vm != nullptr && !homes.empty() && i < vm->client_count; ++i) {
    ClientState& client = snapshot.clients[vm->first_client + i];
    client.home = homes[std::min(i, homes.size() - 1)];
    hold_own_cores(snapshot, client);
    NewHome ignored;
    touch_memory(snapshot, client, room, ignored);
  }
}

std::vector<NodeIndex> start_nodes(const Snapshot& snapshot, const VmDescription& vm,
                                   const std::vector<NewHome>& homes) {
  std::vector<NodeIndex> allowed = allowed_homes(snapshot.topology, vm);
  keep_where_memory_may_lie(snapshot.topology, vm, allowed);
  std::vector<NodeIndex> nodes = homes_of_vm(snapshot, vm.id);
  if (std::ranges::any_of(homes, [](const NewHome& home) { return home.nowhere > Bytes{}; })) {
    std::vector<NodeIndex> all;
    std::set_union(nodes.begin(), nodes.end(), allowed.begin(), allowed.end(),
                   std::back_inserter(all));
    nodes = std::move(all);
  }
  if (!vm.policy.nodes.empty()) {
    std::erase_if(nodes,
                  [&](NodeIndex node) { return !std::ranges::binary_search(allowed, node); });
  }
  return nodes;
}

}  // namespace vmnuma::balancer
