// SPDX-License-Identifier: Apache-2.0
#include "balancer/core/entitlement.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "balancer/core/spill.h"
#include "placement/capacity.h"
#include "placement/confined_shares.h"
#include "placement/fair_share.h"

namespace vmnuma::balancer {

namespace {

/// Returns the part of its CPUs' time that clients could not have in this epoch, including what
/// does not last.
CpuTime taken_now(const NodeState& node) {
  return std::max(node.non_vm, node.non_vm_now) + node.set_aside;
}

void sum_up_nodes(Snapshot& snapshot, const Options& options) {
  std::vector<CpuTime> loads(snapshot.nodes.size());
  for (NodeState& node : snapshot.nodes) {
    node.used = node.demand = node.entitled = node.owed = CpuTime{};
    node.vcpus = 0;
    node.capacity = capacity(supply_of(node, options));
  }
  for (const ClientState& client : snapshot.clients) {
    if (client.home != kNoNode) {
      NodeState& node = snapshot.nodes[client.home];
      node.used += client.used;
      node.demand += client.demand;
      node.vcpus += client.vcpu_count();
      loads[client.home] += client.load;
    }
  }
  for (NodeIndex node = 0; node < snapshot.nodes.size(); ++node) {
    NodeState& state = snapshot.nodes[node];
    state.load_average = permille_of(loads[node].value, state.capacity.value, Permille{});
  }
}

/// Returns true if clients can use the node's CPUs: it can be a home, or they may spill to it.
bool counts(const Snapshot& snapshot, NodeIndex node, const Options& options) {
  return snapshot.topology.can_be_home(node) ||
         (options.spill_enable != 0 && !snapshot.topology.nodes[node].cpus.empty());
}

/// Returns the most that any node, or any two if the client may spill, could give the client if it
/// had them for itself.
CpuTime usable(const Snapshot& snapshot, const ClientState& client, const Options& options) {
  const bool may_spill = options.spill_enable != 0 && policies_allow_spill(snapshot, client);
  CpuTime most;
  CpuTime second;
  for (NodeIndex node = 0; node < snapshot.nodes.size(); ++node) {
    const bool is_home = std::ranges::binary_search(client.allowed, node);
    if (!is_home && (!may_spill || !may_run_on(snapshot, client, node))) {
      continue;
    }
    const CpuTime given =
        service_beside_others(supply_of(snapshot.nodes[node], options), client.demand);
    second = std::max(second, std::min(most, given));
    most = std::max(most, given);
    if (most == client.demand) {
      return most;
    }
  }
  return may_spill ? std::min(most + second, client.demand) : most;
}

/// Nodes on which the VM's clients can use CPUs.
NodeSet usable_nodes(const Snapshot& snapshot, const VmState& vm, const NodeSet& all,
                     const Options& options) {
  NodeSet nodes;
  std::copy_if(all.begin(), all.end(), std::back_inserter(nodes), [&](NodeIndex node) {
    const auto can_use = [&](const ClientState& client) {
      return std::ranges::binary_search(client.allowed, node) ||
             (options.spill_enable != 0 && may_run_on(snapshot, client, node));
    };
    const auto clients = clients_of(snapshot, vm);
    return std::ranges::any_of(clients, can_use);
  });
  return nodes;
}

/// The sets of nodes to which VMs are confined.
class Confinements {
 public:
  Confinements(const Snapshot& snapshot, const Options& options)
      : snapshot_(snapshot), options_(options) {
    NodeSet all;
    for (NodeIndex node = 0; node < snapshot.nodes.size(); ++node) {
      homes_ += snapshot.topology.can_be_home(node) ? 1U : 0U;
      if (counts(snapshot, node, options)) {
        all.push_back(node);
      }
    }
    sets_.push_back(std::move(all));
  }

  /// Index of the set that the VM is confined to.
  std::size_t of(const VmState& vm) {
    if (lives_anywhere(vm)) {
      return 0;
    }
    NodeSet nodes = usable_nodes(snapshot_, vm, sets_.front(), options_);
    const auto known = std::ranges::find(sets_, nodes);
    const auto index = static_cast<std::size_t>(known - sets_.begin());
    if (known == sets_.end()) {
      sets_.push_back(std::move(nodes));
    }
    return index;
  }

