// SPDX-License-Identifier: Apache-2.0
/// Replaces the firmware's distances by measured latencies, for decisions. Pure.
///
/// Problem: the cost of memory on another node, the next best node, and the number of nodes a wide
/// VM should span depend on SLIT, which is often flat or wrong. Approach: a measured latency
/// relative to that of the node's own memory is a distance on SLIT's scale (10 = local). It
/// replaces the firmware's distance if both latencies were measured and the distances differ by
/// more than kAgreement per cent: a smaller difference is within the measurement error.
///
/// The longer a read takes, the larger the share of its run time that a VM waits for memory.
/// Numa.MemStallPct, by default 30 %, applies to a host whose local reads take kTypicalReadNs. On a
/// host with slower reads, a VM waits longer for the same number of reads and does the same work
/// between them.
///
/// Properties:
///  - what was not measured keeps the firmware's value;
///  - no other node is nearer than the node's own memory;
///  - nodes and the diagonal never change;
///  - the share equals the default at kTypicalReadNs and grows with the latency.
#pragma once

#include <cstdint>
#include <optional>

#include "placement/model/topology.h"
#include "stats/reports/latency_rows.h"

namespace vmnuma::stats {

/// Returns the topology with the distances that decisions should use.
[[nodiscard]] Topology with_measured_distances(Topology firmware, const HostLatencies& latencies);

/// Returns the mean time in nanoseconds to read a node's own memory; nothing unless all nodes that
/// can be a home were measured.
[[nodiscard]] std::optional<std::int64_t> local_read_ns(const Topology& topology,
                                                        const HostLatencies& latencies);

/// Returns the share of its run time that a VM waits for local memory, in per cent, given that it
/// is `typical_pct` if a read takes kTypicalReadNs.
[[nodiscard]] std::int64_t stall_pct(std::int64_t typical_pct, std::int64_t local_read_ns);

}  // namespace vmnuma::stats
