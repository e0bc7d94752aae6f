// SPDX-License-Identifier: Apache-2.0
/// What the CPUs of a simulated host do: threads settle on nodes, run, and wait for memory.
///
/// Approach: a while at a time. vCPUs that are pinned nowhere go where the kernel's load balancer
/// has them (sim_load_balancer.h), others' load without a node goes where CPUs are idle, every node
/// shares out its CPUs (sim_cpus.h), QEMU's own threads and what the host does first; remote
/// memory, crowded caches (sim_caches.h) and wake-ups from node to node (sim_talks.h) cost part of
/// the time that was given. Which CPU within a node a thread runs on is simulated only on nodes
/// where some thread may not run on all of them.
///
/// Properties:
///  - time a thread wanted is time it ran or waited; what is told as waiting is also what it queued
///    for a while and then ran after all, as in the kernel's run_delay;
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
  /// Of all others' loads those without a node are this object's, the others the nodes' own.
  HostCpus(const std::vector<OtherLoad>& others, std::uint64_t seed, std::size_t nodes);

  /// Takes over the others' loads of that epoch.
  void begin_epoch(HostState& host, std::int64_t epoch);
  void run(HostState& host, placement::CpuTime length);

 private:
  /// A vCPU on the node that it has settled on.
  struct Thread {
    SimVm* vm;
    std::size_t vcpu;
    std::int64_t weight;        ///< at least 1
    placement::CpuTime beside;  ///< what QEMU's own threads want while it runs
  };
  /// What a while came to; most whiles are like the one before.
  struct Queue {
    std::int32_t cpus = 0;
    placement::CpuTime length;
    std::vector<placement::CpuTime> wants;
    placement::CpuTime waited;
  };

  void settle_threads(HostState& host, placement::CpuTime length);
  void let_others_roam(HostState& host, placement::CpuTime length) const;
  /// By node, ordered by VM and vCPU.
  [[nodiscard]] static std::vector<std::vector<Thread>> threads_by_node(HostState& host);
  void run_node(HostState& host, placement::NodeIndex node, placement::CpuTime length,
                const std::vector<Thread>& threads);
  static void settle_others(SimNode& node, placement::CpuTime length, placement::CpuTime wanted,
                            const NodeShares& shares);
  [[nodiscard]] static std::vector<placement::Permille> crowding_on(
      const placement::Node& node, placement::CpuTime length, const std::vector<Thread>& threads,
      const NodeShares& shares);
  [[nodiscard]] placement::CpuTime queueing_on(placement::NodeIndex node, std::int32_t cpus,
                                               placement::CpuTime length, placement::CpuTime others,
                                               const std::vector<PinnedThread>& threads,
                                               placement::CpuTime& of_all);

  SimLoadBalancer load_balancer_;
  std::vector<OtherLoad> roaming_loads_;
  std::int64_t roaming_pct_ = 0;  ///< in this epoch
  std::vector<Queue> queues_;     ///< by node
};

}  // namespace vmnuma::tools
