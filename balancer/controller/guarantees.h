// SPDX-License-Identifier: Apache-2.0
/// Accounting of memory guaranteed to VMs, per node and page size.
///
/// Problem: a guarantee that the host cannot keep ends with the OOM killer, and a VM that is about
/// to start must count before it runs. Approach: take what each node may promise, minus the
/// guarantees of VMs that run or were told where to start. Terms: *group* - the nodes on which a
/// VM's memory is promised jointly: its homes and, if these are too small in total, also the
/// nearest other nodes.
/// Properties:
///  1. Memory kept for the system is never promised.
///  2. A VM counts on its homes once it has some; before that, on the nodes where it was told to
///     start.
///  3. Huge page pools are accounted per page size, separately from ordinary memory.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "balancer/controller/events.h"
#include "balancer/core/ledger.h"
#include "balancer/core/starting_vms.h"
#include "placement/kept_memory.h"

namespace vmnuma::balancer {

/// The homes of the VM's clients, without duplicates, in the order of the clients.
[[nodiscard]] std::vector<NodeId> homes_of(const VmRecord& vm);

/// The guarantees at one moment. Everything passed to it must outlive it.
class Guarantees {
 public:
  Guarantees(const Settings& settings, const Ledger& ledger, const StartingVms& starting)
      : settings_(settings), ledger_(ledger), starting_(starting) {}

  /// What may be promised on each node: everything except what is kept for the system.
  [[nodiscard]] std::vector<Bytes> capacity(Bytes page_size) const;
  /// The group of a VM with these homes.
  [[nodiscard]] std::vector<NodeIndex> group_of(const std::vector<NodeIndex>& homes,
                                                Bytes page_size, Bytes memory) const;
  /// What is guaranteed to all VMs except one.
  [[nodiscard]] KeptMemory kept(Bytes page_size, const VmId& except) const;
  /// Adds what is guaranteed to VMs that were told where to start and have no home yet.
  void keep_for_starting(KeptMemory& kept, Bytes page_size, const VmId& except) const;
  /// Why the VM cannot be guaranteed its memory on these nodes; nothing if it can.
  [[nodiscard]] std::optional<std::string> refusal(const VmDescription& vm,
                                                   const std::vector<NodeIndex>& nodes) const;

 private:
  const Settings& settings_;
  const Ledger& ledger_;
  const StartingVms& starting_;
};

}  // namespace vmnuma::balancer
