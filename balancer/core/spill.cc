// SPDX-License-Identifier: Apache-2.0
#include "balancer/core/spill.h"

#include <algorithm>

#include "balancer/core/guards.h"
#include "balancer/core/shortlist.h"

namespace vmnuma::balancer {

using placement::Arrangement;
using placement::ClientIndex;
using placement::ClientState;
using placement::CpuTime;
using placement::Guard;
using placement::kNoNode;
using placement::Load;
using placement::NodeIndex;
using placement::NodeLoad;
using placement::Snapshot;
using placement::Spill;
using placement::VmPolicy;
using placement::VmState;

namespace {

constexpr std::size_t kClientsTried = 16;  ///< of a node that is short
constexpr std::size_t kNodesTried = 8;     ///< the calmest
/// Of the newest epoch in what a spill saved lately, in tenths: a half-life of two epochs.
constexpr std::int64_t kNewestTenths = 3;

/// A client's load on its two nodes.
struct Halves {
  Load home;
  Load second;
};

/// `second_demand` of the load's demand goes to the second node, and its part of all else.
Halves split(const Load& load, CpuTime second_demand) {
  const auto part = [&](std::int64_t whole) {
    return scaled(CpuTime{whole}, second_demand.value, load.demand.value).value;
  };
  Halves halves;
  halves.second = {second_demand, CpuTime{part(load.entitled.value)},
                   std::max<std::int64_t>(part(load.weight), 1)};
  halves.home = {load.demand - second_demand, load.entitled - halves.second.entitled,
                 std::max<std::int64_t>(load.weight - halves.second.weight, 1)};
  return halves;
}

/// One client that runs on two nodes, and what that saves in this epoch.
struct Candidate {
  ClientIndex client = placement::kNoClient;
  NodeIndex to = kNoNode;
  CpuTime saves;
};

/// The host's nodes with clients that spill.
class SpilledHost {
 public:
  explicit SpilledHost(const Arrangement& arrangement) : arrangement_(arrangement) {
    const Snapshot& snapshot = arrangement.snapshot();
    nodes_.reserve(snapshot.nodes.size());
    for (NodeIndex node = 0; node < snapshot.nodes.size(); ++node) {
      const placement::NodeState& state = snapshot.nodes[node];
      placement::Supply supply = arrangement.node(node).supply();
      supply.non_vm = std::max(state.non_vm, state.non_vm_now) + state.set_aside;
      if (supply.non_vm == arrangement.node(node).supply().non_vm) {
        nodes_.push_back(arrangement.node(node));
      } else {
        std::vector<Load> loads;
        for (const ClientIndex client : arrangement.residents(node)) {
          loads.push_back(arrangement.load(client));
        }
        nodes_.emplace_back(supply, loads);
      }
      is_short_.push_back(nodes_.back().owed() > CpuTime{});
    }
  }

  /// Its own clients are owed time, those who spill there aside.
  [[nodiscard]] bool is_short(NodeIndex node) const {
    return is_short_[node] && nodes_[node].owed() > CpuTime{};
  }

  [[nodiscard]] CpuTime saved_by(ClientIndex client, NodeIndex to) const {
    const Load& load = arrangement_.load(client);
    const NodeIndex home = arrangement_.home(client);
    const CpuTime away = goes_away(load, home, to);
    if (away <= CpuTime{}) {
      return CpuTime{};
    }
    const Halves halves = split(load, away);
    const CpuTime before = nodes_[home].owed() + nodes_[to].owed();
    const CpuTime after = nodes_[home].owed({.out = {load}, .in = {halves.home}}) +
                          nodes_[to].owed({.out = {}, .in = {halves.second}});
    return before - after -
           scaled(lost_to_distance(client, home, to), away.value, load.demand.value);
  }

  void apply(ClientIndex client, NodeIndex to) {
    const Load& load = arrangement_.load(client);
    const NodeIndex home = arrangement_.home(client);
    const CpuTime away = goes_away(load, home, to);
    if (away > CpuTime{}) {
      const Halves halves = split(load, away);
      nodes_[home].apply({.out = {load}, .in = {halves.home}});
      nodes_[to].apply({.out = {}, .in = {halves.second}});
    }
  }

  /// Nodes with CPUs, least demand for their threads first.
  [[nodiscard]] std::vector<NodeIndex> calmest() const {
    std::vector<NodeIndex> nodes;
    for (NodeIndex node = 0; node < nodes_.size(); ++node) {
      if (arrangement_.snapshot().nodes[node].known && threads(node) > CpuTime{}) {
        nodes.push_back(node);
      }
    }
    std::stable_sort(nodes.begin(), nodes.end(),
                     [&](NodeIndex a, NodeIndex b) { return filled(a) < filled(b); });
    return nodes;
  }

