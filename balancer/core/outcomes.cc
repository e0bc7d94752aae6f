// SPDX-License-Identifier: Apache-2.0
#include "balancer/core/outcomes.h"

#include <algorithm>

#include "placement/action_affinity.h"
#include "placement/memory_cost.h"

namespace vmnuma::balancer {

using placement::Bytes;
using placement::ClientId;
using placement::ClientState;
using placement::CpuTime;
using placement::kNoNode;
using placement::Permille;
using placement::Snapshot;

Measured measure(const Snapshot& snapshot, const placement::Options& options) {
  Measured measured;
  for (const ClientState& client : snapshot.clients) {
    measured.demand += client.demand;
    measured.lost += client.owed;
    if (client.home != kNoNode) {
      measured.lost += present_loss(snapshot, client, memory_profile(snapshot, client, options),
                                    client.home, options);
    }
  }
  const auto talks = talks_of(snapshot, options);
  for (placement::ClientIndex one = 0; one < talks.size(); ++one) {
    for (const placement::Talk& talk : talks[one]) {
      const placement::NodeIndex here = snapshot.clients[one].home;
      const placement::NodeIndex there = snapshot.clients[talk.with].home;
      if (one < talk.with && here != there && here != kNoNode && there != kNoNode) {
        measured.talk += talk.lost_apart;
      }
    }
  }
  measured.lost += measured.talk;
  bool first = true;
  Permille most{};
  Permille least{};
  for (placement::NodeIndex node = 0; node < snapshot.nodes.size(); ++node) {
    if (!snapshot.topology.can_be_home(node)) {
      continue;
    }
    const Permille share = permille_of(snapshot.nodes[node].owed.value,
                                       snapshot.nodes[node].capacity.value, Permille{});
    most = first ? share : std::max(most, share);
    least = first ? share : std::min(least, share);
    first = false;
  }
  measured.imbalance = most - least;
  return measured;
}

std::optional<Permille> locality_of(const Snapshot& snapshot,
                                    const std::vector<ClientId>& clients) {
  Bytes local;
  Bytes all;
  for (const ClientId& id : clients) {
    const auto client = std::lower_bound(
        snapshot.clients.begin(), snapshot.clients.end(), id,
        [](const ClientState& entry, const ClientId& key) { return entry.id < key; });
    if (client == snapshot.clients.end() || client->id != id || !client->memory_known ||
        client->home == kNoNode) {
      return std::nullopt;
    }
    for (const Bytes bytes : client->memory) {
      all += bytes;
    }
    local += client->memory[client->home];
  }
  return permille_of(local.value, all.value, Permille{1000});
}

void Outcomes::began(std::int64_t action, const placement::Action& plan, const Snapshot& snapshot,
                     const placement::Options& options) {
  Watched watched;
  watched.before = measure(snapshot, options);
  for (const placement::Relocation& relocation : plan.relocations) {
    watched.clients.push_back(relocation.client);
    watched.moves_clients = watched.moves_clients || relocation.from != relocation.to;
  }
  watched.locality_before = locality_of(snapshot, watched.clients);
  watched_[action] = std::move(watched);
}

void Outcomes::count_failure(const placement::Options& options, std::int64_t epoch) {
  ++failures_in_a_row_;
  if (failures_in_a_row_ >= options.breaker_failures) {
    failures_in_a_row_ = 0;
    rest_until_ = epoch + options.breaker_rest;
  }
}

void Outcomes::ended(std::int64_t action, bool done, bool failed, const placement::Options& options,
                     std::int64_t epoch) {
  const auto found = watched_.find(action);
  if (failed) {
    count_failure(options, epoch);
  }
  if (found == watched_.end()) {
    return;
  }
  if (done) {
    found->second.due = epoch + kSettleEpochs;
  } else {
    watched_.erase(found);
  }
}

std::vector<MeasuredOutcome> Outcomes::settle(const Snapshot& snapshot,
                                              const placement::Options& options) {
  std::vector<MeasuredOutcome> settled;
  CpuTime capacity;
  for (const placement::NodeState& node : snapshot.nodes) {
    capacity += node.capacity;
  }
  for (auto entry = watched_.begin(); entry != watched_.end();) {
    const Watched& watched = entry->second;
    if (!watched.due || *watched.due > snapshot.epoch) {
      ++entry;
      continue;
    }
    MeasuredOutcome outcome;
    outcome.action = entry->first;
    outcome.before = watched.before;
    outcome.after = measure(snapshot, options);
    outcome.locality_before = watched.locality_before;
    outcome.locality_after = locality_of(snapshot, watched.clients);
    const CpuTime more_lost =
        (outcome.after.lost - outcome.after.talk) - (outcome.before.lost - outcome.before.talk);
    const CpuTime more_wanted = std::max(outcome.after.demand - outcome.before.demand, CpuTime{});
    outcome.harmful =
        watched.moves_clients && (more_lost - more_wanted) * 100 > capacity * options.mig_threshold;
    if (outcome.harmful) {
      count_failure(options, snapshot.epoch);
    } else if (watched.moves_clients) {
      failures_in_a_row_ = 0;
    }
    settled.push_back(outcome);
    entry = watched_.erase(entry);
  }
  return settled;
}

}  // namespace vmnuma::balancer
