// SPDX-License-Identifier: Apache-2.0
#include "placement/model/reserved_memory.h"

#include <algorithm>

namespace vmnuma {

Bytes reserved_of(NodeId node, Bytes page_size, const ReservedMemory& reserved) {
  for (const MemoryOnNode& one : reserved) {
    if (one.node == node && one.page_size == page_size) {
      return one.memory;
    }
  }
  return {};
}

Bytes reserve_of(NodeId node, Bytes total, const Options& options, const ReservedMemory& reserved) {
  return std::min(
      std::max(total * options.node_reserve_pct / 100, reserved_of(node, Bytes{}, reserved)),
      total);
}

}  // namespace vmnuma
