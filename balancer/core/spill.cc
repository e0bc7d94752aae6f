// SPDX-License-Identifier: Apache-2.0
#include "balancer/core/spill.h"

#include <algorithm>

#include "balancer/core/guards.h"
#include "balancer/core/shortlist.h"
#include "balancer/core/spilled_host.h"

namespace vmnuma::balancer {

using placement::Arrangement;
using placement::ClientIndex;
using placement::ClientState;
using placement::CpuTime;
using placement::Guard;
using placement::kNoNode;
using placement::NodeIndex;
using placement::Snapshot;
using placement::Spill;
using placement::VmPolicy;
using placement::VmState;

namespace {

constexpr std::size_t kClientsTried = 16;  ///< of a node that is short
constexpr std::size_t kNodesTried = 8;     ///< the calmest
/// Of the newest epoch in what a spill saved lately, in tenths: a half-life of two epochs.
constexpr std::int64_t kNewestTenths = 3;

/// One client that runs on two nodes, and what that saves in this epoch.
struct Candidate {
  ClientIndex client = placement::kNoClient;
  NodeIndex to = kNoNode;
  CpuTime saves;
};

/// Policies let the client spill from where it lives.
bool may_ever_spill(const Arrangement& arrangement, ClientIndex index) {
  const ClientState& client = arrangement.snapshot().clients[index];
  const VmPolicy& policy = arrangement.snapshot().vms[client.vm].policy;
  return arrangement.home(index) != kNoNode && !policy.do_not_move && client.exclusive_cores == 0 &&
         policy.cpu_binding == placement::CpuBinding::kNode &&
         policy.cpu_class == placement::CpuClass::kNone &&
         policy.topology_policy == placement::TopologyPolicy::kNone;
}

/// Clients can only spill where more than one node has CPUs.
bool has_second_nodes(const Snapshot& snapshot) {
  return std::count_if(snapshot.topology.nodes.begin(), snapshot.topology.nodes.end(),
                       [](const placement::Node& node) { return !node.cpus.empty(); }) > 1;
}

/// The client as it is may begin to spill or go on.
bool may_spill(const Arrangement& arrangement, ClientIndex index) {
  const ClientState& client = arrangement.snapshot().clients[index];
  const VmState& vm = arrangement.snapshot().vms[client.vm];
  return client.home != kNoNode && arrangement.snapshot().nodes[client.home].known && vm.fresh &&
         vm.measured && !client.moving && !vm_is_moved(arrangement, index) &&
         client.epochs_here > 1 && may_ever_spill(arrangement, index);
}

bool spills_already(const Snapshot& snapshot) {
  return std::any_of(snapshot.clients.begin(), snapshot.clients.end(),
                     [](const ClientState& client) { return client.spills_to != kNoNode; });
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
using MaySpill = bool (*)(const Arrangement&, ClientIndex, NodeIndex to);

std::vector<Candidate> candidates(const Arrangement& arrangement, const SpilledHost& host,
                                  const std::vector<bool>& spills, MaySpill may) {
  std::vector<Candidate> found;
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
    std::stable_sort(clients.begin(), clients.end(), [&](ClientIndex a, ClientIndex b) {
      return arrangement.load(a).demand > arrangement.load(b).demand;
    });
    for (const ClientIndex client : spread_out(clients, kClientsTried)) {
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

/// The best of them as things are by now; it is taken out. A spill leaves less to be saved by
/// others, so that what was reckoned before is an upper bound.
std::optional<Candidate> take_best(const Arrangement& arrangement, const SpilledHost& host,
                                   const std::vector<bool>& spills,
                                   std::vector<Candidate>& candidates) {
  const auto is_worse = [](const Candidate& a, const Candidate& b) { return a.saves < b.saves; };
  while (!candidates.empty()) {
    const auto best = std::max_element(candidates.begin(), candidates.end(), is_worse);
    const NodeIndex home = arrangement.home(best->client);
    const CpuTime now = spills[best->client] || host.owed_at_home(home) <= CpuTime{}
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
  if (arrangement.options().spill_enable == 0 || !has_second_nodes(snapshot)) {
    return {};
  }
  if (!is_anything_short(arrangement) && !spills_already(snapshot)) {
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
  const MaySpill may = [](const Arrangement& there, ClientIndex client, NodeIndex to) {
    return to == kNoNode ? may_spill(there, client) : !check_spill(there, client, to);
  };
  std::vector<Candidate> others = candidates(arrangement, host, spills, may);
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

CpuTime owed_at_home(const Arrangement& arrangement) {
  CpuTime owed;
  for (NodeIndex node = 0; node < arrangement.snapshot().nodes.size(); ++node) {
    owed += arrangement.node(node).owed();
  }
  return owed;
}

CpuTime lost_as_it_is(const Arrangement& arrangement) {
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
  if (arrangement.options().spill_enable == 0 || !has_second_nodes(snapshot) ||
      !is_anything_short(arrangement)) {
    return owed_at_home(arrangement);
  }
  SpilledHost host(arrangement);
  std::vector<bool> spills(snapshot.clients.size());
  const MaySpill may = [](const Arrangement& there, ClientIndex client, NodeIndex to) {
    return to == kNoNode ? may_ever_spill(there, client)
                         : may_run_on(there.snapshot(), there.snapshot().clients[client], to) &&
                               !there.forbidden_by_group(client, to, {});
  };
  std::vector<Candidate> others = candidates(arrangement, host, spills, may);
  while (const std::optional<Candidate> best = take_best(arrangement, host, spills, others)) {
    spills[best->client] = true;
    host.apply(best->client, best->to);
  }
  return std::max(host.lost(), CpuTime{});
}

CpuTime lost_beside_spills(const Arrangement& arrangement) {
  return arrangement.lost() - owed_at_home(arrangement) + owed_beside_spills(arrangement);
}

CpuTime gain_beside_spills(const Arrangement& arrangement,
                           std::span<const placement::Rehoming> changes) {
  Arrangement after = arrangement;
  after.apply(changes);
  const placement::Effect effect = arrangement.effect_of(changes);
  return effect.gain - effect.owed + owed_beside_spills(arrangement) - owed_beside_spills(after);
}

}  // namespace vmnuma::balancer