 private:
  /// Left for clients.
  [[nodiscard]] CpuTime threads(NodeIndex node) const {
    return threads_left(nodes_[node].supply());
  }

  [[nodiscard]] placement::Permille filled(NodeIndex node) const {
    return permille_of(nodes_[node].demand().value, threads(node).value,
                       placement::Permille{1'000'000});
  }

  /// Of its demand, what makes both nodes equally full.
  [[nodiscard]] CpuTime goes_away(const Load& load, NodeIndex home, NodeIndex to) const {
    const CpuTime here = threads(home);
    const CpuTime there = threads(to);
    if (there <= CpuTime{} || load.demand <= CpuTime{}) {
      return CpuTime{};
    }
    const CpuTime all = nodes_[home].demand() + nodes_[to].demand();
    const CpuTime even = nodes_[home].demand() - scaled(all, here.value, (here + there).value);
    return std::clamp(even, CpuTime{}, load.demand);
  }

  /// What it loses on the second node more than at home, if it ran there only.
  [[nodiscard]] CpuTime lost_to_distance(ClientIndex client, NodeIndex home, NodeIndex to) const {
    const Snapshot& snapshot = arrangement_.snapshot();
    const ClientState& state = snapshot.clients[client];
    placement::MemoryProfile memory = arrangement_.memory(client);
    if (memory.parts.empty()) {  // not read: all of it is taken to be at home
      memory.parts.push_back({home, placement::kGiB, placement::Permille{1000}});
      memory.resident = placement::kGiB;
    }
    return present_loss(snapshot, state, memory, to, arrangement_.options()) -
           present_loss(snapshot, state, memory, home, arrangement_.options());
  }

