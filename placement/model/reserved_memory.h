// SPDX-License-Identifier: Apache-2.0
/// Memory of single nodes that is kept for the system, as configured by the administrator.
#pragma once

#include <vector>

#include "placement/model/amounts.h"
#include "placement/model/ids.h"
#include "placement/model/node_bytes.h"
#include "placement/model/options.h"

namespace vmnuma {

/// By node and page size, each once.
using ReservedMemory = std::vector<MemoryOnNode>;

/// Returns how much of the node's memory in pages of that size is kept; page size zero: ordinary
/// pages.
[[nodiscard]] Bytes reserved_of(NodeId node, Bytes page_size, const ReservedMemory& reserved);

/// Returns how much of the node's ordinary memory must stay free: Numa.NodeReservePct of `total`,
/// or the reserved memory if that is more; never more than `total`.
[[nodiscard]] Bytes reserve_of(NodeId node, Bytes total, const Options& options,
                               const ReservedMemory& reserved);

}  // namespace vmnuma
