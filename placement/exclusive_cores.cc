// SPDX-License-Identifier: Apache-2.0
#include "placement/exclusive_cores.h"

#include <algorithm>
#include <map>

namespace vmnuma {
namespace {

bool is_exclusive(const Snapshot& snapshot, const ClientState& client) {
  return snapshot.vms[client.vm].policy.cpu_binding == CpuBinding::kExclusive;
}

std::int32_t cores_asked(const Snapshot& snapshot, const ClientState& client, NodeIndex node) {
  return cores_for(snapshot.vms[client.vm].policy.cpu_policy, client.vcpu_count(),
                   snapshot.topology.nodes[node]);
}

}  // namespace

std::int32_t vcpus_per_core(CpuPolicy policy, const Node& node) {
  if (policy == CpuPolicy::kSpreadByPCPUs) {
    return 1;
  }
  std::map<std::int32_t, std::int32_t> threads;
  for (const Cpu& cpu : node.cpus) {
    ++threads[cpu.core];
  }
  // A core with an offline thread holds fewer.
  std::int32_t least = 0;
  for (const auto& [core, count] : threads) {
    least = least == 0 ? count : std::min(least, count);
  }
  return std::max(least, 1);
}

std::int32_t cores_for(CpuPolicy policy, std::int32_t vcpus, const Node& node) {
  return static_cast<std::int32_t>(divided_up(vcpus, vcpus_per_core(policy, node)));
}

std::int32_t exclusive_cores(const Arrangement& arrangement, ClientIndex client, NodeIndex node) {
  const Snapshot& snapshot = arrangement.snapshot();
  const ClientState& state = snapshot.clients[client];
  if (!is_exclusive(snapshot, state)) {
    return 0;
  }
  return state.home == node ? state.exclusive_cores : cores_asked(snapshot, state, node);
}

std::int32_t free_cores(const Arrangement& arrangement, NodeIndex node, ClientIndex except,
                        std::span<const Rehoming> changes) {
  const auto is_changed = [changes](ClientIndex client) {
    return std::ranges::any_of(
        changes, [client](const Rehoming& change) { return change.client == client; });
  };
  std::int32_t free = arrangement.snapshot().topology.nodes[node].core_count() - kCoresForOthers;
  for (const ClientIndex client : arrangement.residents(node)) {
    if (client != except && !is_changed(client)) {
      free -= exclusive_cores(arrangement, client, node);
    }
  }
  for (const Rehoming& change : changes) {
    if (change.client != except && change.to == node) {
      free -= exclusive_cores(arrangement, change.client, node);
    }
  }
  return free;
}

bool lacks_cores(const Arrangement& arrangement, ClientIndex client, NodeIndex node,
                 std::span<const Rehoming> changes) {
  const Snapshot& snapshot = arrangement.snapshot();
  const ClientState& state = snapshot.clients[client];
  return is_exclusive(snapshot, state) &&
         cores_asked(snapshot, state, node) > free_cores(arrangement, node, client, changes);
}

}  // namespace vmnuma
