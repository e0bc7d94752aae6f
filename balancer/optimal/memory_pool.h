// SPDX-License-Identifier: Apache-2.0
/// Room for clients' memory: ordinary memory and huge pages of each size.
#pragma once

#include <span>
#include <vector>

#include "placement/arrangement.h"

namespace vmnuma::balancer {

/// Memory of one kind and the VMs that use it.
struct MemoryPool {
  std::vector<placement::Bytes> free;  ///< per node
  std::vector<placement::VmId> vms;    ///< ascending
  bool operator==(const MemoryPool&) const = default;
};

/// The kinds that placement/memory_room.h distinguishes: first the ordinary memory, then the pools
/// of huge pages that VMs have memory of.
[[nodiscard]] std::vector<MemoryPool> memory_pools(const placement::Snapshot& snapshot);

/// True if all clients that use the pools find room where `changes` take them. `now` is the
/// arrangement for which the pools are known, `then` what became of it since; at any other home
/// than in `now`, all of a client's memory is there.
[[nodiscard]] bool have_room(const std::vector<MemoryPool>& pools,
                             const placement::Arrangement& now, const placement::Arrangement& then,
                             std::span<const placement::Rehoming> changes);

}  // namespace vmnuma::balancer
