// SPDX-License-Identifier: Apache-2.0
/// How busy nodes were between two samples, and with what besides clients.
///
/// Problem: capacity for VMs is what others leave, and the kernel says only how long each CPU was
/// busy. Approach: busy time of the node's CPUs less what clients pinned to the node ran is left
/// for clients that are not pinned, which may have run anywhere, and for everybody else. The former
/// are taken to have run where there is more such time than everybody else used in the epoch
/// before, in proportion, and if that is not enough, where there is any.
///
/// Properties:
///  - never negative;
///  - non-VM time of all nodes together is all busy time less all use of clients, if that is
///    positive;
///  - a CPU without two readings makes its node unknown.
#pragma once

#include <vector>

#include "placement/model/amounts.h"
#include "placement/model/sample.h"
#include "placement/model/topology.h"

namespace vmnuma::balancer {

struct NodeBusy {
  placement::CpuTime busy;  ///< thread time
  bool known = true;        ///< false if a CPU of the node has no two readings
};

/// Per node of the topology. Without an earlier sample nothing is busy yet.
[[nodiscard]] std::vector<NodeBusy> busy_between(const placement::Topology& topology,
                                                 const placement::Sample* before,
                                                 const placement::Sample& now,
                                                 placement::CpuTime epoch);

/// Per node, the busy time that no client used. `bound` is what clients pinned to the node ran;
/// `unbound` what all others ran; `before` the answer for the epoch before, none if empty.
[[nodiscard]] std::vector<placement::CpuTime> non_vm_time(
    const std::vector<NodeBusy>& nodes, const std::vector<placement::CpuTime>& bound,
    placement::CpuTime unbound, const std::vector<placement::CpuTime>& before);

}  // namespace vmnuma::balancer
