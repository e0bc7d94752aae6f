// SPDX-License-Identifier: Apache-2.0
#include "placement/memory_room.h"

#include <algorithm>
#include <map>

namespace vmnuma {

std::vector<Bytes> memory_by_node(const Snapshot& snapshot, const ClientState& client) {
  std::vector<Bytes> memory = client.memory;
  if (page_size_of(snapshot, client) == Bytes{}) {
    return memory;
  }
  Bytes beyond = sum_of(memory) - client.memory_size;
  // It is not known which memory is not from the pool; we assume that it lies where most memory
  // lies.
  while (beyond > Bytes{}) {
    Bytes& most = *std::ranges::max_element(memory);
    const Bytes taken = std::min(most, beyond);
    most -= taken;
    beyond -= taken;
  }
  return memory;
}

Bytes promised_beside(const Snapshot& snapshot, const ClientState& client) {
  const bool all_is_held = page_size_of(snapshot, client) > Bytes{} && !client.memory_known;
  if (snapshot.vms[client.vm].policy.memory_class != MemoryClass::kGuaranteed || all_is_held) {
    return Bytes{};
  }
  return std::max(client.memory_size - sum_of(memory_by_node(snapshot, client)), Bytes{});
}

Bytes outside_pools(const Node& node) {
  Bytes memory = node.memory;
  for (const HugePagePool& pool : node.huge_pages) {
    memory -= pool.page_size * pool.pages;
  }
  return memory;
}

Bytes ordinary_for_vms(const Snapshot& snapshot, NodeIndex node) {
  const Node& known = snapshot.topology.nodes[node];
  return snapshot.nodes[node].total - snapshot.nodes[node].reserve -
         (known.memory - outside_pools(known));
}

MemoryRoom MemoryRoom::none(const Snapshot& snapshot) {
  MemoryRoom room;
  std::map<Bytes, std::size_t> kinds{{Bytes{}, 0}};
  room.kinds_.resize(snapshot.clients.size());
  for (ClientIndex client = 0; client < snapshot.clients.size(); ++client) {
    const Bytes page_size = page_size_of(snapshot, snapshot.clients[client]);
    if (page_size > Bytes{}) {
      room.kinds_[client] = kinds.try_emplace(page_size, kinds.size()).first->second;
    }
  }
  room.amounts_.assign(kinds.size(), std::vector<Bytes>(snapshot.nodes.size()));
  return room;
}

MemoryRoom::MemoryRoom(const Snapshot& snapshot) : MemoryRoom(none(snapshot)) {
  std::vector<bool> is_filled(amounts_.size());
  for (ClientIndex i = 0; i < snapshot.clients.size(); ++i) {
    const ClientState& client = snapshot.clients[i];
    const std::size_t kind = kinds_[i];
    if (kind == 0) {
      continue;
    }
    std::vector<Bytes> held = memory_by_node(snapshot, client);
    if (!client.memory_known && client.home != kNoNode) {
      held.assign(snapshot.nodes.size(), Bytes{});
      held[client.home] = client.memory_size;
    }
    for (NodeIndex node = 0; node < snapshot.nodes.size(); ++node) {
      if (!is_filled[kind]) {
        const Bytes page_size = page_size_of(snapshot, client);
        amounts_[kind][node] +=
            page_size * pages_of(snapshot.topology.nodes[node].huge_pages, page_size) -
            reservations_of(snapshot.nodes[node], page_size);
      }
      amounts_[kind][node] -= node < held.size() ? held[node] : Bytes{};
    }
    is_filled[kind] = true;
  }
  for (NodeIndex node = 0; node < snapshot.nodes.size(); ++node) {
    amounts_.front()[node] =
        std::max(snapshot.nodes[node].free - snapshot.nodes[node].reserve, Bytes{});
  }
  for (ClientIndex i = 0; i < snapshot.clients.size(); ++i) {
    if (const ClientState& client = snapshot.clients[i]; client.home != kNoNode) {
      of(i, client.home) -= promised_beside(snapshot, client);
    }
  }
}

}  // namespace vmnuma
