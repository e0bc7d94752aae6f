// SPDX-License-Identifier: Apache-2.0
// The part of starts.h that finds and displays the largest VM that would start now.
#include <algorithm>
#include <map>
#include <set>

#include "balancer/controller/starts.h"
#include "placement/largest_vm.h"
#include "placement/memory_room.h"
#include "placement/model/reserved_memory.h"

namespace vmnuma::balancer {

namespace {

/// The memory that running VMs have from a node's pool, for VMs that use only its pages.
Bytes held_of(const Snapshot& snapshot, const MemoryRoom& room, NodeIndex node,
              const HugePagePool& pool) {
  for (ClientIndex i = 0; i < snapshot.clients.size(); ++i) {
    if (page_size_of(snapshot, snapshot.clients[i]) == pool.page_size) {
      // The room excludes reservations as well.
      return pool.page_size * pool.pages - room.of(i, node) -
             reservations_of(snapshot.nodes[node], pool.page_size);
    }
  }
  return Bytes{};
}

/// The node where a VM would find the most memory in pages of this size; the first of equals.
LargestOnPagesView largest_on_pages(const Snapshot& snapshot, const std::vector<LargestVm>& by_node,
                                    Bytes page_size) {
  LargestOnPagesView view;
  view.page_bytes = page_size.value;
  for (NodeIndex node = 0; node < by_node.size(); ++node) {
    for (const PagesOfSize& pages : by_node[node].huge_pages) {
      if (pages.page_size == page_size && pages.memory.value > view.memory_bytes) {
        view.node = snapshot.topology.nodes[node].id;
        view.memory_bytes = pages.memory.value;
      }
    }
  }
  return view;
}

}  // namespace

/// Assumes that pools are used by VMs only, because the sample does not show how much of a pool is
/// free.
FreeForVm Starts::free_for_any(const HostNow& now) const {
  const Snapshot snapshot = with_starting_vms(now);
  const Arrangement arrangement(snapshot, now.settings.options, Arrangement::Basis::kLoad);
  const MemoryRoom room(now.snapshot);
  std::vector<std::map<Bytes, Bytes>> promised = promised_at_homes(now, snapshot);
  FreeForVm free;
  for (NodeIndex index = 0; index < snapshot.nodes.size(); ++index) {
    const Node& node = snapshot.topology.nodes[index];
    free.room.push_back(room_for_starts(arrangement, index));
    for (const HugePagePool& pool : node.huge_pages) {
      const Bytes taken = std::max(promised[index][pool.page_size],
                                   held_of(now.snapshot, room, index, pool) +
                                       promised_on(node.id, pool.page_size, now.snapshot)) +
                          reserved_of(node.id, pool.page_size, now.settings.reserved_memory) +
                          reservations_of(snapshot.nodes[index], pool.page_size);
      const Bytes left =
          snapshot.nodes[index].known ? pool.page_size * pool.pages - taken : Bytes{};
      free.huge_pages.push_back(
          {node.id, left.value / pool.page_size.value, pool.pages, pool.page_size});
    }
  }
  return free;
}

void Starts::show_largest(const HostNow& now, HostView& view) const {
  if (now.snapshot.epoch == 0) {
    return;
  }
  const std::vector<LargestVm> by_node = largest_vms(now.snapshot.topology, free_for_any(now));
  for (NodeIndex i = 0; i < std::min(view.nodes.size(), by_node.size()); ++i) {
    if (!now.snapshot.nodes[i].memory_read) {
      continue;
    }
    NodeView& node = view.nodes[i];
    node.largest_vm_vcpus = by_node[i].vcpus;
    node.largest_vm_bytes = by_node[i].memory.value;
    for (std::size_t k = 0; k < std::min(node.huge_pages.size(), by_node[i].huge_pages.size());
         ++k) {
      node.huge_pages[k].largest_vm_bytes = by_node[i].huge_pages[k].memory.value;
    }
  }
}

LargestVmView Starts::largest_vm(const HostNow& now) const {
  LargestVmView view;
  if (now.snapshot.epoch == 0) {
    return view;
  }
  const std::vector<LargestVm> by_node = largest_vms(now.snapshot.topology, free_for_any(now));
  const NodeIndex node = node_of_largest(by_node);
  view.vcpus = view.memory_bytes = 0;
  if (node != kNoNode) {
    view.node = now.snapshot.topology.nodes[node].id;
    view.vcpus = by_node[node].vcpus;
    view.memory_bytes = by_node[node].memory.value;
  }
  Bytes room;
  std::set<Bytes> sizes;
  for (const LargestVm& largest : by_node) {
    room += largest.memory;
    for (const PagesOfSize& pages : largest.huge_pages) {
      sizes.insert(pages.page_size);
    }
  }
  view.room_bytes = room.value;
  for (const Bytes size : sizes) {
    view.huge_pages.push_back(largest_on_pages(now.snapshot, by_node, size));
  }
  return view;
}

}  // namespace vmnuma::balancer
