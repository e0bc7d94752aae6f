// SPDX-License-Identifier: Apache-2.0
/// How busy nodes were between two samples, and with which work other than clients.
///
/// Problem: capacity for VMs is what other work leaves, and the kernel reports only how long each
/// CPU was busy. Approach: the busy time of the node's CPUs, less what clients pinned to the node
/// ran, remains for clients that may have run on several nodes, and for all other work. The former
/// are assumed to have run where their threads were seen, if possible. The rest of their run time
/// is assigned, in proportion, to those of these nodes where more such time remains than is
/// expected of other work; and if that is not enough, wherever any remains. Other work is expected
/// to use what it used in the epoch before, moved a small part of the way to an even spread over
/// the host: what is no longer seen on its node has to be forgotten.
///
/// Properties:
///  - never negative;
///  - non-VM time of all nodes together is all busy time less all use of clients, if that is
///    positive;
///  - a CPU without two readings makes its node unknown;
///  - a client's use is counted only on nodes where it may have run, to the extent that these were
///    busy;
///  - where readings give no information, equal nodes end up with equal non-VM time, whatever was
///    assumed before.
#pragma once

#include <vector>

#include "placement/model/amounts.h"
#include "placement/model/sample.h"
#include "placement/model/topology.h"

namespace vmnuma::balancer {

struct NodeBusy {
  CpuTime busy;       ///< thread time
  bool known = true;  ///< false if there are no two readings of a CPU of the node
  CpuTime threads;    ///< all of the epoch's thread time
  CpuTime copying;    ///< of `busy`, the daemon's own page migration
};

/// Returns one entry per node of the topology. Without an earlier sample nothing is busy yet.
[[nodiscard]] std::vector<NodeBusy> busy_between(const Topology& topology, const Sample* before,
                                                 const Sample& now, CpuTime epoch);

/// How long a client ran, and where that may have been.
struct ClientUse {
  std::vector<NodeIndex> nodes;  ///< empty: anywhere
  CpuTime used;
  /// How it was recently seen to share its time between `nodes`; empty if unknown.
  std::vector<CpuTime> seen = {};
};

/// Returns, per node, the busy time that no client used. `bound` is what clients pinned to the node
/// ran; `unbound` what all others did; `before` the result for the epoch before, empty if there is
/// none.
[[nodiscard]] std::vector<CpuTime> non_vm_time(const std::vector<NodeBusy>& nodes,
                                               const std::vector<CpuTime>& bound,
                                               const std::vector<ClientUse>& unbound,
                                               const std::vector<CpuTime>& before);

}  // namespace vmnuma::balancer
