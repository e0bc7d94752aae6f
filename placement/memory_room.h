// SPDX-License-Identifier: Apache-2.0
/// How much more memory each node has room for, by kind of pages.
///
/// Problem: memory on huge pages of hugetlbfs comes from its node's pool of that size, however much
/// ordinary memory is free, and ordinary memory never comes from a pool. Approach: one amount per
/// node for ordinary memory and for each size of huge pages that a VM of the snapshot has. For
/// ordinary memory, room is free less reserve. For a pool, room is its pages less those that VMs
/// have and those reserved for VMs that do not run yet: we assume that nothing else uses them.
/// Memory that a VM is guaranteed and has not touched yet is no room for others.
///
/// Properties:
///  - ordinary room is negative only where more is guaranteed than is free;
///  - a VM without known readings holds all its huge pages at home;
///  - where a node's pool is not known there is no room.
#pragma once

#include <cstddef>
#include <vector>

#include "placement/model/snapshot.h"

namespace vmnuma {

/// Returns where the client's memory of its own kind of pages lies, per node. QEMU's other memory
/// is not in a pool: for a client with huge pages, at most the memory in the VM's definition
/// counts.
[[nodiscard]] std::vector<Bytes> memory_by_node(const Snapshot& snapshot,
                                                const ClientState& client);

/// Returns the memory that a client is guaranteed and has not touched yet; it will be touched where
/// the client lives.
[[nodiscard]] Bytes promised_beside(const Snapshot& snapshot, const ClientState& client);

/// Returns the node's memory that is in none of its pools.
[[nodiscard]] Bytes outside_pools(const Node& node);
/// Returns all ordinary memory of the node that VMs may have: without its pools and the reserve.
[[nodiscard]] Bytes ordinary_for_vms(const Snapshot& snapshot, NodeIndex node);

class MemoryRoom {
 public:
  /// Starts with the room in the snapshot.
  explicit MemoryRoom(const Snapshot& snapshot);
  /// Returns the same kinds of memory with no room.
  [[nodiscard]] static MemoryRoom none(const Snapshot& snapshot);

  /// Returns the room on the node for memory of the client's kind.
  [[nodiscard]] Bytes& of(ClientIndex client, NodeIndex node) {
    return amounts_[kinds_[client]][node];
  }
  [[nodiscard]] Bytes of(ClientIndex client, NodeIndex node) const {
    return amounts_[kinds_[client]][node];
  }
  /// Returns the room for ordinary memory.
  [[nodiscard]] Bytes ordinary(NodeIndex node) const { return amounts_.front()[node]; }
  /// Returns true if the two take room from each other.
  [[nodiscard]] bool share(ClientIndex a, ClientIndex b) const { return kinds_[a] == kinds_[b]; }
  bool operator==(const MemoryRoom&) const = default;

 private:
  MemoryRoom() = default;

  std::vector<std::size_t> kinds_;           ///< per client; 0: ordinary
  std::vector<std::vector<Bytes>> amounts_;  ///< per kind and node
};

}  // namespace vmnuma