  const Arrangement& arrangement_;
  std::vector<NodeLoad> nodes_;
  std::vector<bool> is_short_;  ///< per node, with everybody at home
};

/// The client as it is may spill at all.
bool may_spill(const Arrangement& arrangement, ClientIndex index) {
  const ClientState& client = arrangement.snapshot().clients[index];
  const VmState& vm = arrangement.snapshot().vms[client.vm];
  const VmPolicy& policy = vm.policy;
  return client.home != kNoNode && arrangement.snapshot().nodes[client.home].known && vm.fresh &&
         vm.measured && !client.moving && !vm_is_moved(arrangement, index) &&
         client.epochs_here > 1 && !policy.do_not_move && client.exclusive_cores == 0 &&
         policy.cpu_binding == placement::CpuBinding::kNode &&
         policy.cpu_class == placement::CpuClass::kNone &&
         policy.topology_policy == placement::TopologyPolicy::kNone;
}

/// Some node's clients want more than its cores have beside others: a look at sums only.
bool is_anything_short(const Arrangement& arrangement) {
  const Snapshot& snapshot = arrangement.snapshot();
  for (NodeIndex node = 0; node < snapshot.nodes.size(); ++node) {
    const placement::NodeState& state = snapshot.nodes[node];
    const CpuTime others = std::max(state.non_vm, state.non_vm_now) + state.set_aside;
    if (!arrangement.residents(node).empty() &&
        arrangement.node(node).demand() + others > state.physical) {
      return true;
    }
  }
  return false;
}

CpuTime least_saved(const Arrangement& arrangement, NodeIndex home, NodeIndex to) {
  const CpuTime capacity =
      std::max(arrangement.node(home).capacity(), arrangement.node(to).capacity());
  return std::max(capacity * arrangement.options().mig_threshold / 100, CpuTime{1});
}

/// Clients that could begin to spill, with what that would save as things are.
std::vector<Candidate> candidates(const Arrangement& arrangement, const SpilledHost& host,
                                  const std::vector<bool>& spills) {
  std::vector<Candidate> found;
  std::vector<NodeIndex> targets = host.calmest();
  targets.resize(std::min(targets.size(), kNodesTried));
  for (NodeIndex home = 0; home < arrangement.snapshot().nodes.size(); ++home) {
    if (!host.is_short(home)) {
      continue;
    }
    std::vector<ClientIndex> clients;
    for (const ClientIndex client : arrangement.residents(home)) {
      if (!spills[client] && arrangement.load(client).demand > CpuTime{} &&
          may_spill(arrangement, client)) {
        clients.push_back(client);
      }
    }
    std::stable_sort(clients.begin(), clients.end(), [&](ClientIndex a, ClientIndex b) {
      return arrangement.load(a).demand > arrangement.load(b).demand;
    });
    for (const ClientIndex client : spread_out(clients, kClientsTried)) {
      for (const NodeIndex to : targets) {
        if (to != home && !check_spill(arrangement, client, to)) {
          const CpuTime saves = host.saved_by(client, to);
          if (saves >= least_saved(arrangement, home, to)) {
            found.push_back({client, to, saves});
          }
        }
      }
    }
  }
  return found;
}

/// The best of them as things are by now; it is taken out. A spill leaves less to be saved by
/// others, so that what was reckoned before is an upper bound.
std::optional<Candidate> take_best(const Arrangement& arrangement, const SpilledHost& host,
                                   const std::vector<bool>& spills,
                                   std::vector<Candidate>& candidates) {
  const auto is_worse = [](const Candidate& a, const Candidate& b) { return a.saves < b.saves; };
  while (!candidates.empty()) {
    const auto best = std::max_element(candidates.begin(), candidates.end(), is_worse);
    const NodeIndex home = arrangement.home(best->client);
    const CpuTime now = spills[best->client] || !host.is_short(home)
                            ? CpuTime{}
                            : host.saved_by(best->client, best->to);
    if (now < least_saved(arrangement, home, best->to)) {
      candidates.erase(best);
    } else if (now < best->saves) {
      best->saves = now;
    } else {
      const Candidate taken = *best;
      candidates.erase(best);
      return taken;
    }
  }
  return std::nullopt;
}

}  // namespace

bool may_run_on(const Snapshot& snapshot, const ClientState& client, NodeIndex node) {
  if (std::binary_search(client.allowed.begin(), client.allowed.end(), node)) {
    return true;
  }
  const VmState& vm = snapshot.vms[client.vm];
  const std::vector<placement::NodeId>& nodes = vm.policy.nodes;
  const bool is_named = nodes.empty() || std::find(nodes.begin(), nodes.end(),
                                                   snapshot.topology.nodes[node].id) != nodes.end();
  // A VM that lives with its devices does not run elsewhere.
  const bool stays_with_devices =
      !vm.device_nodes.empty() &&
      (vm.policy.device_locality == placement::DeviceLocality::kStrict ||
       vm.policy.device_locality == placement::DeviceLocality::kSocket);
  return is_named && !stays_with_devices &&
         vm.policy.topology_policy == placement::TopologyPolicy::kNone;
}

std::optional<Guard> check_spill(const Arrangement& arrangement, ClientIndex client, NodeIndex to) {
  const Snapshot& snapshot = arrangement.snapshot();
  const VmState& vm = snapshot.vms[snapshot.clients[client].vm];
  if (!vm.fresh || !vm.measured || !snapshot.nodes[to].known) {
    return Guard::kStaleData;
  }
  if (!may_spill(arrangement, client)) {
    return vm.policy.do_not_move ? Guard::kDoNotMove : Guard::kMoving;
  }
  if (!may_run_on(snapshot, snapshot.clients[client], to)) {
    return Guard::kNotAllowed;
  }
  return arrangement.forbidden_by_group(client, to, {}) ? std::optional(Guard::kAntiAffinity)
                                                        : std::nullopt;
}

std::vector<Spill> find_spills(const Arrangement& arrangement) {
  const Snapshot& snapshot = arrangement.snapshot();
  if (!is_anything_short(arrangement) &&
      std::none_of(snapshot.clients.begin(), snapshot.clients.end(),
                   [](const ClientState& client) { return client.spills_to != kNoNode; })) {
    return {};
  }
  std::vector<Spill> found;
  std::vector<bool> spills(snapshot.clients.size());
  SpilledHost host(arrangement);
  for (ClientIndex i = 0; i < snapshot.clients.size(); ++i) {
    const ClientState& client = snapshot.clients[i];
    if (client.spills_to == kNoNode || arrangement.home(i) != client.home) {
      continue;
    }
    const VmState& vm = snapshot.vms[client.vm];
    const bool is_known =
        snapshot.nodes[client.home].known && snapshot.nodes[client.spills_to].known;
    if (!vm.fresh || client.moving || vm_is_moved(arrangement, i) || !is_known) {  // left as it is
      spills[i] = true;
      found.push_back({client.id, client.spills_to, client.spill_saves});
      host.apply(i, client.spills_to);
      continue;
    }
    const CpuTime now = host.saved_by(i, client.spills_to);
    const CpuTime lately = client.spill_saves + (now - client.spill_saves) * kNewestTenths / 10;
    if (lately > CpuTime{} && !check_spill(arrangement, i, client.spills_to)) {
      spills[i] = true;
      found.push_back({client.id, client.spills_to, lately});
      host.apply(i, client.spills_to);
    }
  }
  std::vector<Candidate> others = candidates(arrangement, host, spills);
  for (std::int64_t begun = 0; begun < arrangement.options().migrations_per_epoch; ++begun) {
    const std::optional<Candidate> best = take_best(arrangement, host, spills, others);
    if (!best) {
      break;
    }
    spills[best->client] = true;
    found.push_back({snapshot.clients[best->client].id, best->to, best->saves});
    host.apply(best->client, best->to);
  }
  std::sort(found.begin(), found.end(),
            [](const Spill& a, const Spill& b) { return a.client < b.client; });
  return found;
}

}  // namespace vmnuma::balancer
