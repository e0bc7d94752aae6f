// SPDX-License-Identifier: Apache-2.0
#include "balancer/core/entitlement.h"

#include <algorithm>

#include "balancer/core/spill.h"
#include "placement/capacity.h"
#include "placement/fair_share.h"

namespace vmnuma::balancer {

using placement::Claim;
using placement::ClientIndex;
using placement::ClientState;
using placement::CpuTime;
using placement::kNoNode;
using placement::NodeIndex;
using placement::NodeState;
using placement::Options;
using placement::Permille;
using placement::Snapshot;
using placement::Supply;
using placement::VmState;

namespace {

Supply supply_of(const NodeState& node, const Options& options) {
  return {node.physical, node.threads, node.non_vm + node.set_aside, options.smt_gain_pct};
}

/// Of its CPUs' time, what clients could not have in this epoch, also by what does not last.
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

/// Clients can use its CPUs: it can be a home, or they may spill to it.
bool counts(const Snapshot& snapshot, NodeIndex node, const Options& options) {
  return snapshot.topology.can_be_home(node) ||
         (options.spill_enable != 0 && !snapshot.topology.nodes[node].cpus.empty());
}

/// The most that any node, or any two where clients may spill, could give the client if it had them
/// for itself.
CpuTime usable(const Snapshot& snapshot, const ClientState& client, const Options& options) {
  CpuTime most;
  CpuTime second;
  for (NodeIndex node = 0; node < snapshot.nodes.size(); ++node) {
    const bool is_home = std::binary_search(client.allowed.begin(), client.allowed.end(), node);
    if (!is_home && (options.spill_enable == 0 || !may_run_on(snapshot, client, node))) {
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
  return options.spill_enable != 0 ? std::min(most + second, client.demand) : most;
}

/// What the nodes whose CPUs clients can use could give for this demand if it were spread
/// perfectly.
CpuTime supply_of_host(const Snapshot& snapshot, const Options& options, CpuTime demand) {
  Supply host{{}, {}, {}, options.smt_gain_pct};
  for (NodeIndex node = 0; node < snapshot.nodes.size(); ++node) {
    if (counts(snapshot, node, options)) {
      host.cores += snapshot.nodes[node].physical;
      host.threads += snapshot.nodes[node].threads;
      host.non_vm += snapshot.nodes[node].non_vm + snapshot.nodes[node].set_aside;
    }
  }
  return service_beside_others(host, demand);
}

void entitle(Snapshot& snapshot, const Options& options) {
  CpuTime demand;
  std::vector<CpuTime> ceilings;  // per client
  ceilings.reserve(snapshot.clients.size());
  std::vector<Claim> claims;  // per VM
  claims.reserve(snapshot.vms.size());
  for (const VmState& vm : snapshot.vms) {
    Claim claim{std::max(vm.weight, 1), CpuTime{}, CpuTime{}};
    for (ClientIndex i = vm.first_client; i < vm.first_client + vm.client_count; ++i) {
      const ClientState& client = snapshot.clients[i];
      ceilings.push_back(usable(snapshot, client, options));
      claim.ceiling += ceilings.back();
      claim.floor +=
          snapshot.epoch_length * client.vcpu_count() * vm.policy.reservation_permille / 1000;
    }
    claims.push_back(claim);
    demand += vm.demand;
  }
  const std::vector<CpuTime> shares =
      placement::fair_shares(supply_of_host(snapshot, options, demand), claims);

  std::vector<Claim> parts;
  for (std::size_t v = 0; v < snapshot.vms.size(); ++v) {
    VmState& vm = snapshot.vms[v];
    vm.entitled = shares[v];
    parts.clear();
    for (ClientIndex i = vm.first_client; i < vm.first_client + vm.client_count; ++i) {
      parts.push_back({std::max(snapshot.clients[i].vcpu_count(), 1), CpuTime{}, ceilings[i]});
    }
    const std::vector<CpuTime> of_clients = placement::fair_shares(vm.entitled, parts);
    for (std::size_t part = 0; part < parts.size(); ++part) {
      snapshot.clients[vm.first_client + part].entitled = of_clients[part];
    }
  }
}

/// What the client was entitled to and waited for.
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
