// SPDX-License-Identifier: Apache-2.0
#include "balancer/core/after_plan.h"

#include <algorithm>

#include "placement/memory_room.h"

namespace vmnuma::balancer {

namespace {

/// Moves the client's memory to `to`; memory for which there is no room yet stays where it is.
void gather_memory(Snapshot& snapshot, ClientState& client, NodeIndex to) {
  const bool is_ordinary = page_size_of(snapshot, client) == Bytes{};
  const auto index = static_cast<ClientIndex>(&client - snapshot.clients.data());
  Bytes room = std::max(MemoryRoom(snapshot).of(index, to), Bytes{});
  for (NodeIndex node = 0; node < client.memory.size(); ++node) {
    const Bytes moved = node == to ? Bytes{} : std::min(client.memory[node], room);
    client.memory[node] -= moved;
    client.memory[to] += moved;
    room -= moved;
    if (is_ordinary) {
      snapshot.nodes[node].free += moved;
      snapshot.nodes[to].free -= moved;
    }
  }
}

}  // namespace

Snapshot after_plan(Snapshot snapshot, const Plan& plan) {
  for (const Action& action : plan.actions) {
    for (const Relocation& relocation : action.relocations) {
      const ClientIndex index = index_of(snapshot, relocation.client);
      if (index == kNoClient) {
        continue;
      }
      ClientState* client = &snapshot.clients[index];
      client->spills_to = relocation.spills_to;
      if (client->home != relocation.to) {
        client->came_from = client->home;
        client->home = relocation.to;
        client->epochs_here = 0;
        if (exchanges_homes(action.reason)) {
          client->epochs_since_swap = 0;
        }
      }
    }
    // Two clients that change places need each other's room: clients that leave a node go first.
    for (int round = 0; round < 2; ++round) {
      for (const Relocation& relocation : action.relocations) {
        const ClientIndex index = index_of(snapshot, relocation.client);
        if (index != kNoClient && snapshot.clients[index].memory_known &&
            relocation.memory > Bytes{}) {
          gather_memory(snapshot, snapshot.clients[index], relocation.to);
        }
      }
    }
  }
  return snapshot;
}

}  // namespace vmnuma::balancer
