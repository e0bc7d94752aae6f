// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "placement/model/amounts.h"
#include "placement/model/ids.h"

namespace vmnuma {

/// How much of something lies on a node.
struct NodeBytes {
  NodeId node;
  Bytes bytes;
  bool operator==(const NodeBytes&) const = default;
};

}  // namespace vmnuma
