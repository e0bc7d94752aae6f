// SPDX-License-Identifier: Apache-2.0
#include "balancer/core/outcomes.h"

#include <algorithm>
#include <utility>

#include "balancer/core/reckoning.h"
#include "balancer/core/spill.h"
#include "placement/base/mapped.h"
#include "placement/memory_cost.h"

namespace vmnuma::balancer {

namespace {

NodeIndex index_of(const Snapshot& snapshot, NodeId node) {
  return snapshot.topology.index_of(node).value_or(kNoNode);
}

NodeId number_of(const Snapshot& snapshot, NodeIndex node) {
  return node == kNoNode ? NodeId{-1} : snapshot.topology.nodes[node].id;
}

/// Returns what the client loses to far memory on that node, with its memory where it lies.
CpuTime lost_to_memory(const Snapshot& snapshot, const ClientState& client, NodeIndex node,
                       const Options& options) {
  return node == kNoNode ? CpuTime{}
                         : present_loss(snapshot, client, memory_profile(snapshot, client, options),
                                        node, options);
}

/// The same if all its vCPUs were busy all the time. `followed`: with its memory on the node, to
/// the extent that it may be moved and has room there.
CpuTime far_when_busy(const Snapshot& snapshot, const ClientState& client, NodeIndex node,
                      bool followed, const Options& options) {
  if (node == kNoNode) {
    return {};
  }
  MemoryProfile memory = memory_profile(snapshot, client, options);
  memory.demand = snapshot.epoch_length * client.vcpu_count();
  if (!followed) {
    return present_loss(snapshot, client, memory, node, options);
  }
  const auto index = static_cast<ClientIndex>(&client - snapshot.clients.data());
  const Bytes room = MemoryRoom(snapshot).of(index, node);
  return memory_cost(snapshot, client, memory, node, room, options).standing;
}

/// What a host's epoch loses, as computed, without far memory at home.
struct Reckoned {
  CpuTime owed;    ///< with spills taken into account
  CpuTime wishes;  ///< broken groups and far devices
  CpuTime talk;
  Permille imbalance;
};

Reckoned reckon(const Snapshot& snapshot, const Options& options,
                const std::vector<NodeIndex>& homes) {
  Reckoning reckoning(snapshot, options);
  std::vector<Rehoming> changes;
  for (ClientIndex client = 0; client < homes.size(); ++client) {
    if (homes[client] != snapshot.clients[client].home) {
      changes.push_back({client, homes[client]});
    }
  }
  reckoning.apply(changes);
  Reckoned sum{{},
               reckoning.lost_to_groups() + reckoning.lost_to_devices(),
               reckoning.lost_to_talks(),
               reckoning.imbalance()};
  Arrangement arrangement(snapshot, options, Arrangement::Basis::kDemand);
  arrangement.apply(changes);
  sum.owed = owed_beside_spills(arrangement);
  return sum;
}

/// Returns the nodes on which a spill changes how long clients wait: homes of clients that spill,
/// and their second nodes.
std::vector<bool> nodes_with_spills(const Snapshot& snapshot) {
  std::vector<bool> nodes(snapshot.nodes.size());
  for (const ClientState& client : snapshot.clients) {
    if (client.home != kNoNode && client.spills_to != kNoNode) {
      nodes[client.home] = nodes[client.spills_to] = true;
    }
  }
  return nodes;
}

/// Returns the time owed to the clients of these nodes beyond what is computed; may be negative.
/// Nodes with spills are left out: what was owed there is not what would be owed at home.
CpuTime unexplained(const Snapshot& snapshot, const std::vector<NodeIndex>& nodes,
                    const Options& options) {
  const std::vector<CpuTime> reckoned = Reckoning(snapshot, options).owed();
  const std::vector<bool> has_spills = nodes_with_spills(snapshot);
  CpuTime sum;
  for (ClientIndex client = 0; client < snapshot.clients.size(); ++client) {
    const NodeIndex home = snapshot.clients[client].home;
    if (std::ranges::find(nodes, home) != nodes.end()) {
      sum += has_spills[home] ? CpuTime{} : snapshot.clients[client].owed - reckoned[client];
    }
  }
  return sum;
}

template <class Steps>
std::vector<NodeIndex> nodes_of(const Snapshot& snapshot, const Steps& steps) {
  std::vector<NodeIndex> nodes;
  for (const auto& step : steps) {
    for (const NodeId node : {step.from, step.to}) {
      if (const NodeIndex index = index_of(snapshot, node); index != kNoNode) {
        nodes.push_back(index);
      }
    }
  }
  return nodes;
}

/// Returns the clients to where they were. A client that has since got another home stays there,
/// and so does one that had no home, or whose former node no longer exists.
template <class Steps>
void take_back(const Snapshot& snapshot, const Steps& steps, std::vector<NodeIndex>& homes) {
  for (const auto& step : steps) {
    const ClientState* client = find_client(snapshot, step.client);
    if (client == nullptr) {
      continue;
    }
    NodeIndex& home = homes[static_cast<std::size_t>(client - snapshot.clients.data())];
    const NodeIndex before = index_of(snapshot, step.from);
    if (before != kNoNode && home == index_of(snapshot, step.to)) {
      home = before;
    }
  }
}

}  // namespace

Measured measure(const Snapshot& snapshot, const Options& options) {
  Measured measured;
  for (const ClientState& client : snapshot.clients) {
    measured.demand += client.demand;
    measured.lost += client.owed + lost_to_memory(snapshot, client, client.home, options);
  }
  const Reckoning reckoning(snapshot, options);
  measured.talk = reckoning.lost_to_talks();
  measured.lost += measured.talk + reckoning.lost_to_groups() + reckoning.lost_to_devices();
  std::vector<Permille> shares;
  for (const NodeIndex node : snapshot.topology.homes()) {
    const NodeState& state = snapshot.nodes[node];
    shares.push_back(permille_of(state.owed.value, state.capacity.value, Permille{}));
  }
  measured.imbalance = imbalance_of(shares);
  return measured;
}

std::optional<Permille> locality_of(const Snapshot& snapshot,
                                    const std::vector<ClientId>& clients) {
  Bytes local;
  Bytes all;
  for (const ClientId& id : clients) {
    const ClientState* client = find_client(snapshot, id);
    if (client == nullptr || !client->memory_known || client->home == kNoNode) {
      return std::nullopt;
    }
    all += sum_of(client->memory);
    local += client->local_memory();
  }
  return permille_of(local.value, all.value, Permille{1000});
}

void Outcomes::began(std::int64_t action, const Action& plan, const Snapshot& snapshot,
                     const Options& options) {
  Watched watched;
  for (const Relocation& relocation : plan.relocations) {
    const bool moves = relocation.from != relocation.to;
    watched.clients.push_back(relocation.client);
    watched.moves_clients = watched.moves_clients || moves;
    Step step{relocation.client, number_of(snapshot, relocation.from),
              number_of(snapshot, relocation.to)};
    if (const ClientState* client = find_client(snapshot, relocation.client)) {
      step.far_when_busy =
          far_when_busy(snapshot, *client, relocation.from, /*followed=*/moves, options);
    }
    watched.steps.push_back(step);
  }
  if (watched.moves_clients && is_clean(watched, snapshot)) {
    watched.unexplained_before = unexplained(snapshot, nodes_of(snapshot, watched.steps), options);
  }
  watched.locality_before = locality_of(snapshot, watched.clients);
  watched_[action] = std::move(watched);
}

void Outcomes::pinned(std::int64_t action, std::int64_t epoch) {
  if (const auto found = watched_.find(action); found != watched_.end()) {
    found->second.pinned = epoch;
  }
}

void Outcomes::open_if_due(const Options& options, std::int64_t epoch) {
  if (failed_in_a_row_ + harmful_in_a_row_ >= options.breaker_failures) {
    failed_in_a_row_ = harmful_in_a_row_ = 0;
    rest_until_ = epoch + options.breaker_rest;
  }
}

void Outcomes::ended(std::int64_t action, bool done, bool failed, const Options& options,
                     std::int64_t epoch) {
  const auto found = watched_.find(action);
  if (failed && std::exchange(last_failed_in_, epoch) != epoch) {
    ++failed_in_a_row_;
    open_if_due(options, epoch);
  } else if (done) {
    failed_in_a_row_ = 0;
  }
  if (found == watched_.end()) {
    return;
  }
  if (done) {
    found->second.pinned = found->second.pinned.value_or(epoch);
    found->second.due = epoch + kSettleEpochs;
  } else {
    watched_.erase(found);
  }
}

bool Outcomes::is_clean(const Watched& watched, const Snapshot& snapshot) {
  const std::vector<NodeIndex> nodes = nodes_of(snapshot, watched.steps);
  return std::ranges::none_of(snapshot.clients, [&](const ClientState& client) {
    const auto concerns = [&nodes](NodeIndex node) {
      return std::ranges::find(nodes, node) != nodes.end();
    };
    const bool has_just_arrived = client.came_from != kNoNode && client.epochs_here <= 1;
    return (client.moving || has_just_arrived || !snapshot.vms[client.vm].fresh) &&
           (concerns(client.home) || concerns(client.came_from));
  });
}

/// Makes this epoch the one by which the action is judged.
void Outcomes::sample(WatchedActions::iterator entry, const Snapshot& snapshot,
                      const Options& options) {
  Watched& watched = entry->second;
  const Measured measured = measure(snapshot, options);
  Sampled sampled{measured, measured};
  for (Step& step : watched.steps) {
    const ClientState* client = find_client(snapshot, step.client);
    if (client == nullptr) {
      return;
    }
    const CpuTime full = snapshot.epoch_length * client->vcpu_count();
    step.busy = permille_of(client->demand.value, full.value, Permille{});
    // Its memory is in transit; the final cost is added once it has arrived.
    const CpuTime now = lost_to_memory(snapshot, *client, client->home, options);
    sampled.before.lost -= now;
    sampled.after.lost -= now;
  }
  if (watched.moves_clients) {
    std::vector<NodeIndex> homes = mapped(snapshot.clients, &ClientState::home);
    for (auto later = std::prev(watched_.end()); later != entry; --later) {
      take_back(snapshot, later->second.steps, homes);
    }
    const Reckoned with = reckon(snapshot, options, homes);
    take_back(snapshot, watched.steps, homes);
    const Reckoned without = reckon(snapshot, options, homes);
    const CpuTime talk = without.talk - with.talk;
    sampled.before.talk += talk;
    sampled.before.lost += without.owed - with.owed + without.wishes - with.wishes + talk;
    sampled.before.imbalance =
        std::max(sampled.after.imbalance + without.imbalance - with.imbalance, Permille{});
  }
  watched.sampled = sampled;
}

MeasuredOutcome Outcomes::outcome_of(std::int64_t action, const Watched& watched,
                                     const Snapshot& snapshot, const Options& options) {
  MeasuredOutcome outcome{action,
                          watched.sampled->before,
                          watched.sampled->after,
                          watched.locality_before,
                          locality_of(snapshot, watched.clients),
                          /*harmful=*/false};
  for (const Step& step : watched.steps) {
    const ClientState* client = find_client(snapshot, step.client);
    // The memory of a client that has since got another home is brought there.
    if (client == nullptr || client->home != index_of(snapshot, step.to)) {
      continue;
    }
    outcome.before.lost += step.far_when_busy * step.busy.value / 1000;
    outcome.after.lost +=
        far_when_busy(snapshot, *client, client->home, /*followed=*/false, options) *
        step.busy.value / 1000;
  }
  if (watched.unexplained_before && watched.unexplained_after) {
    outcome.before.lost += *watched.unexplained_before - *watched.unexplained_after;
  }
  // It cannot have done more harm than is lost with it.
  outcome.before.lost = std::max(outcome.before.lost, CpuTime{});
  const CpuTime harm =
      (outcome.after.lost - outcome.after.talk) - (outcome.before.lost - outcome.before.talk);
  outcome.harmful =
      watched.moves_clients && harm * 100 > capacity_of_host(snapshot) * options.mig_threshold;
  return outcome;
}

/// Observes actions that have been pinned: the loads once, and later what was really owed.
void Outcomes::observe(WatchedActions::iterator entry, const Snapshot& snapshot,
                       const Options& options) {
  Watched& watched = entry->second;
  if (!watched.sampled) {
    sample(entry, snapshot, options);
  }
  if (watched.moves_clients && !watched.unexplained_after &&
      snapshot.epoch >= *watched.pinned + kPinsSettle && is_clean(watched, snapshot)) {
    watched.unexplained_after = unexplained(snapshot, nodes_of(snapshot, watched.steps), options);
  }
}

/// Returns true if everything that can be known, apart from the memory, is known.
bool Outcomes::is_complete(const Watched& watched, std::int64_t epoch) {
  const bool knows_owed = !watched.moves_clients || watched.unexplained_after ||
                          epoch >= *watched.pinned + kPinsSettle + kLongestWait;
  return watched.sampled && knows_owed;
}

std::vector<MeasuredOutcome> Outcomes::settle(const Snapshot& snapshot, const Options& options) {
  // All are observed before any is erased: they are judged against each other.
  for (auto entry = watched_.begin(); entry != watched_.end(); ++entry) {
    if (entry->second.pinned && snapshot.epoch > *entry->second.pinned) {
      observe(entry, snapshot, options);
    }
  }
  std::vector<MeasuredOutcome> settled;
  for (auto entry = watched_.begin(); entry != watched_.end();) {
    const auto& [action, watched] = *entry;
    const bool is_due = watched.due && *watched.due <= snapshot.epoch;
    if (!is_due || (watched.sampled && !is_complete(watched, snapshot.epoch))) {
      ++entry;
      continue;
    }
    if (watched.sampled) {
      settled.push_back(outcome_of(action, watched, snapshot, options));
      if (settled.back().harmful) {
        ++harmful_in_a_row_;
        open_if_due(options, snapshot.epoch);
      } else if (watched.moves_clients) {
        harmful_in_a_row_ = 0;
      }
    }
    entry = watched_.erase(entry);
  }
  return settled;
}

}  // namespace vmnuma::balancer
