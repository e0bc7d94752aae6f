// SPDX-License-Identifier: Apache-2.0
#include "placement/memory_cost.h"

#include <algorithm>

#include "placement/memory_room.h"

namespace vmnuma {
namespace {

/// demand x stall x locality weight x extra / 10, where `extra` is (distance - 10) weighted by
/// memory share in thousandths.
CpuTime stall_loss(const Snapshot& snapshot, const ClientState& client, const MemoryProfile& memory,
                   std::int64_t extra_permille, const Options& options) {
  const std::int64_t stalled = memory.demand.value * snapshot.vms[client.vm].stall.value / 1000 *
                               options.locality_weight_mem;
  return CpuTime{stalled * extra_permille / (1000 * kLocalDistance)};
}

/// Sum over nodes of (share of memory there in thousandths) x (distance - 10).
std::int64_t extra_distance(const Topology& topology, const MemoryProfile& memory, NodeIndex node) {
  std::int64_t extra = 0;
  for (const MemoryProfile::Part& part : memory.parts) {
    if (part.node != node) {
      extra += part.share.value * (topology.distance(node, part.node) - kLocalDistance);
    }
  }
  return extra;
}

}  // namespace

Bytes MemoryProfile::on(NodeIndex node) const {
  for (const Part& part : parts) {
    if (part.node == node) {
      return part.bytes;
    }
  }
  return Bytes{};
}

MemoryProfile memory_profile(const Snapshot& snapshot, const ClientState& client,
                             const Options& options) {
  MemoryProfile profile;
  profile.demand = client.demand;
  profile.horizon = options.move_horizon;
  std::vector<Bytes> of_its_kind;
  if (page_size_of(snapshot, client) > Bytes{}) {
    of_its_kind = memory_by_node(snapshot, client);
  }
  const std::vector<Bytes>& memory = of_its_kind.empty() ? client.memory : of_its_kind;
  profile.resident = sum_of(memory);
  for (NodeIndex node = 0; node < memory.size(); ++node) {
    if (const Bytes bytes = memory[node]; bytes.value > 0) {
      profile.parts.push_back(
          {node, bytes, permille_of(bytes.value, profile.resident.value, Permille{})});
    }
  }
  profile.promised = promised_beside(snapshot, client);
  profile.can_follow = options.page_mig_enable != 0 && client.memory_known &&
                       snapshot.vms[client.vm].memory_stays_because.empty();
  return profile;
}

Permille reckoned_stall(std::optional<Permille> counted, const Options& options) {
  const Permille of_host{options.mem_stall_pct * 10};
  return std::clamp(counted.value_or(of_host), of_host / kMostTimesHost, of_host * kMostTimesHost);
}

Permille stall_of(const VmPolicy& policy, std::optional<Permille> counted, const Options& options) {
  return std::min(reckoned_stall(counted, options) * policy.locality_weight_pct / 100,
                  Permille{1000});
}

CpuTime present_loss(const Snapshot& snapshot, const ClientState& client,
                     const MemoryProfile& memory, NodeIndex node, const Options& options) {
  return stall_loss(snapshot, client, memory, extra_distance(snapshot.topology, memory, node),
                    options);
}

std::int64_t vcpus_of(const Snapshot& snapshot, const VmState& vm) {
  return sum_of(clients_of(snapshot, vm), &ClientState::vcpu_count);
}

CpuTime lost_between(const Snapshot& snapshot, const Sibling& a, const Sibling& b,
                     std::int64_t vcpus, const Options& options) {
  const VmState& vm = snapshot.vms[snapshot.clients[a.client].vm];
  const CpuTime on_the_way = scaled(a.demand, snapshot.clients[b.client].vcpu_count(), vcpus) +
                             scaled(b.demand, snapshot.clients[a.client].vcpu_count(), vcpus);
  const std::int64_t both_ways =
      snapshot.topology.distance(a.node, b.node) + snapshot.topology.distance(b.node, a.node);
  return CpuTime{on_the_way.value * vm.stall.value / 1000 * options.locality_weight_mem *
                 (both_ways - 2 * kLocalDistance) / (2 * kLocalDistance)};
}

namespace {

/// Pages per second at which a VM's memory may move; 0: as fast as the kernel moves them.
std::int64_t permitted_rate(const Options& options) {
  const auto [least, most] = std::minmax(options.page_mig_rate_max, options.page_mig_vm_rate_max);
  return least > 0 ? least : most;
}

}  // namespace

MemoryCost memory_cost(const Snapshot& snapshot, const ClientState& client,
                       const MemoryProfile& memory, NodeIndex node, Bytes room,
                       const Options& options) {
  const CpuTime now = present_loss(snapshot, client, memory, node, options);
  const Bytes remote = memory.not_on(node);
  // At home the room excludes it already.
  const Bytes promised = node == client.home ? Bytes{} : memory.promised;
  if (!memory.can_follow || remote.value <= 0) {
    return {now, CpuTime{}, Bytes{}, promised <= std::max(room, Bytes{})};
  }
  MemoryCost cost;
  cost.to_move = std::clamp(room - promised, Bytes{}, remote);
  cost.fits = cost.to_move == remote;
  // What does not fit stays as far away as all the memory is now, in proportion.
  const std::int64_t stays =
      permille_of((remote - cost.to_move).value, remote.value, Permille{}).value;
  cost.standing = now * stays / 1000;

  // Memory arrives evenly at the permitted rate; while it is in transit, half of it is still far on
  // average. Only what happens within the horizon counts, as for the gain.
  const CpuTime transient = now - cost.standing;
  constexpr std::int64_t kSmallPage = 4096;
  const std::int64_t per_epoch =
      permitted_rate(options) * kSmallPage / 1000 * snapshot.epoch_length.value / 1000;
  const std::int64_t horizon = memory.horizon;
  std::int64_t moved = cost.to_move.value;
  if (per_epoch > 0) {
    const std::int64_t duration_permille =
        cost.to_move.value / std::max<std::int64_t>(per_epoch / 1000, 1);
    const std::int64_t horizon_permille = horizon * 1000;
    if (duration_permille == 0 || duration_permille <= horizon_permille) {
      cost.travel += transient * duration_permille / 2000;
    } else {
      cost.travel +=
          transient *
          (horizon_permille - horizon_permille * horizon / 2 * 1000 / duration_permille) / 1000;
      moved = std::min(moved, per_epoch * horizon);
    }
  }
  cost.travel += CpuTime{moved / kMiB.value * options.move_cost_per_mib};
  return cost;
}

}  // namespace vmnuma
