// SPDX-License-Identifier: Apache-2.0
/// Where a client that may run on several nodes has run recently.
///
/// Problem: the kernel reports how long a thread ran, but not where. What a client ran on its
/// second node is then easily mistaken for other load there, and other load at its home for the
/// client's own. Approach: each reading shows on which CPU a vCPU runs or ran last, and all that it
/// ran since the previous reading counts on that CPU's node. One reading is one sample of an epoch,
/// so epochs are averaged, with a half-life of one.
///
/// Properties:
///  - after an epoch without last CPUs, or with a CPU of no node, nothing is known;
///  - an epoch in which the client did not run changes nothing.
#pragma once

#include <vector>

#include "balancer/core/records.h"
#include "placement/model/sample.h"
#include "placement/model/topology.h"

namespace vmnuma::balancer {

/// Adds what its vCPUs ran between two readings of its VM to client.ran_on. Both readings must have
/// the same threads.
void take_in_where_it_ran(const VmSample& before, const VmSample& now, const Topology& topology,
                          ClientRecord& client);

/// Returns how long it recently ran on that node per epoch.
[[nodiscard]] CpuTime ran_lately_on(const ClientRecord& client, NodeId node);

}  // namespace vmnuma::balancer
