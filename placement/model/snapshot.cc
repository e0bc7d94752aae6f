// SPDX-License-Identifier: Apache-2.0
#include "placement/model/snapshot.h"

#include <algorithm>

namespace vmnuma {

Bytes reservations_of(const NodeState& node, Bytes page_size) {
  for (const PagesOfSize& kept : node.reservations) {
    if (kept.page_size == page_size) {
      return kept.memory;
    }
  }
  return Bytes{};
}

Bytes page_size_of(const Snapshot& snapshot, const ClientState& client) {
  return client.page_size.value_or(snapshot.vms[client.vm].huge_page_size);
}

bool is_measured(const Snapshot& snapshot) {
  return std::any_of(snapshot.nodes.begin(), snapshot.nodes.end(),
                     [](const NodeState& node) { return node.cpu_measured; });
}

const VmState* find_vm(const Snapshot& snapshot, const VmId& id) {
  const auto found =
      std::lower_bound(snapshot.vms.begin(), snapshot.vms.end(), id,
                       [](const VmState& vm, const VmId& key) { return vm.id < key; });
  return found != snapshot.vms.end() && found->id == id ? &*found : nullptr;
}

ClientIndex index_of(const Snapshot& snapshot, const ClientId& id) {
  const auto found = std::lower_bound(
      snapshot.clients.begin(), snapshot.clients.end(), id,
      [](const ClientState& client, const ClientId& key) { return client.id < key; });
  return found != snapshot.clients.end() && found->id == id
             ? static_cast<ClientIndex>(found - snapshot.clients.begin())
             : kNoClient;
}

const ClientState* find_client(const Snapshot& snapshot, const ClientId& id) {
  const ClientIndex index = index_of(snapshot, id);
  return index == kNoClient ? nullptr : &snapshot.clients[index];
}

}  // namespace vmnuma
