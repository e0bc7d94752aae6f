// SPDX-License-Identifier: Apache-2.0
#include "balancer/core/spill.h"

#include <algorithm>
#include <utility>

#include "balancer/core/crowding.h"
#include "balancer/core/guards.h"
#include "balancer/core/shortlist.h"
#include "balancer/core/spilled_host.h"

namespace vmnuma::balancer {

namespace {

constexpr std::size_t kSpillsTried = 16;       ///< of a node that is short
constexpr std::size_t kNodesTried = 8;         ///< the calmest
constexpr std::int64_t kMostAheadOfNeed = 16;  ///< begin in an epoch; each costs some libvirt calls
/// Weight, in tenths, of the newest epoch in what a spill saved lately: a half-life of two epochs.
constexpr std::int64_t kNewestTenths = 3;

/// A client that runs on two nodes, and what that saves in this epoch.
struct SpillCandidate {
  ClientIndex client = kNoClient;
  NodeIndex to = kNoNode;
  CpuTime saves;
};

/// Returns true if policies let the client spill from where it lives.
bool may_ever_spill(const Arrangement& arrangement, ClientIndex index) {
  return arrangement.home(index) != kNoNode &&
         policies_allow_spill(arrangement.snapshot(), arrangement.snapshot().clients[index]);
}

/// Returns true if clients can spill at all: more than one node has CPUs, and the option allows it.
bool can_spill(const Arrangement& arrangement) {
  const Snapshot& snapshot = arrangement.snapshot();
  return arrangement.options().spill_enable != 0 &&
         std::ranges::count_if(snapshot.topology.nodes,
                               [](const Node& node) { return !node.cpus.empty(); }) > 1;
}

/// Returns true if the client in its present state may begin or continue to spill.
bool may_spill(const Arrangement& arrangement, ClientIndex index) {
  const ClientState& client = arrangement.snapshot().clients[index];
  const VmState& vm = arrangement.snapshot().vms[client.vm];
  return client.home != kNoNode && arrangement.snapshot().nodes[client.home].known &&
         (vm.fresh || is_unread_for_long(vm)) && vm.measured && !client.moving &&
         !vm_is_moved(arrangement, index) && client.epochs_here > 1 &&
         may_ever_spill(arrangement, index);
}

/// Returns true if some node's clients want more than its cores have beside other load. Looks only
/// at sums.
bool is_anything_short(const Arrangement& arrangement) {
  const Snapshot& snapshot = arrangement.snapshot();
  for (NodeIndex node = 0; node < snapshot.nodes.size(); ++node) {
    const NodeState& state = snapshot.nodes[node];
    const CpuTime others = std::max(state.non_vm, state.non_vm_now) + state.set_aside;
    if (!arrangement.residents(node).empty() &&
        arrangement.node(node).demand() + others > state.physical) {
      return true;
    }
  }
  return false;
}

/// Returns true if hardly a core of the node idled in this epoch, whatever used them.
bool is_all_in_use(const Arrangement& arrangement, NodeIndex node) {
  const NodeState& state = arrangement.snapshot().nodes[node];
  const CpuTime used =
      state.non_vm_now + sum_of(arrangement.residents(node), [&](ClientIndex client) {
        return arrangement.snapshot().clients[client].used;
      });
  return used * 100 > state.physical * (100 - arrangement.options().mig_threshold);
}

CpuTime least_saved(const Arrangement& arrangement, NodeIndex home, NodeIndex to) {
  const CpuTime capacity =
      std::max(arrangement.node(home).capacity(), arrangement.node(to).capacity());
  return std::max(capacity * arrangement.options().mig_threshold / 100, CpuTime{1});
}

/// Clients that could begin to spill, with what that would save at present.
using MaySpill = bool (*)(const Arrangement&, ClientIndex, NodeIndex to);

std::vector<SpillCandidate> candidates(const Arrangement& arrangement, const SpilledHost& host,
                                       const std::vector<bool>& spills, MaySpill may) {
  std::vector<SpillCandidate> found;
  std::vector<NodeIndex> targets = host.calmest();
  targets.resize(std::min(targets.size(), kNodesTried));
  for (NodeIndex home = 0; home < arrangement.snapshot().nodes.size(); ++home) {
    if (host.owed_at_home(home) < least_saved(arrangement, home, home)) {
      continue;
    }
    std::vector<ClientIndex> clients;
    for (const ClientIndex client : arrangement.residents(home)) {
      if (!spills[client] && arrangement.load(client).demand > CpuTime{} &&
          may(arrangement, client, kNoNode)) {
        clients.push_back(client);
      }
    }
    std::ranges::stable_sort(clients, [&](ClientIndex a, ClientIndex b) {
      return arrangement.load(a).demand > arrangement.load(b).demand;
    });
    for (const ClientIndex client : spread_out(clients, kSpillsTried)) {
      for (const NodeIndex to : targets) {
        if (to != home && may(arrangement, client, to)) {
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

/// Removes and returns the best candidate under present conditions. A spill leaves less to be saved
/// by others, so what was computed before is an upper bound.
std::optional<SpillCandidate> take_best(const Arrangement& arrangement, const SpilledHost& host,
                                        const std::vector<bool>& spills,
                                        std::vector<SpillCandidate>& candidates) {
  const auto is_worse = [](const SpillCandidate& a, const SpillCandidate& b) {
    return a.saves < b.saves;
  };
  while (!candidates.empty()) {
    const auto best = std::ranges::max_element(candidates, is_worse);
    const NodeIndex home = arrangement.home(best->client);
    const CpuTime now = spills[best->client] || host.owed_at_home(home) <= CpuTime{}
                            ? CpuTime{}
                            : host.saved_by(best->client, best->to);
    if (now < least_saved(arrangement, home, best->to)) {
      candidates.erase(best);
    } else if (now < best->saves) {
      best->saves = now;
    } else {
      const SpillCandidate taken = *best;
      candidates.erase(best);
      return taken;
    }
  }
  return std::nullopt;
}

/// Returns true if a client that must not share a node with this one spills to the node.
bool is_taken(const Arrangement& arrangement, ClientIndex index, NodeIndex node) {
  const Snapshot& snapshot = arrangement.snapshot();
  const VmPolicy& policy = snapshot.vms[snapshot.clients[index].vm].policy;
  if (policy.anti_affinity_group.empty() && policy.max_per_node == 0) {
    return false;
  }
  for (ClientIndex other = 0; other < snapshot.clients.size(); ++other) {
    if (other != index && snapshot.clients[other].spills_to == node &&
        arrangement.keeps_apart(index, other)) {
      return true;
    }
  }
  return false;
}

/// The same for clients and their second nodes that were found in this epoch.
bool is_taken_by(const Arrangement& arrangement, const std::vector<Rehoming>& spills,
                 ClientIndex client, NodeIndex node) {
  return std::ranges::any_of(spills, [&](const Rehoming& spill) {
    return spill.to == node && spill.client != client &&
           arrangement.keeps_apart(client, spill.client);
  });
}

}  // namespace

bool spills_already(const Snapshot& snapshot) {
  return std::ranges::any_of(snapshot.clients,
                             [](const ClientState& client) { return client.spills_to != kNoNode; });
}

bool is_unread_for_long(const VmState& vm) {
  return !vm.fresh && vm.epochs_stale >= kUnreadForLong;
}

bool is_kept_unread(const Snapshot& snapshot, const ClientState& client) {
  const VmState& vm = snapshot.vms[client.vm];
  return !vm.fresh && (!is_unread_for_long(vm) || client.spill_saves != CpuTime{});
}

bool policies_allow_spill(const Snapshot& snapshot, const ClientState& client) {
  const VmPolicy& policy = snapshot.vms[client.vm].policy;
  return !policy.do_not_move && client.exclusive_cores == 0 &&
         policy.cpu_binding == CpuBinding::kNode && policy.cpu_class == CpuClass::kNone &&
         policy.topology_policy == TopologyPolicy::kNone;
}

bool may_run_on(const Snapshot& snapshot, const ClientState& client, NodeIndex node) {
  if (std::ranges::binary_search(client.allowed, node)) {
    return true;
  }
  const VmState& vm = snapshot.vms[client.vm];
  const std::vector<NodeId>& nodes = vm.policy.nodes;
  const bool is_named =
      nodes.empty() || std::ranges::find(nodes, snapshot.topology.nodes[node].id) != nodes.end();
  // A VM that lives with its devices does not run elsewhere.
  const bool stays_with_devices =
      !vm.device_nodes.empty() && (vm.policy.device_locality == DeviceLocality::kStrict ||
                                   vm.policy.device_locality == DeviceLocality::kSocket);
  return is_named && !stays_with_devices && vm.policy.topology_policy == TopologyPolicy::kNone;
}

std::optional<Guard> check_spill(const Arrangement& arrangement, ClientIndex client, NodeIndex to) {
  const Snapshot& snapshot = arrangement.snapshot();
  const VmState& vm = snapshot.vms[snapshot.clients[client].vm];
  if ((!vm.fresh && !is_unread_for_long(vm)) || !vm.measured || !snapshot.nodes[to].known) {
    return Guard::kStaleData;
  }
  if (!may_spill(arrangement, client)) {
    return vm.policy.do_not_move ? Guard::kDoNotMove : Guard::kMoving;
  }
  if (!may_run_on(snapshot, snapshot.clients[client], to)) {
    return Guard::kNotAllowed;
  }
  return arrangement.forbidden_by_group(client, to, {}) || is_taken(arrangement, client, to)
             ? std::optional(Guard::kAntiAffinity)
             : std::nullopt;
}

namespace {

/// The spills of an epoch: those that continue, those that pay, and those ahead of need.
class SpillSearch {
 public:
  SpillSearch(const Arrangement& arrangement, Crowding crowding)
      : arrangement_(arrangement),
        snapshot_(arrangement.snapshot()),
        host_(arrangement),
        alone_(host_),
        crowding_(std::move(crowding)),
        spills_(snapshot_.clients.size()) {}

  std::vector<Spill> find() {
    for (ClientIndex i = 0; i < snapshot_.clients.size(); ++i) {
      if (snapshot_.clients[i].spills_to != kNoNode && snapshot_.clients[i].home != kNoNode &&
          arrangement_.home(i) == snapshot_.clients[i].home) {
        continue_or_end(i);
      }
    }
    begin_profitable_spills();
    begin_ahead_of_need();
    std::ranges::sort(found_, {}, &Spill::client);
    return std::move(found_);
  }

 private:
  void continue_or_end(ClientIndex index) {
    const ClientState& client = snapshot_.clients[index];
    const bool has_just_arrived = client.epochs_here <= 1;
    if (is_kept_unread(snapshot_, client) || client.moving || vm_is_moved(arrangement_, index) ||
        has_just_arrived || !snapshot_.nodes[client.home].known ||
        !snapshot_.nodes[client.spills_to].known) {
      take({index, client.spills_to, client.spill_saves});  // left as it is
      return;
    }
    if (check_spill(arrangement_, index, client.spills_to)) {
      return;
    }
    // A spill that was never seen to save was ahead of need, or given with the client's home: to be
    // kept because it pays, it has to be among the best now.
    if (client.spill_saves != CpuTime{}) {
      const CpuTime now = host_.saved_by(index, client.spills_to);
      // Rounded so that it reaches zero where nothing is saved any more.
      const CpuTime lately = (client.spill_saves * (10 - kNewestTenths) + now * kNewestTenths) / 10;
      if (lately > CpuTime{}) {
        take({index, client.spills_to, lately});
        return;
      }
    }
    if (is_ahead_of_need(index)) {
      take_ahead_of_need(index, client.spills_to);
    }
  }

  void begin_profitable_spills() {
    const MaySpill may = [](const Arrangement& there, ClientIndex client, NodeIndex to) {
      const Snapshot& snapshot = there.snapshot();
      return snapshot.vms[snapshot.clients[client].vm].fresh &&
             (to == kNoNode ? may_spill(there, client) : !check_spill(there, client, to));
    };
    std::vector<SpillCandidate> others = candidates(arrangement_, host_, spills_, may);
    // No more than that on a large host: a move that saves no more than spills is not made, so
    // spills in place of moves that could begin in this epoch as well would prevent these
    // altogether.
    const std::int64_t most = migrations_per_epoch(arrangement_.options(), /*homes=*/0);
    std::int64_t begun = 0;
    while (begun < most) {
      const std::optional<SpillCandidate> best = take_best(arrangement_, host_, spills_, others);
      if (!best) {
        return;
      }
      // One that saves nothing alone would end once fewer others share the second node.
      if (alone_.saved_by(best->client, best->to) <= CpuTime{} ||
          is_taken_by(arrangement_, taken_, best->client, best->to)) {
        continue;
      }
      begun += snapshot_.clients[best->client].spills_to == best->to ? 0 : 1;
      take(*best);
    }
  }

  [[nodiscard]] bool is_ahead_of_need(ClientIndex index) const {
    const ClientState& client = snapshot_.clients[index];
    return snapshot_.vms[client.vm].fresh
               ? hardly_runs(snapshot_, client) && crowding_.is_crowded(client.home)
               : is_all_in_use(arrangement_, client.home);
  }

  void begin_ahead_of_need() {
    std::int64_t begun = 0;
    for (ClientIndex i = 0; i < snapshot_.clients.size() && begun < kMostAheadOfNeed; ++i) {
      const ClientState& client = snapshot_.clients[i];
      if (spills_[i] || arrangement_.home(i) != client.home || !may_spill(arrangement_, i) ||
          !is_ahead_of_need(i)) {
        continue;
      }
      const NodeIndex second = crowding_.least_filled(client.home, [&](NodeIndex to) {
        return !check_spill(arrangement_, i, to) && !is_taken_by(arrangement_, taken_, i, to);
      });
      if (second != client.home) {
        take_ahead_of_need(i, second);
        ++begun;
      }
    }
  }

  /// The client wants so little that it does not affect the others.
  void take_ahead_of_need(ClientIndex client, NodeIndex to) { note({client, to, CpuTime{}}); }

  void take(const SpillCandidate& spill) {
    note(spill);
    host_.apply(spill.client, spill.to);
  }

  void note(const SpillCandidate& spill) {
    spills_[spill.client] = true;
    taken_.push_back({spill.client, spill.to});
    found_.push_back({snapshot_.clients[spill.client].id, spill.to, spill.saves});
    crowding_.spread(spill.client, spill.to);
  }

  const Arrangement& arrangement_;
  const Snapshot& snapshot_;
  SpilledHost host_;
  const SpilledHost alone_;  ///< without any client that spills
  Crowding crowding_;
  std::vector<bool> spills_;     ///< by client
  std::vector<Rehoming> taken_;  ///< clients and their second nodes, as in `found_`
  std::vector<Spill> found_;
};

/// The demand expected from the clients that live on the node.
CpuTime expected_load(const Arrangement& arrangement, NodeIndex node) {
  return sum_of(arrangement.residents(node),
                [&](ClientIndex client) { return arrangement.snapshot().clients[client].load; });
}

}  // namespace

std::vector<Spill> find_spills(const Arrangement& arrangement) {
  if (!can_spill(arrangement)) {
    return {};
  }
  Crowding crowding(arrangement);
  const std::vector<VmState>& vms = arrangement.snapshot().vms;
  const bool is_calm = !spills_already(arrangement.snapshot()) && !is_anything_short(arrangement) &&
                       !crowding.is_any_crowded() && std::ranges::none_of(vms, is_unread_for_long);
  return is_calm ? std::vector<Spill>{} : SpillSearch(arrangement, std::move(crowding)).find();
}

void spread_first_homes(const Arrangement& arrangement, std::span<Action> placements) {
  if (!can_spill(arrangement)) {
    return;
  }
  const Snapshot& snapshot = arrangement.snapshot();
  Crowding crowding(arrangement);
  std::vector<Rehoming> taken;
  for (Action& action : placements) {
    for (Relocation& relocation : action.relocations) {
      const ClientIndex client = index_of(snapshot, relocation.client);
      const NodeState& home = snapshot.nodes[relocation.to];
      if (!may_ever_spill(arrangement, client) ||
          expected_load(arrangement, relocation.to) + home.non_vm + home.set_aside - home.physical <
              least_saved(arrangement, relocation.to, relocation.to)) {
        continue;
      }
      const NodeIndex second = crowding.least_filled(relocation.to, [&](NodeIndex to) {
        return may_run_on(snapshot, snapshot.clients[client], to) &&
               !arrangement.forbidden_by_group(client, to, {}) &&
               !is_taken(arrangement, client, to) && !is_taken_by(arrangement, taken, client, to);
      });
      if (second != relocation.to) {
        taken.push_back({client, second});
        relocation.spills_to = second;
        crowding.spread(client, second);
      }
    }
  }
}

CpuTime owed_at_home(const Arrangement& arrangement) {
  return sum_of(arrangement.nodes(), [](const NodeLoad& node) { return node.owed(); });
}

CpuTime lost_with_present_spills(const Arrangement& arrangement) {
  const Snapshot& snapshot = arrangement.snapshot();
  if (!spills_already(snapshot)) {
    return arrangement.lost();
  }
  SpilledHost host(arrangement);
  for (ClientIndex i = 0; i < snapshot.clients.size(); ++i) {
    const ClientState& client = snapshot.clients[i];
    if (client.spills_to != kNoNode && client.home != kNoNode &&
        arrangement.home(i) == client.home) {
      host.apply(i, client.spills_to);
    }
  }
  return arrangement.lost() - owed_at_home(arrangement) + host.lost();
}

CpuTime owed_beside_spills(const Arrangement& arrangement) {
  const Snapshot& snapshot = arrangement.snapshot();
  if (!can_spill(arrangement) || !is_anything_short(arrangement)) {
    return owed_at_home(arrangement);
  }
  SpilledHost host(arrangement, SpilledHost::Others::kLasting);
  std::vector<bool> spills(snapshot.clients.size());
  const MaySpill may = [](const Arrangement& there, ClientIndex client, NodeIndex to) {
    return to == kNoNode ? may_ever_spill(there, client)
                         : may_run_on(there.snapshot(), there.snapshot().clients[client], to) &&
                               !there.forbidden_by_group(client, to, {});
  };
  std::vector<SpillCandidate> others = candidates(arrangement, host, spills, may);
  while (const std::optional<SpillCandidate> best = take_best(arrangement, host, spills, others)) {
    spills[best->client] = true;
    host.apply(best->client, best->to);
  }
  return std::max(host.lost(), CpuTime{});
}

CpuTime lost_beside_spills(const Arrangement& arrangement) {
  return arrangement.lost() - owed_at_home(arrangement) + owed_beside_spills(arrangement);
}

CpuTime gain_beside_spills(const Arrangement& arrangement, std::span<const Rehoming> changes) {
  Arrangement after = arrangement;
  after.apply(changes);
  const Effect effect = arrangement.effect_of(changes);
  return effect.gain - effect.owed + owed_beside_spills(arrangement) - owed_beside_spills(after);
}

}  // namespace vmnuma::balancer
