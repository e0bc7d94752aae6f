// SPDX-License-Identifier: Apache-2.0
#include "placement/alignment.h"

#include <algorithm>
#include <iterator>

#include "placement/admission.h"
#include "placement/base/sorted.h"

namespace vmnuma {

bool should_be_aligned(const VmPolicy& policy, const Topology& topology) {
  return policy.topology_policy != TopologyPolicy::kNone &&
         (policy.max_allowable_numa_nodes == 0 ||
          topology.nodes.size() <= static_cast<std::size_t>(policy.max_allowable_numa_nodes));
}

bool wants_its_devices(const Snapshot& snapshot, const ClientState& client) {
  const VmState& vm = snapshot.vms[client.vm];
  return client.id.index == 0 && !vm.device_nodes.empty() &&
         vm.policy.device_locality != DeviceLocality::kSocket &&
         should_be_aligned(vm.policy, snapshot.topology);
}

CpuTime lost_to_far_devices(const Snapshot& snapshot, const ClientState& client, NodeIndex home,
                            const Options& options) {
  if (home == kNoNode || !wants_its_devices(snapshot, client)) {
    return {};
  }
  const std::vector<NodeIndex>& near = snapshot.vms[client.vm].device_nodes;
  return std::ranges::binary_search(near, home)
             ? CpuTime{}
             : snapshot.epoch_length * client.vcpu_count() * options.affinity_weight / 100;
}

std::optional<Alignment> alignment_of(const Snapshot& snapshot, std::size_t vm,
                                      const VmDescription& description) {
  const VmState& state = snapshot.vms[vm];
  if (!should_be_aligned(state.policy, snapshot.topology)) {
    return std::nullopt;
  }
  const AdmissionRequest request = request_of(snapshot.topology, description, {});
  const std::optional<std::size_t> fewest = fewest_nodes(request);
  Alignment alignment;
  for (const ClientState& client : clients_of(snapshot, state)) {
    if (client.home != kNoNode) {
      alignment.homes.push_back(client.home);
    }
  }
  if (!fewest || alignment.homes.empty()) {
    return std::nullopt;
  }
  std::vector<NodeIndex>& homes = alignment.homes;
  homes = sorted_unique(std::move(homes));
  // With scope client each client is kept together by itself.
  alignment.fewest_nodes = state.policy.topology_scope == TopologyScope::kClient
                               ? std::max(*fewest, state.client_count)
                               : *fewest;
  std::set_difference(request.devices.begin(), request.devices.end(), homes.begin(), homes.end(),
                      std::back_inserter(alignment.far_device_nodes));
  for (const ClientState& client : clients_of(snapshot, state)) {
    for (NodeIndex node = 0; client.memory_known && node < client.memory.size(); ++node) {
      const bool is_home = std::ranges::binary_search(homes, node);
      alignment.resident += client.memory[node];
      alignment.elsewhere += is_home ? Bytes{} : client.memory[node];
    }
  }
  return alignment;
}

}  // namespace vmnuma
