// SPDX-License-Identifier: Apache-2.0
/// How busy nodes were between two samples, and with what other than clients.
///
/// Problem: capacity for VMs is what other work leaves, and the kernel says only how long each CPU
/// was busy. Approach: busy time of the node's CPUs less what clients pinned to the node ran is
/// left for clients that may have run on several nodes, and for all other work. The former are
/// assumed to have run where their threads were seen, as far as that is possible. The rest of what
/// they ran was where, among these nodes, there is more such time than is expected of other work,
/// in proportion, and if that is not enough, where there is any. Other work is expected to use what
/// it used in the epoch before, moved a small part of the way to an even spread over the host: what
/// is not seen on its node any more has to be forgotten.
///
/// Properties:
///  - never negative;
///  - non-VM time of all nodes together is all busy time less all use of clients, if that is
///    positive;
///  - a CPU without two readings makes its node unknown;
///  - a client's use is counted on no node but those that it may have run on, as far as these were
///    busy;
///  - where readings tell nothing, equal nodes end up with equal non-VM time, whatever was assumed
///    before.
#pragma once

#include <vector>

#include "placement/model/amounts.h"
#include "placement/model/sample.h"
#include "placement/model/topology.h"

namespace vmnuma::balancer {

struct NodeBusy {
  CpuTime busy;       ///< thread time
  bool known = true;  ///< false if a CPU of the node has no two readings
  CpuTime threads;    ///< all of the epoch's thread time
  CpuTime copying;    ///< of `busy`, the daemon's own page migration
};

/// Per node of the topology. Without an earlier sample nothing is busy yet.
[[nodiscard]] std::vector<NodeBusy> busy_between(const Topology& topology, const Sample* before,
                                                 const Sample& now, CpuTime epoch);

/// What a client ran, and where that may have been.
struct ClientUse {
  std::vector<NodeIndex> nodes;  ///< empty: anywhere
  CpuTime used;
  /// How it was seen to share its time between `nodes`, lately; empty if unknown.
  std::vector<CpuTime> seen = {};
};

/// Per node, the busy time that no client used. `bound` is what clients pinned to the node ran;
/// `unbound` what all others did; `before` the result for the epoch before, empty if there is none.
[[nodiscard]] std::vector<CpuTime> non_vm_time(const std::vector<NodeBusy>& nodes,
                                               const std::vector<CpuTime>& bound,
                                               const std::vector<ClientUse>& unbound,
                                               const std::vector<CpuTime>& before);

}  // namespace vmnuma::balancer
