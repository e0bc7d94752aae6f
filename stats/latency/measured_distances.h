// SPDX-License-Identifier: Apache-2.0
/// Measured latencies in the place of what the firmware says, for decisions. Pure.
///
/// Problem: what memory on another node costs, which node is the next best, and how many nodes a
/// wide VM should span is decided by SLIT, which is often flat or wrong. Approach: a measured
/// latency relative to that of the node's own memory is a distance on SLIT's scale (10 = local). It
/// takes the place of the firmware's where both were measured and they differ by more than
/// kAgreement per cent: less is within what two measurements differ by.
///
/// The share of its run time that a VM waits for memory grows with the time that a read takes:
/// Numa.MemStallPct, by default 30 %, is that of a host whose own memory takes
/// placement::kTypicalReadNs. A VM
/// that reads as often waits longer where every read takes longer, and does the same work between
/// reads.
///
/// Properties:
///  - what was not measured stays as the firmware has it;
///  - no other node is nearer than the node's own memory;
///  - nodes and the diagonal never change;
///  - the share is the default at kTypicalReadNs and grows with the latency.
#pragma once

#include <cstdint>
#include <optional>

#include "placement/model/topology.h"
#include "stats/reports/latency_rows.h"

namespace vmnuma::stats {

/// The topology with distances as decisions should use them.
[[nodiscard]] placement::Topology with_measured_distances(placement::Topology firmware,
                                                          const HostLatencies& latencies);

/// The mean time that reads of a node's own memory take; nothing unless all nodes that can be a
/// home were measured.
[[nodiscard]] std::optional<std::int64_t> local_read_ns(const placement::Topology& topology,
                                                        const HostLatencies& latencies);

/// The share of its run time that a VM waits for local memory, in per cent, if that is
/// `typical_pct` at kTypicalReadNs.
[[nodiscard]] std::int64_t stall_pct(std::int64_t typical_pct, std::int64_t local_read_ns);

}  // namespace vmnuma::stats
