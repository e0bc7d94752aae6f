// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/host/sim_load_balancer.h"

#include <algorithm>

namespace vmnuma::tools {

namespace {

// Linux 6.1: kernel/sched/topology.c, sd_init
constexpr std::int64_t kBusyFactor = 16;
constexpr std::int64_t kBusiestPct = 117;
constexpr std::int64_t kLooksFromPreferred = 4;  // cache_nice_tries = 2 of SD_NUMA, and two more
// kernel/sched/fair.c
constexpr std::int64_t kImbalanceMin = 2;  // NUMA_IMBALANCE_MIN
constexpr int kMostMoves = 32;             // SCHED_NR_MIGRATE_BREAK
// kernel/sched/topology.c, build_sched_domains: imb_numa_nr with one last-level cache per node
constexpr std::int64_t kLightPart = 8;

bool may_run_on(const FloatingThread& thread, NodeIndex node) {
  return std::ranges::find(thread.nodes, node) != thread.nodes.end();
}

}  // namespace

struct SimLoadBalancer::Host {
  CpuTime length;
  const Topology& topology;
  std::vector<CpuTime> busy;
  std::vector<FloatingThread>& threads;

  [[nodiscard]] CpuTime idle(NodeIndex node) const {
    return length * topology.nodes[node].cpu_count() - busy[node];
  }
  /// Returns the load as a share of the node's CPUs, in thousandths.
  [[nodiscard]] std::int64_t load(NodeIndex node, CpuTime more) const {
    const std::int64_t all = length.value * topology.nodes[node].cpu_count();
    return (busy[node] + more).value * 1000 / std::max<std::int64_t>(all, 1);
  }
  /// Returns the number of CPUs of the smallest domain that contains both nodes.
  [[nodiscard]] std::int64_t domain_weight(NodeIndex node, NodeIndex other) const {
    const std::int32_t distance = topology.distance(node, other);
    std::int64_t cpus = 0;
    for (NodeIndex one = 0; one < topology.nodes.size(); ++one) {
      const bool is_within = one == node || topology.distance(node, one) <= distance;
      cpus += is_within ? topology.nodes[one].cpu_count() : 0;
    }
    return cpus;
  }
  /// Returns a thread's expected demand; one that is idle now will want something later.
  [[nodiscard]] CpuTime need(const FloatingThread& thread) const {
    return std::max(thread.wants, length / 100);
  }
  void move(FloatingThread& thread, NodeIndex to) {
    if (thread.node != kNoNode) {
      busy[thread.node] -= thread.wants;
    }
    busy[to] += thread.wants;
    thread.node = to;
    thread.waited = CpuTime{};
  }
};

void SimLoadBalancer::pass(CpuTime length, const Topology& topology, std::vector<CpuTime> busy,
                           std::vector<FloatingThread>& threads) {
  Host host{length, topology, std::move(busy), threads};
  start(host);
  prefer(host);
  pull(host);
  even_out_idle(host);
  even_out_busy(host);
}

void SimLoadBalancer::start(Host& host) {
  for (FloatingThread& thread : host.threads) {
    if (thread.node == kNoNode) {
      host.move(thread, *std::ranges::min_element(thread.nodes, {}, [&](NodeIndex node) {
                  return host.load(node, host.need(thread));
                }));
      // A new thread counts with its expected demand, so that threads that start together spread.
      host.busy[thread.node] += host.need(thread) - thread.wants;
    }
  }
}

void SimLoadBalancer::prefer(Host& host) {
  for (FloatingThread& thread : host.threads) {
    const NodeIndex to = thread.prefers;
    if (to == kNoNode || to == thread.node || !may_run_on(thread, to)) {
      continue;
    }
    if (host.idle(to) >= host.need(thread)) {
      host.move(thread, to);
      continue;
    }
    const auto other = std::ranges::find_if(host.threads, [&](const FloatingThread& candidate) {
      return candidate.node == to && candidate.prefers != to &&
             may_run_on(candidate, thread.node) &&
             (candidate.prefers == thread.node || host.idle(to) + candidate.wants >= thread.wants);
    });
    if (other != host.threads.end()) {
      host.move(*other, thread.node);
      host.move(thread, to);
    }
  }
}

void SimLoadBalancer::pull(Host& host) {
  constexpr std::int64_t kMs = 1000;
  std::vector<bool> pulled_from(host.busy.size());
  for (FloatingThread& thread : host.threads) {
    const NodeIndex from = thread.node;
    const bool too_many = host.idle(from) < CpuTime{};
    if (!too_many && pulled_from[from]) {
      continue;
    }
    const std::int64_t looks = thread.prefers == from ? kLooksFromPreferred : 1;
    std::vector<NodeIndex> nearest;
    for (const NodeIndex to : thread.nodes) {
      if (to == from || host.idle(to) < host.need(thread) ||
          thread.waited.value < host.domain_weight(from, to) * looks * kMs) {
        continue;
      }
      const std::int32_t nearer =
          nearest.empty()
              ? 0
              : host.topology.distance(from, to) - host.topology.distance(from, nearest.front());
      if (nearer < 0) {
        nearest.clear();
      }
      if (nearer <= 0) {
        nearest.push_back(to);
      }
    }
    if (!nearest.empty()) {
      host.move(thread, nearest[random_.index(nearest.size())]);
      pulled_from[from] = true;
    }
  }
}

void SimLoadBalancer::even_out_idle(Host& host) {
  int moves = 0;
  for (FloatingThread& thread : host.threads) {
    const NodeIndex from = thread.node;
    if (thread.wants <= CpuTime{} || thread.prefers == from || moves == kMostMoves) {
      continue;
    }
    const NodeIndex to = *std::ranges::max_element(thread.nodes, {},
                                                   [&](NodeIndex node) { return host.idle(node); });
    const std::int64_t cpus = host.topology.nodes[to].cpu_count();
    const CpuTime half = (host.idle(to) - std::max(host.idle(from), CpuTime{})) / 2;
    const bool is_light =
        (host.busy[to] + thread.wants) / std::max<std::int64_t>(cpus / kLightPart, 1) <=
        host.length;
    if (to != from && half >= host.length * (is_light ? kImbalanceMin + 1 : 1)) {
      host.move(thread, to);
      ++moves;
    }
  }
}

void SimLoadBalancer::even_out_busy(Host& host) {
  std::int64_t cpus = 0;
  for (const Node& node : host.topology.nodes) {
    cpus += node.cpu_count();
  }
  constexpr std::int64_t kMs = 1000;
  since_busy_look_us_ += host.length.value;
  if (since_busy_look_us_ < cpus * kBusyFactor * kMs) {
    return;
  }
  since_busy_look_us_ = 0;
  int moves = 0;
  for (FloatingThread& thread : host.threads) {
    const NodeIndex from = thread.node;
    if (thread.wants <= CpuTime{} || host.idle(from) >= CpuTime{} || moves == kMostMoves) {
      continue;
    }
    const NodeIndex to = *std::ranges::min_element(
        thread.nodes, {}, [&](NodeIndex node) { return host.load(node, thread.wants); });
    if (to != from &&
        host.load(from, CpuTime{}) * 100 > host.load(to, thread.wants) * kBusiestPct) {
      host.move(thread, to);
      ++moves;
    }
  }
}

}  // namespace vmnuma::tools
