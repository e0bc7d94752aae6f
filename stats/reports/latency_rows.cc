// SPDX-License-Identifier: Apache-2.0
#include "stats/reports/latency_rows.h"

#include <algorithm>

namespace vmnuma::stats {
namespace {

template <class Latency>
const Latency* find(const std::vector<Latency>& latencies, NodeId cpu, NodeId memory) {
  const auto found = std::find_if(latencies.begin(), latencies.end(), [&](const Latency& latency) {
    return latency.cpu == cpu && latency.memory == memory;
  });
  return found == latencies.end() ? nullptr : &*found;
}

/// Returns the latency in nanoseconds; 0 if it was not measured.
std::int64_t measured_ns(const HostLatencies& latencies, NodeId cpu, NodeId memory) {
  const auto* found = find(latencies.measured, cpu, memory);
  return found != nullptr && found->state == LatencyState::kMeasured ? found->read_ns : 0;
}

LatencyRow row_of(const Topology& topology, NodeIndex cpu, NodeIndex memory,
                  const HostLatencies& latencies) {
  const NodeId from = topology.nodes[cpu].id;
  const NodeId to = topology.nodes[memory].id;
  LatencyRow row{.cpu_node = from.value, .memory_node = to.value};
  row.slit = topology.distance(cpu, memory);
  const auto* measured = find(latencies.measured, from, to);
  row.state = name_of(measured == nullptr ? LatencyState::kNotMeasured : measured->state);
  if (const std::int64_t read_ns = measured_ns(latencies, from, to); read_ns > 0) {
    row.read_ns = read_ns;
    if (const std::int64_t local_ns = measured_ns(latencies, from, from); local_ns > 0) {
      row.relative = (read_ns * kLocalDistance + local_ns / 2) / local_ns;
    }
  }
  if (const auto* firmware = find(latencies.firmware, from, to); firmware != nullptr) {
    row.hmat_ns = firmware->read_ns;
  }
  return row;
}

}  // namespace

std::vector<LatencyRow> latency_rows(const Topology& topology, const HostLatencies& latencies) {
  std::vector<LatencyRow> rows;
  for (NodeIndex cpu = 0; cpu < topology.nodes.size(); ++cpu) {
    for (NodeIndex memory = 0; memory < topology.nodes.size(); ++memory) {
      if (!topology.nodes[cpu].cpus.empty() && topology.nodes[memory].memory > Bytes{}) {
        rows.push_back(row_of(topology, cpu, memory, latencies));
      }
    }
  }
  return rows;
}

}  // namespace vmnuma::stats
