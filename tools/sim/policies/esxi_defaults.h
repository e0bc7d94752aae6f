// SPDX-License-Identifier: Apache-2.0
/// ESXi's NUMA scheduler with its default options, to the extent that it is public.
///
/// Documented (vSphere Resource Management; public lists of advanced settings): a VM has one client
/// per node's worth of cores; a new one goes to the next node in turn that has room, unless the
/// nodes' load averages say otherwise. Every epoch (RebalancePeriod 2000 ms) nodes are compared by
/// owed time. From MigImbalanceThreshold 10 % on, every SwapMigrateOnly 2 epochs the one-way move
/// that reduces the imbalance most is made, every SwapInterval 3 epochs a swap, if it improves the
/// balance by MigThreshold 2 % and leaves at most MigThrashThreshold 50 % of the imbalance; swapped
/// clients are not considered for SwapConsiderPeriod 15 epochs. Time owed over
/// LTermFairnessInterval 5 epochs gives another client a turn from LTermMigImbalThreshold 10 % on.
/// Without imbalance a client goes where at least 20 % more of its memory is, unless the cores
/// there would be used above CoreCapRatioPct 90 %. Memory follows at PageMigRateMax 32000 pages per
/// second. In this simulation the policy pins through libvirt, and moves pages as the balancer
/// does. VMs begin where the scenario finds them. Left out: action affinity, which 9.1 disables,
/// and monitor migrations. The following is not public and was kept as simple as possible: the
/// formula of the load average (half of it is the last epoch), and what counts as owed (the time
/// that a node's clients waited).
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "tools/sim/policies/policy.h"

namespace vmnuma::tools {

class EsxiPolicy final : public Policy {
 public:
  void epoch(PolicyHost& host) override;

 private:
  struct Client {
    VmId vm;
    std::int32_t first_vcpu = 0;
    std::int32_t vcpus = 0;
    NodeIndex home = kNoNode;
    CpuTime demand;
    CpuTime owed;
    std::vector<CpuTime> owed_before;  ///< newest first
    std::int64_t swapped_at = -1'000;
  };
  void meet(PolicyHost& host, const PolicyVm& vm);
  void measure(PolicyHost& host);
  [[nodiscard]] NodeIndex next_home(const PolicyHost& host, const PolicyVm& vm);
  void balance(PolicyHost& host);
  bool move_one(PolicyHost& host, bool long_term);
  bool swap_two(PolicyHost& host);
  void follow_memory(PolicyHost& host);
  void move_pages(PolicyHost& host) const;
  void rehome(PolicyHost& host, Client& client, NodeIndex node);
  [[nodiscard]] CpuTime capacity(const PolicyHost& host, NodeIndex node) const;
  [[nodiscard]] CpuTime demand_on(NodeIndex node) const;
  /// Returns what the node's clients would be owed if they wanted that much more.
  [[nodiscard]] CpuTime owed_if(const PolicyHost& host, NodeIndex node, CpuTime more) const;
  [[nodiscard]] std::int64_t imbalance_pct(const PolicyHost& host,
                                           const std::vector<CpuTime>& owed) const;

  std::vector<Client> clients_;
  std::map<NodeIndex, std::int64_t> load_pct_;
  NodeIndex next_ = 0;
};

}  // namespace vmnuma::tools
