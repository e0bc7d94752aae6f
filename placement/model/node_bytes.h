// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <vector>

#include "placement/base/mapped.h"
#include "placement/model/amounts.h"
#include "placement/model/ids.h"

namespace vmnuma {

/// How much of something lies on a node.
struct NodeBytes {
  NodeId node;
  Bytes bytes;
  bool operator==(const NodeBytes&) const = default;
};

/// Memory on a node that consists of pages of one size.
struct MemoryOnNode {
  NodeId node;
  Bytes page_size;  ///< zero: ordinary pages
  Bytes memory;
  auto operator<=>(const MemoryOnNode&) const = default;
};

/// Ascending by node.
[[nodiscard]] inline std::vector<NodeBytes> by_node(const std::map<NodeId, Bytes>& bytes) {
  return mapped(bytes, [](const auto& part) { return NodeBytes{part.first, part.second}; });
}

}  // namespace vmnuma
