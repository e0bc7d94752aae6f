// SPDX-License-Identifier: Apache-2.0
/// Simulates the CPUs of a host: threads settle on nodes, run, and wait for memory.
///
/// Approach: time passes in short intervals, called whiles. Unpinned vCPUs go where the kernel's
/// load balancer puts them (sim_load_balancer.h), and other load without a node goes where CPUs are
/// idle. Every node distributes its CPU time (sim_cpus.h), first to QEMU's own threads and the
/// host. Remote memory, crowded caches (sim_caches.h) and wake-ups across nodes (sim_talks.h) cost
/// part of the time that was given. Which CPU of its node a thread runs on is simulated only if
/// some thread on the node may not use all of them.
///
/// Properties:
///  - the time a thread wanted is the sum of the times it ran and waited; the waiting time that is
///    reported also includes time in a run queue before it ran after all, as the kernel's run_delay
///    does;
///  - no VM runs longer than its limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tools/sim/host/host_state.h"
#include "tools/sim/host/sim_cpus.h"
#include "tools/sim/host/sim_load_balancer.h"

namespace vmnuma::tools {

class HostCpus {
 public:
  /// Of the other loads, this object handles those without a node; the rest belong to the nodes.
  HostCpus(const std::vector<OtherLoad>& others, std::uint64_t seed, std::size_t nodes);

  /// Applies the other loads of that epoch.
  void begin_epoch(HostState& host, std::int64_t epoch);
  void run(HostState& host, CpuTime length);

 private:
  /// A vCPU on the node on which it has settled.
  struct Thread {
    SimVm* vm;
    std::size_t vcpu;
    std::int64_t weight;  ///< at least 1
    CpuTime beside;       ///< what QEMU's own threads want at the same time
  };
  /// How long threads wait for each other in a while although all get what they want; kept because
  /// most whiles are like the one before.
  struct Queue {
    std::int32_t cpus = 0;
    CpuTime length;
    std::vector<CpuTime> wants;  ///< of all threads, and of other load
    CpuTime waited;
  };

  void settle_threads(HostState& host, CpuTime length);
  void let_others_roam(HostState& host, CpuTime length) const;
  /// By node, ordered by VM and vCPU.
  [[nodiscard]] static std::vector<std::vector<Thread>> threads_by_node(HostState& host);
  void run_node(HostState& host, NodeIndex node, CpuTime length,
                const std::vector<Thread>& threads);
  [[nodiscard]] static std::vector<Permille> crowding_on(const Node& node, CpuTime length,
                                                         const std::vector<Thread>& threads,
                                                         const NodeShares& shares);
  [[nodiscard]] const Queue& queue_on(NodeIndex node, std::int32_t cpus, CpuTime length,
                                      CpuTime others, const std::vector<ThreadDemand>& threads);

  SimLoadBalancer load_balancer_;
  std::vector<OtherLoad> roaming_loads_;
  std::int64_t roaming_pct_ = 0;  ///< in this epoch
  std::vector<Queue> queues_;     ///< by node
};

}  // namespace vmnuma::tools
