// SPDX-License-Identifier: Apache-2.0
/// The largest VM that would start on one node now.
///
/// Problem: a host can have much free in total and no node with room for a large VM, which shows
/// only when one is refused. Approach: what admission (admission.h) would find on each node by
/// itself, expressed as the sizes of the largest VM that it would still admit there.
/// Terms: *largest* - in each size by itself; vCPUs share CPUs and page sizes have memory of their
/// own, so no size costs another.
/// Properties:
///  1. A VM of exactly these sizes that must be on one node is admitted there.
///  2. One vCPU, one MiB or one huge page more is not.
///  3. Where there is no memory for a VM, or none may live, all sizes are zero.
#pragma once

#include <cstdint>
#include <vector>

#include "placement/admission.h"
#include "placement/arrangement.h"
#include "placement/model/domain.h"
#include "placement/model/topology.h"

namespace vmnuma {

struct LargestVm {
  std::int32_t vcpus = 0;
  Bytes memory;  ///< on ordinary pages; whole MiB
  /// On huge pages, for each page size that the node has, in the order of FreeForVm.
  std::vector<PagesOfSize> huge_pages;
  bool operator==(const LargestVm&) const = default;
};

/// Returns the node's ordinary memory for VMs that are about to start: what is free above the
/// reserve, less what VMs that live there have not touched yet. Zero if readings are missing. May
/// be negative.
[[nodiscard]] Bytes room_for_starts(const Arrangement& arrangement, NodeIndex node);

/// Returns the largest VM of each node.
[[nodiscard]] std::vector<LargestVm> largest_vms(const Topology& topology, const FreeForVm& free);

/// Returns the node with the largest VM on ordinary pages; of equals the one with more vCPUs, then
/// the first; kNoNode if none has memory for one.
[[nodiscard]] NodeIndex node_of_largest(const std::vector<LargestVm>& by_node);

}  // namespace vmnuma
