// SPDX-License-Identifier: Apache-2.0
#include "balancer/core/ran_on.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "balancer/core/vm_usage.h"

namespace vmnuma::balancer {

namespace {

/// Returns what the client ran, by the node of each vCPU's last CPU, or nothing.
std::optional<std::vector<CpuTime>> ran_by_node(const VmSample& before, const VmSample& now,
                                                const Topology& topology,
                                                const std::vector<std::int32_t>& vcpus) {
  if (now.last_cpus.size() != now.vcpus.size()) {
    return std::nullopt;
  }
  std::vector<CpuTime> ran(topology.nodes.size());
  for (std::size_t i = 0; i < now.vcpus.size(); ++i) {
    if (!std::ranges::binary_search(vcpus, now.vcpus[i].vcpu)) {
      continue;
    }
    const std::optional<CpuUse> use = use_of(now.vcpus[i].vcpu, before, now);
    const std::optional<NodeIndex> node = topology.node_of(now.last_cpus[i]);
    if (!use || !node) {
      return std::nullopt;
    }
    ran[*node] += use->run;
  }
  return ran;
}

}  // namespace

CpuTime ran_lately_on(const ClientRecord& client, NodeId node) {
  const auto found = std::ranges::find(client.ran_on, node, &RanOnNode::node);
  return found == client.ran_on.end() ? CpuTime{} : found->lately;
}

void take_in_where_it_ran(const VmSample& before, const VmSample& now, const Topology& topology,
                          ClientRecord& client) {
  const auto ran = ran_by_node(before, now, topology, client.shape.vcpus);
  if (!ran) {
    client.ran_on.clear();
    return;
  }
  if (std::ranges::all_of(*ran, [](CpuTime time) { return time == CpuTime{}; })) {
    return;
  }
  const bool is_first = client.ran_on.empty();
  std::vector<RanOnNode> lately;
  for (NodeIndex node = 0; node < ran->size(); ++node) {
    const NodeId id = topology.nodes[node].id;
    const CpuTime averaged =
        is_first ? (*ran)[node] : ((*ran)[node] + ran_lately_on(client, id)) / 2;
    if (averaged > CpuTime{}) {
      lately.push_back({id, averaged});
    }
  }
  client.ran_on = std::move(lately);
}

}  // namespace vmnuma::balancer
