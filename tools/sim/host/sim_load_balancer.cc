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

constexpr std::int64_t kMs = 1000;

bool may_run_on(const FloatingThread& thread, NodeIndex node) {
  return std::ranges::find(thread.nodes, node) != thread.nodes.end();
}

/// The host in one while; each function is one of the kernel's ways to move threads.
struct While {
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

  void start() {
    for (FloatingThread& thread : threads) {
      if (thread.node == kNoNode) {
        move(thread, *std::ranges::min_element(thread.nodes, {}, [&](NodeIndex node) {
               return load(node, need(thread));
             }));
        // A new thread counts with its expected demand, so that threads that start together spread.
        busy[thread.node] += need(thread) - thread.wants;
      }
    }
  }

  void prefer() {
    for (FloatingThread& thread : threads) {
      const NodeIndex to = thread.prefers;
      if (to == kNoNode || to == thread.node || !may_run_on(thread, to)) {
        continue;
      }
      if (idle(to) >= need(thread)) {
        move(thread, to);
        continue;
      }
      const auto other = std::ranges::find_if(threads, [&](const FloatingThread& candidate) {
        return candidate.node == to && candidate.prefers != to &&
               may_run_on(candidate, thread.node) &&
               (candidate.prefers == thread.node || idle(to) + candidate.wants >= thread.wants);
      });
      if (other != threads.end()) {
        move(*other, thread.node);
        move(thread, to);
      }
    }
  }

  void pull(Random& random) {
    std::vector<bool> pulled_from(busy.size());
    for (FloatingThread& thread : threads) {
      const NodeIndex from = thread.node;
      const bool too_many = idle(from) < CpuTime{};
      if (!too_many && pulled_from[from]) {
        continue;
      }
      const std::int64_t looks = thread.prefers == from ? kLooksFromPreferred : 1;
      std::vector<NodeIndex> nearest;
      for (const NodeIndex to : thread.nodes) {
        if (to == from || idle(to) < need(thread) ||
            thread.waited.value < domain_weight(from, to) * looks * kMs) {
          continue;
        }
        const std::int32_t nearer = nearest.empty() ? 0
                                                    : topology.distance(from, to) -
                                                          topology.distance(from, nearest.front());
        if (nearer < 0) {
          nearest.clear();
        }
        if (nearer <= 0) {
          nearest.push_back(to);
        }
      }
      if (!nearest.empty()) {
        move(thread, nearest[random.index(nearest.size())]);
        pulled_from[from] = true;
      }
    }
  }

  void even_out_idle() {
    int moves = 0;
    for (FloatingThread& thread : threads) {
      const NodeIndex from = thread.node;
      if (thread.wants <= CpuTime{} || thread.prefers == from || moves == kMostMoves) {
        continue;
      }
      const NodeIndex to =
          *std::ranges::max_element(thread.nodes, {}, [&](NodeIndex node) { return idle(node); });
      const std::int64_t cpus = topology.nodes[to].cpu_count();
      const CpuTime half = (idle(to) - std::max(idle(from), CpuTime{})) / 2;
      const bool is_light =
          (busy[to] + thread.wants) / std::max<std::int64_t>(cpus / kLightPart, 1) <= length;
      if (to != from && half >= length * (is_light ? kImbalanceMin + 1 : 1)) {
        move(thread, to);
        ++moves;
      }
    }
  }

  void even_out_busy() {
    int moves = 0;
    for (FloatingThread& thread : threads) {
      const NodeIndex from = thread.node;
      if (thread.wants <= CpuTime{} || idle(from) >= CpuTime{} || moves == kMostMoves) {
        continue;
      }
      const NodeIndex to = *std::ranges::min_element(
          thread.nodes, {}, [&](NodeIndex node) { return load(node, thread.wants); });
      if (to != from && load(from, CpuTime{}) * 100 > load(to, thread.wants) * kBusiestPct) {
        move(thread, to);
        ++moves;
      }
    }
  }
};

}  // namespace

void SimLoadBalancer::pass(CpuTime length, const Topology& topology, std::vector<CpuTime> busy,
                           std::vector<FloatingThread>& threads) {
  While host{length, topology, std::move(busy), threads};
  host.start();
  host.prefer();
  host.pull(random_);
  host.even_out_idle();
  std::int64_t cpus = 0;
  for (const Node& node : topology.nodes) {
    cpus += node.cpu_count();
  }
  since_busy_look_us_ += length.value;
  if (since_busy_look_us_ >= cpus * kBusyFactor * kMs) {
    since_busy_look_us_ = 0;
    host.even_out_busy();
  }
}

}  // namespace vmnuma::tools
