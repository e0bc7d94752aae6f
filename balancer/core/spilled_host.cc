// SPDX-License-Identifier: Apache-2.0
#include "balancer/core/spilled_host.h"

#include <algorithm>

#include "placement/memory_cost.h"

namespace vmnuma::balancer {

namespace {

/// CFS moves nothing between busy CPUs that differ by less: sd_init() in kernel/sched/topology.c
/// (Linux 6.1).
constexpr std::int64_t kImbalancePct = 117;

/// A client's load on its two nodes.
struct Halves {
  Load home;
  Load second;
};

/// Splits a load: `second_demand` of its demand goes to the second node, and everything else in
/// proportion.
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

/// Returns the memory that all clients of a VM share, with the part of each at its home.
MemoryProfile shared_memory(const Arrangement& arrangement, const VmState& vm) {
  MemoryProfile memory;
  const std::int64_t vcpus = vcpus_of(arrangement.snapshot(), vm);
  for (ClientIndex i = vm.first_client; i < vm.end_client(); ++i) {
    if (const NodeIndex home = arrangement.home(i); home != kNoNode) {
      const std::int64_t its_own = arrangement.snapshot().clients[i].vcpu_count();
      memory.parts.push_back({home, {}, permille_of(its_own, vcpus, Permille{})});
    }
  }
  return memory;
}

}  // namespace

SpilledHost::SpilledHost(const Arrangement& arrangement, Others others)
    : arrangement_(arrangement) {
  const Snapshot& snapshot = arrangement.snapshot();
  nodes_.reserve(snapshot.nodes.size());
  for (NodeIndex node = 0; node < snapshot.nodes.size(); ++node) {
    const NodeState& state = snapshot.nodes[node];
    Supply supply = arrangement.node(node).supply();
    supply.non_vm =
        (others == Others::kNow ? std::max(state.non_vm, state.non_vm_now) : state.non_vm) +
        state.set_aside;
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

CpuTime SpilledHost::saved_by(ClientIndex client, NodeIndex to) const {
  const Load& load = arrangement_.load(client);
  const NodeIndex home = arrangement_.home(client);
  const CpuTime away = goes_away(load, home, to);
  if (away <= CpuTime{}) {
    return CpuTime{};
  }
  const Halves halves = split(load, away);
  const CpuTime before = nodes_[home].owed() + nodes_[to].owed();
  const CpuTime after = nodes_[home].owed({.out = {load}, .in = {halves.home}}) +
                        nodes_[to].owed({.in = {halves.second}});
  return before - after - lost_to_distance(client, to, halves.second);
}

void SpilledHost::apply(ClientIndex client, NodeIndex to) {
  const Load& load = arrangement_.load(client);
  const NodeIndex home = arrangement_.home(client);
  const CpuTime away = goes_away(load, home, to);
  if (away > CpuTime{}) {
    const Halves halves = split(load, away);
    nodes_[home].apply({.out = {load}, .in = {halves.home}});
    nodes_[to].apply({.in = {halves.second}});
    lost_to_distance_ += lost_to_distance(client, to, halves.second);
  }
}

CpuTime SpilledHost::lost() const {
  return lost_to_distance_ + sum_of(nodes_, [](const NodeLoad& node) { return node.owed(); });
}

std::vector<NodeIndex> SpilledHost::calmest() const {
  std::vector<NodeIndex> nodes;
  for (NodeIndex node = 0; node < nodes_.size(); ++node) {
    if (arrangement_.snapshot().nodes[node].known && threads(node) > CpuTime{}) {
      nodes.push_back(node);
    }
  }
  std::ranges::stable_sort(nodes, [&](NodeIndex a, NodeIndex b) { return filled(a) < filled(b); });
  return nodes;
}

/// Threads left for clients.
CpuTime SpilledHost::threads(NodeIndex node) const {
  return threads_left(nodes_[node].supply());
}

Permille SpilledHost::filled(NodeIndex node) const {
  return permille_of(nodes_[node].demand().value, threads(node).value, Permille{1'000'000});
}

/// Returns the part of its demand that CFS moves: at most enough to make both nodes equally full,
/// first onto CPUs that are idle there; onto busy ones only as long as the node it leaves is much
/// busier.
CpuTime SpilledHost::goes_away(const Load& load, NodeIndex home, NodeIndex to) const {
  const CpuTime here = threads(home);
  const CpuTime there = threads(to);
  if (there <= CpuTime{} || load.demand <= CpuTime{}) {
    return CpuTime{};
  }
  const CpuTime all = nodes_[home].demand() + nodes_[to].demand();
  const CpuTime even = nodes_[home].demand() - scaled(all, here.value, (here + there).value);
  const CpuTime idle = there - nodes_[to].demand();
  const CpuTime moved = std::min(even, std::max(idle, moves_while_busier(home, to)));
  return std::clamp(moved, CpuTime{}, load.demand);
}

/// Returns the demand that leaves a node until its CPUs are busier than the other's by no more than
/// kImbalancePct.
CpuTime SpilledHost::moves_while_busier(NodeIndex home, NodeIndex to) const {
  const Supply& here = nodes_[home].supply();
  const Supply& there = nodes_[to].supply();
  const CpuTime busy_here = nodes_[home].demand() + here.non_vm;
  const CpuTime busy_there = nodes_[to].demand() + there.non_vm;
  // (busy_here - x) / threads_here = pct / 100 * (busy_there + x) / threads_there
  const std::int64_t weight_here = there.threads.value * 100;
  const std::int64_t weight_there = here.threads.value * kImbalancePct;
  return scaled(busy_here, weight_here, weight_here + weight_there) -
         scaled(busy_there, weight_there, weight_here + weight_there);
}

/// Returns how much more than at home the client loses to remote memory if `there`, a part of its
/// load, runs on that node. Only time that it is entitled to counts, as in what it is owed:
/// anything it runs beyond that is a gain, however slow.
CpuTime SpilledHost::lost_to_distance(ClientIndex client, NodeIndex to, const Load& there) const {
  const Snapshot& snapshot = arrangement_.snapshot();
  const ClientState& state = snapshot.clients[client];
  const NodeIndex home = arrangement_.home(client);
  const auto lost_with = [&](const MemoryProfile& memory) {
    const CpuTime if_all = present_loss(snapshot, state, memory, to, arrangement_.options()) -
                           present_loss(snapshot, state, memory, home, arrangement_.options());
    return scaled(if_all, std::min(there.demand, there.entitled).value,
                  arrangement_.load(client).demand.value);
  };
  if (arrangement_.has_siblings(client)) {
    MemoryProfile memory = shared_memory(arrangement_, snapshot.vms[state.vm]);
    memory.demand = arrangement_.load(client).demand;
    return lost_with(memory);
  }
  const MemoryProfile& memory = arrangement_.memory(client);
  const bool followed = home != state.home && memory.can_follow;
  if (!followed && !memory.parts.empty()) {
    return lost_with(memory);
  }
  // Memory that was not read is assumed to be at home.
  MemoryProfile at_home = memory;
  at_home.resident = std::max(memory.resident, kGiB);
  at_home.parts.assign(1, {home, at_home.resident, Permille{1000}});
  return lost_with(at_home);
}

}  // namespace vmnuma::balancer