  [[nodiscard]] const std::vector<NodeSet>& sets() const { return sets_; }

 private:
  /// True for most VMs, and quick to check.
  [[nodiscard]] bool lives_anywhere(const VmState& vm) const {
    const auto clients = clients_of(snapshot_, vm);
    return vm.policy.nodes.empty() && vm.device_nodes.empty() &&
           vm.policy.topology_policy == TopologyPolicy::kNone &&
           std::ranges::all_of(
               clients, [&](const ClientState& client) { return client.allowed.size() == homes_; });
  }

  const Snapshot& snapshot_;
  const Options& options_;
  std::size_t homes_ = 0;      ///< how many nodes can be a home
  std::vector<NodeSet> sets_;  ///< the first one has all nodes that count
};

void entitle(Snapshot& snapshot, const Options& options) {
  Confinements confinements(snapshot, options);
  std::vector<CpuTime> ceilings;  // per client
  ceilings.reserve(snapshot.clients.size());
  std::vector<ConfinedClaim> claims;  // per VM
  claims.reserve(snapshot.vms.size());
  for (const VmState& vm : snapshot.vms) {
    Claim claim{std::max(vm.weight, 1), CpuTime{}, CpuTime{}};
    for (const ClientState& client : clients_of(snapshot, vm)) {
      ceilings.push_back(usable(snapshot, client, options));
      claim.ceiling += ceilings.back();
      claim.floor +=
          snapshot.epoch_length * client.vcpu_count() * vm.policy.reservation_permille / 1000;
    }
    claims.push_back({claim, vm.demand, confinements.of(vm)});
  }
  std::vector<Supply> supplies;
  for (const NodeState& node : snapshot.nodes) {
    supplies.push_back(supply_of(node, options));
  }
  const std::vector<CpuTime> shares = confined_shares(supplies, confinements.sets(), claims);

  std::vector<Claim> parts;
  for (std::size_t v = 0; v < snapshot.vms.size(); ++v) {
    VmState& vm = snapshot.vms[v];
    vm.entitled = shares[v];
    parts.clear();
    for (ClientIndex i = vm.first_client; i < vm.end_client(); ++i) {
      parts.push_back({std::max(snapshot.clients[i].vcpu_count(), 1), CpuTime{}, ceilings[i]});
    }
    const std::vector<CpuTime> of_clients = fair_shares(vm.entitled, parts);
    for (std::size_t part = 0; part < parts.size(); ++part) {
      snapshot.clients[vm.first_client + part].entitled = of_clients[part];
    }
  }
}

/// Returns the time that the client was entitled to and waited for.
CpuTime waited(const ClientState& client) {
  return std::max(std::min(client.entitled, client.demand) - client.used, CpuTime{});
}

void find_owed(Snapshot& snapshot, const Options& options) {
  std::vector<CpuTime> all_waited(snapshot.nodes.size());
  for (const ClientState& client : snapshot.clients) {
    if (client.home != kNoNode) {
      all_waited[client.home] += waited(client);
    }
  }
  for (ClientState& client : snapshot.clients) {
    client.effective_used = client.used;
    client.owed = CpuTime{};
    if (client.home == kNoNode) {
      continue;
    }
    NodeState& node = snapshot.nodes[client.home];
    const CpuTime others = node.non_vm + node.set_aside;
    const CpuTime busy = std::min(node.used + others, node.threads);
    if (busy > node.physical) {
      client.effective_used =
          scaled(client.used, service(supply_of(node, options), busy).value, busy.value);
    }
    const CpuTime idle =
        std::clamp(node.threads - node.used - taken_now(node), CpuTime{}, all_waited[client.home]);
    const CpuTime excused = scaled(waited(client), idle.value, all_waited[client.home].value);
    client.owed = std::max(client.entitled - client.effective_used - excused, CpuTime{});
    node.entitled += client.entitled;
    node.owed += client.owed;
  }
}

}  // namespace

void share_out(Snapshot& snapshot, const Options& options) {
  sum_up_nodes(snapshot, options);
  entitle(snapshot, options);
  find_owed(snapshot, options);
}

}  // namespace vmnuma::balancer
