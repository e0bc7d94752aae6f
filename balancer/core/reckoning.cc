// SPDX-License-Identifier: Apache-2.0
#include "balancer/core/reckoning.h"

#include <algorithm>

#include "placement/alignment.h"
#include "placement/capacity.h"
#include "placement/fair_share.h"
#include "placement/group_loss.h"

namespace vmnuma::balancer {

Reckoning::Reckoning(const Snapshot& snapshot, const Options& options, Basis basis)
    : snapshot_(&snapshot),
      options_(&options),
      talks_(talks_of(snapshot, options)),
      room_(snapshot) {
  const std::int64_t horizon = longest_horizon(snapshot, options);
  for (const ClientState& client : snapshot.clients) {
    homes_.push_back(client.home);
    loads_.push_back(load_of(client, basis));
    memory_.push_back(memory_profile(snapshot, client, options));
    memory_.back().demand = loads_.back().demand;
    memory_.back().horizon = horizon;
    lost_to_memory_.push_back(client.home == kNoNode
                                  ? CpuTime{}
                                  : memory_cost(snapshot, client, memory_.back(), client.home,
                                                room_.of(homes_.size() - 1, client.home), options)
                                        .standing);
  }
}

void Reckoning::apply(std::span<const Rehoming> changes) {
  // Clients that leave make room before any arrive; what they were promised goes with them.
  for (const auto& [client, to] : changes) {
    if (homes_[client] != to && homes_[client] != kNoNode) {
      room_.of(client, homes_[client]) += memory_[client].promised;
    }
    if (memory_[client].can_follow) {
      for (const MemoryProfile::Part& part : memory_[client].parts) {
        room_.of(client, part.node) += part.node == to ? Bytes{} : part.bytes;
      }
    }
  }
  for (const auto& [client, to] : changes) {
    const MemoryProfile& memory = memory_[client];
    lost_to_memory_[client] = memory_cost(*snapshot_, snapshot_->clients[client], memory, to,
                                          room_.of(client, to), *options_)
                                  .standing;
    if (memory.can_follow) {
      room_.of(client, to) -= memory.not_on(to);
    }
    if (homes_[client] != to) {
      room_.of(client, to) -= memory.promised;
    }
    homes_[client] = to;
  }
}

std::vector<CpuTime> Reckoning::owed() const {
  std::vector<CpuTime> owed(homes_.size());
  for (NodeIndex node = 0; node < snapshot_->nodes.size(); ++node) {
    const Supply supply = supply_of(snapshot_->nodes[node], *options_);
    std::vector<ClientIndex> residents;
    std::vector<Claim> claims;
    CpuTime demand;
    for (ClientIndex client = 0; client < homes_.size(); ++client) {
      if (homes_[client] == node) {
        const Load& load = loads_[client];
        residents.push_back(client);
        claims.push_back({load.weight, CpuTime{}, load.demand});
        demand += load.demand;
      }
    }
    const std::vector<CpuTime> runs = fair_shares(threads_left(supply), claims);
    const CpuTime all_run = std::min(demand, threads_left(supply));
    const CpuTime worth = service_beside_others(supply, demand);
    for (std::size_t i = 0; i < residents.size(); ++i) {
      owed[residents[i]] = std::max(
          loads_[residents[i]].entitled - scaled(runs[i], worth.value, all_run.value), CpuTime{});
    }
  }
  return owed;
}

CpuTime Reckoning::lost_to_groups() const {
  CpuTime lost;
  for (ClientIndex a = 0; a < homes_.size(); ++a) {
    const ClientState& one = snapshot_->clients[a];
    const bool has_siblings = is_one_memory(snapshot_->vms[one.vm]);
    const std::int64_t vm_vcpus = has_siblings ? vcpus_of(*snapshot_, snapshot_->vms[one.vm]) : 0;
    for (ClientIndex b = a + 1;
         has_siblings && b < homes_.size() && snapshot_->clients[b].vm == one.vm; ++b) {
      if (homes_[a] != kNoNode && homes_[b] != kNoNode) {
        lost += lost_between(*snapshot_, {a, homes_[a], loads_[a].demand},
                             {b, homes_[b], loads_[b].demand}, vm_vcpus, *options_);
      }
    }
    const VmPolicy& policy = snapshot_->vms[one.vm].policy;
    if (homes_[a] == kNoNode ||
        (policy.affinity_group.empty() && policy.anti_affinity_group.empty())) {
      continue;
    }
    const auto size = static_cast<std::size_t>(
        std::ranges::count_if(snapshot_->clients, [&](const ClientState& member) {
          return snapshot_->vms[member.vm].policy.affinity_group == policy.affinity_group;
        }));
    for (ClientIndex b = a + 1; b < homes_.size(); ++b) {
      const ClientState& other = snapshot_->clients[b];
      if (homes_[b] == kNoNode || other.vm == one.vm) {
        continue;
      }
      const VmPolicy& its = snapshot_->vms[other.vm].policy;
      const bool together = homes_[a] == homes_[b];
      const std::int64_t vcpus = std::min(one.vcpu_count(), other.vcpu_count());
      if (!together && !policy.affinity_group.empty() &&
          policy.affinity_group == its.affinity_group) {
        lost += loss_of_pair_apart(snapshot_->epoch_length, vcpus, options_->affinity_weight, size);
      }
      if (together && !policy.anti_affinity_group.empty() &&
          policy.anti_affinity_group == its.anti_affinity_group) {
        lost +=
            loss_of_pair_together(snapshot_->epoch_length, vcpus, options_->anti_affinity_weight);
      }
    }
  }
  return lost;
}

CpuTime Reckoning::lost_to_talks() const {
  CpuTime lost;
  for (ClientIndex one = 0; one < talks_.size(); ++one) {
    for (const Talk& talk : talks_[one]) {
      if (one < talk.with && homes_[one] != kNoNode && homes_[talk.with] != kNoNode &&
          homes_[one] != homes_[talk.with]) {
        lost += talk.lost_apart;
      }
    }
  }
  return lost;
}

CpuTime Reckoning::lost_to_devices() const {
  CpuTime lost;
  for (ClientIndex client = 0; client < homes_.size(); ++client) {
    lost += lost_to_far_devices(*snapshot_, snapshot_->clients[client], homes_[client], *options_);
  }
  return lost;
}

CpuTime Reckoning::lost() const {
  return lost_to_groups() + lost_to_talks() + lost_to_devices() + sum_of(owed()) +
         sum_of(lost_to_memory_);
}

std::vector<Permille> Reckoning::owed_shares() const {
  const std::vector<CpuTime> owed_by_client = owed();
  std::vector<Permille> shares;
  for (NodeIndex node = 0; node < snapshot_->nodes.size(); ++node) {
    CpuTime sum;
    for (ClientIndex client = 0; client < homes_.size(); ++client) {
      sum += homes_[client] == node ? owed_by_client[client] : CpuTime{};
    }
    const NodeState& state = snapshot_->nodes[node];
    // If other load uses up a node entirely, its cores count instead.
    const CpuTime capacity = state.capacity > CpuTime{} ? state.capacity : state.physical;
    shares.push_back(permille_of(sum.value, capacity.value, Permille{}));
  }
  return shares;
}

Permille Reckoning::imbalance() const {
  const std::vector<Permille> all = owed_shares();
  std::vector<Permille> shares;
  for (const NodeIndex node : known_homes(*snapshot_)) {
    shares.push_back(all[node]);
  }
  return imbalance_of(shares);
}

CpuTime Reckoning::rounding() const {
  const CpuTime demand = sum_of(loads_, &Load::demand);
  return CpuTime{static_cast<std::int64_t>(homes_.size()) * 4} + demand / (std::int64_t{1} << 20U);
}

}  // namespace vmnuma::balancer
