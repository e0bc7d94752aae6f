// SPDX-License-Identifier: Apache-2.0
/// Room for clients' memory: ordinary memory and huge pages of each size.
#pragma once

#include <span>
#include <vector>

#include "placement/arrangement.h"

namespace vmnuma::balancer {

/// Memory of one kind.
struct MemoryPool {
  Bytes page_size;          ///< zero: ordinary memory
  std::vector<Bytes> free;  ///< per node
  bool operator==(const MemoryPool&) const = default;
  /// True if the client's memory is of this kind.
  [[nodiscard]] bool is_of(const Snapshot& snapshot, ClientIndex client) const {
    return page_size_of(snapshot, snapshot.clients[client]) == page_size;
  }
};

/// Returns the kinds that placement/memory_room.h distinguishes: first ordinary memory, then the
/// pools of huge pages of which clients have memory.
[[nodiscard]] std::vector<MemoryPool> memory_pools(const Snapshot& snapshot);

/// Returns true if there is room for all clients that use the pools after `changes`. `now` is the
/// arrangement for which the pools are known, `then` what has become of it since; at any other home
/// than in `now`, all of a client's memory is there.
[[nodiscard]] bool have_room(const std::vector<MemoryPool>& pools, const Arrangement& now,
                             const Arrangement& then, std::span<const Rehoming> changes);

}  // namespace vmnuma::balancer
