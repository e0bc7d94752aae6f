// SPDX-License-Identifier: Apache-2.0
#include "balancer/core/node_usage.h"

#include <algorithm>
#include <map>
#include <utility>

#include "placement/base/sorted.h"

namespace vmnuma::balancer {

namespace {

CpuTime copied_between(const Sample* before, const Sample& now, NodeId node) {
  const NodeSample* last = find_sorted(now.nodes, node, &NodeSample::id);
  const NodeSample* first =
      before == nullptr ? last : find_sorted(before->nodes, node, &NodeSample::id);
  return last != nullptr && first != nullptr
             ? std::max(CpuTime{last->copying_us - first->copying_us}, CpuTime{})
             : CpuTime{};
}

}  // namespace

std::vector<NodeBusy> busy_between(const Topology& topology, const Sample* before,
                                   const Sample& now, CpuTime epoch) {
  std::vector<NodeBusy> nodes(topology.nodes.size());
  for (NodeIndex node = 0; node < nodes.size(); ++node) {
    nodes[node].threads = epoch * topology.nodes[node].cpu_count();
    for (const Cpu& cpu : topology.nodes[node].cpus) {
      const CpuSample* last = find_sorted(now.cpus, cpu.id, &CpuSample::id);
      const CpuSample* first =
          before == nullptr ? last : find_sorted(before->cpus, cpu.id, &CpuSample::id);
      if (last == nullptr || first == nullptr || last->busy_us < first->busy_us) {
        nodes[node].known = false;
      } else {
        nodes[node].busy += std::min(CpuTime{last->busy_us - first->busy_us}, epoch);
      }
    }
    nodes[node].copying =
        std::min(copied_between(before, now, topology.nodes[node].id), nodes[node].busy);
  }
  return nodes;
}

namespace {

using Times = std::vector<CpuTime>;

constexpr std::int64_t kForgotten = 32;  ///< 1 / kForgotten per epoch

/// Returns the non-VM load that is expected on each node.
Times expected_of_others(const std::vector<NodeBusy>& nodes, const Times& before) {
  Times expected(nodes.size());
  CpuTime all;
  CpuTime threads;
  for (NodeIndex node = 0; node < before.size(); ++node) {
    all += before[node];
    threads += nodes[node].threads;
  }
  for (NodeIndex node = 0; node < before.size(); ++node) {
    const CpuTime even = scaled(all, nodes[node].threads.value, threads.value);
    expected[node] = before[node] + (even - before[node]) / kForgotten;
  }
  return expected;
}

/// Takes `amount` from `left` of these nodes, in proportion to `parts` and at most these, and
/// returns the excess.
CpuTime take_away(CpuTime amount, const std::vector<NodeIndex>& nodes, const Times& parts,
                  Times& left) {
  const CpuTime all = sum_of(nodes, [&](NodeIndex node) { return parts[node]; });
  const CpuTime taken = std::min(amount, all);
  for (const NodeIndex node : nodes) {
    left[node] = std::max(left[node] - scaled(taken, parts[node].value, all.value), CpuTime{});
  }
  return amount - taken;
}

/// Subtracts what a client ran where it was seen, and returns what must have run elsewhere.
CpuTime take_where_seen(const ClientUse& use, Times& left) {
  const CpuTime all = sum_of(use.seen);
  CpuTime rest = use.used;
  for (std::size_t i = 0; i < use.seen.size(); ++i) {
    CpuTime& there = left[use.nodes[i]];
    const CpuTime taken = std::min(scaled(use.used, use.seen[i].value, all.value), there);
    there -= taken;
    rest -= taken;
  }
  return rest;
}

/// Subtracts what clients that may have run on these nodes ran there.
void take_use(CpuTime used, const std::vector<NodeIndex>& nodes, const Times& expected,
              Times& left) {
  Times more(left.size());
  for (const NodeIndex node : nodes) {
    more[node] = std::max(left[node] - expected[node], CpuTime{});
  }
  const CpuTime rest = take_away(used, nodes, more, left);
  (void)take_away(rest, nodes, Times(left), left);
}

}  // namespace

std::vector<CpuTime> non_vm_time(const std::vector<NodeBusy>& nodes, const Times& bound,
                                 const std::vector<ClientUse>& unbound, const Times& before) {
  Times left;
  std::vector<NodeIndex> everywhere;
  for (NodeIndex node = 0; node < nodes.size(); ++node) {
    left.push_back(std::max(nodes[node].busy - bound[node], CpuTime{}));
    everywhere.push_back(node);
  }
  const Times expected = expected_of_others(nodes, before.empty() ? Times(nodes.size()) : before);
  std::map<std::vector<NodeIndex>, CpuTime> by_nodes;
  for (const ClientUse& use : unbound) {
    by_nodes[use.nodes.empty() ? everywhere : use.nodes] += take_where_seen(use, left);
  }
  // Those with the fewest nodes first: what they leave is for clients that may have run elsewhere
  // as well.
  std::vector<std::pair<std::vector<NodeIndex>, CpuTime>> uses(by_nodes.begin(), by_nodes.end());
  std::ranges::stable_sort(
      uses, [](const auto& a, const auto& b) { return a.first.size() < b.first.size(); });
  for (const auto& [where, used] : uses) {
    take_use(used, where, expected, left);
  }
  return left;
}

}  // namespace vmnuma::balancer
