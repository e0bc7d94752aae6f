// SPDX-License-Identifier: Apache-2.0
#include "stats/latency/measured_distances.h"

#include <algorithm>

#include "placement/memory_cost.h"
#include "stats/latency/measure.h"

namespace vmnuma::stats {

namespace {

NodeIndex index_of(const Topology& topology, std::int64_t id) {
  return *topology.index_of(NodeId{static_cast<std::int32_t>(id)});
}

}  // namespace

Topology with_measured_distances(Topology firmware, const HostLatencies& latencies) {
  for (const LatencyRow& row : latency_rows(firmware, latencies)) {
    if (!row.relative || row.cpu_node == row.memory_node) {
      continue;
    }
    const NodeIndex cpu = index_of(firmware, row.cpu_node);
    const NodeIndex memory = index_of(firmware, row.memory_node);
    std::int32_t& distance = firmware.distances[cpu * firmware.nodes.size() + memory];
    const auto measured =
        static_cast<std::int32_t>(std::clamp<std::int64_t>(*row.relative, kLocalDistance, 254));
    const std::int32_t apart = std::max(measured, distance) - std::min(measured, distance);
    if (apart * 100 > distance * kAgreement) {
      distance = measured;
    }
  }
  return firmware;
}

std::optional<std::int64_t> local_read_ns(const Topology& topology,
                                          const HostLatencies& latencies) {
  std::int64_t sum = 0;
  std::int64_t count = 0;
  for (const LatencyRow& row : latency_rows(topology, latencies)) {
    if (row.cpu_node != row.memory_node) {
      continue;
    }
    if (!row.read_ns) {
      return std::nullopt;
    }
    sum += *row.read_ns;
    ++count;
  }
  return count == 0 ? std::nullopt : std::optional((sum + count / 2) / count);
}

std::int64_t stall_pct(std::int64_t typical_pct, std::int64_t local_read_ns) {
  // At the typical latency there are 100 - `typical_pct` parts of work for `typical_pct` parts of
  // waiting.
  const std::int64_t waits = typical_pct * usable_read_ns(local_read_ns);
  const std::int64_t all = waits + (100 - typical_pct) * kTypicalReadNs;
  return all <= 0 ? 0 : (waits * 100 + all / 2) / all;
}

}  // namespace vmnuma::stats
