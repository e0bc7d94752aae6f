// SPDX-License-Identifier: Apache-2.0
#include "balancer/core/node_measurement.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "balancer/core/averages.h"
#include "balancer/core/node_usage.h"
#include "balancer/core/ran_on.h"
#include "placement/base/sorted.h"
#include "placement/memory_cost.h"

namespace vmnuma::balancer {

namespace {

/// Returns where the client may have run in the last epoch, empty for anywhere: its pins determine
/// this only if they were in force all epoch. A second node comes and goes within an epoch, in
/// addition to the home.
std::vector<NodeIndex> may_have_run_on(const Topology& topology, const ClientRecord& client) {
  const std::optional<NodeIndex> home = topology.index_of(client.home);
  if (!home || client.epochs_here <= 1) {
    return {};
  }
  if (client.pinned_to == client.home) {
    return {*home};
  }
  std::vector<NodeIndex> nodes = topology.indices_of(client.pinned_to_two);
  const bool is_beside_home = std::ranges::find(nodes, *home) != nodes.end();
  return is_beside_home ? nodes : std::vector<NodeIndex>{};
}

/// Returns how it recently shared its time between these nodes, or nothing.
std::vector<CpuTime> seen_on(const Topology& topology, const ClientRecord& client,
                             const std::vector<NodeIndex>& nodes) {
  std::vector<CpuTime> seen(client.ran_on.empty() ? 0 : nodes.size());
  for (std::size_t i = 0; i < seen.size(); ++i) {
    seen[i] = ran_lately_on(client, topology.nodes[nodes[i]].id);
  }
  return seen;
}

/// Returns, per node, the busy time that no client used, including the daemon's copying.
std::vector<CpuTime> others_on_nodes(const std::map<VmId, VmRecord>& vms,
                                     const EpochReading& reading, const std::vector<NodeBusy>& busy,
                                     const NodeAverages& averages, const Snapshot& snapshot) {
  std::vector<CpuTime> bound(reading.topology.nodes.size());
  std::vector<ClientUse> unbound;
  for (const ClientState& client : snapshot.clients) {
    const ClientRecord& record =
        vms.at(client.id.vm).clients[static_cast<std::size_t>(client.id.index)];
    std::vector<NodeIndex> nodes = may_have_run_on(reading.topology, record);
    if (nodes.size() == 1) {
      bound[nodes.front()] += client.used;
    } else {
      std::vector<CpuTime> seen = seen_on(reading.topology, record, nodes);
      unbound.push_back({std::move(nodes), client.used, std::move(seen)});
    }
  }
  std::vector<CpuTime> before;
  for (const CpuTime rate : averages.newest_non_vm) {
    before.push_back(in_epoch(rate, snapshot.epoch_length));
  }
  return non_vm_time(busy, bound, unbound, before);
}

/// Returns, per node, the idle time of cores that belong to one client alone.
std::vector<CpuTime> set_aside_on_nodes(const Snapshot& snapshot) {
  std::vector<CpuTime> set_aside(snapshot.nodes.size());
  for (const ClientState& client : snapshot.clients) {
    if (client.home != kNoNode && client.exclusive_cores > 0) {
      set_aside[client.home] +=
          std::max(snapshot.epoch_length * client.exclusive_cores - client.used, CpuTime{});
    }
  }
  return set_aside;
}

void read_memory(NodeId node, const EpochReading& reading, NodeState& state) {
  const NodeSample* found = find_sorted(reading.now.nodes, node, &NodeSample::id);
  state.memory_read = found != nullptr;
  if (state.memory_read) {
    state.free = found->free;
    state.total = found->total;
    state.reserved = std::min(reserved_of(node, Bytes{}, reading.reserved), found->total);
    state.reserve = std::max(found->total * reading.options.node_reserve_pct / 100, state.reserved);
  }
}

}  // namespace

void measure_nodes(const std::map<VmId, VmRecord>& vms, const EpochReading& reading,
                   NodeAverages& averages, Snapshot& snapshot) {
  const CpuTime epoch = snapshot.epoch_length;
  const std::vector<Node>& nodes = reading.topology.nodes;
  const std::vector<NodeBusy> busy =
      busy_between(reading.topology, reading.before, reading.now, epoch);
  std::vector<CpuTime> non_vm = others_on_nodes(vms, reading, busy, averages, snapshot);
  averages.lasting_non_vm.resize(nodes.size());
  averages.newest_non_vm.resize(nodes.size());
  snapshot.nodes.assign(nodes.size(), NodeState{});
  const std::vector<CpuTime> set_aside = set_aside_on_nodes(snapshot);
  for (NodeIndex node = 0; node < nodes.size(); ++node) {
    NodeState& state = snapshot.nodes[node];
    state.physical = epoch * nodes[node].core_count();
    state.threads = epoch * nodes[node].cpu_count();
    read_memory(nodes[node].id, reading, state);
    state.known = state.memory_read && busy[node].known;
    state.cpu_measured = reading.before != nullptr && busy[node].known;
    CpuTime& lasting = averages.lasting_non_vm[node];
    if (!busy[node].known) {
      non_vm[node] = in_epoch(lasting, epoch);  // held
    }
    averages.newest_non_vm[node] = per_second(non_vm[node], epoch);
    // The daemon's own copying does not count: it ends, and if CPUs are idle anywhere the kernel
    // runs it on these. Nor is a burst of other load a basis for planning: load counts only to the
    // extent that it lasts and is present now.
    const CpuTime copying = busy[node].known ? busy[node].copying : CpuTime{};
    const CpuTime others = std::max(non_vm[node] - copying, CpuTime{});
    state.non_vm_now = std::min(others, state.threads);
    lasting = averaged(lasting, per_second(others, epoch), epoch, recently(reading.options));
    state.non_vm = std::min({others, in_epoch(lasting, epoch), state.threads});
    state.set_aside = std::min(set_aside[node], state.threads - state.non_vm);
  }
}

void average_shortages(const Options& options, NodeAverages& averages, Snapshot& snapshot) {
  const CpuTime epoch = snapshot.epoch_length;
  averages.short_lately.resize(snapshot.nodes.size());
  for (NodeIndex node = 0; node < snapshot.nodes.size(); ++node) {
    NodeState& state = snapshot.nodes[node];
    const CpuTime now = std::max(state.demand - state.capacity, CpuTime{});
    averages.short_lately[node] =
        averaged(averages.short_lately[node], per_second(now, epoch), epoch, recently(options));
    state.short_lately = in_epoch(averages.short_lately[node], epoch);
  }
}

}  // namespace vmnuma::balancer
