// SPDX-License-Identifier: Apache-2.0
/// What would happen with a new VM, one less, one elsewhere, or other options.
///
/// Problem: before changing a host, an administrator wants to know how the balancer would react,
/// and asking must change nothing. Approach: the snapshot is a value; a copy of it is changed as
/// supposed, and judged and planned with like any other. The supposed changes count as finished:
/// memory that can follow has followed, a new VM has touched all of its memory. Everything else
/// stays as it was measured: demand, and non-VM time.
/// Terms: *standing* - the figures of a whole host on which every decision is based.
/// Properties:
///  1. If nothing is supposed, both standings are equal and the plan is that of the next epoch
///     under the same readings.
///  2. The homes of new VMs are those that the planner gives them.
///  3. The order in which changes are supposed does not matter, except that new VMs are placed in
///     their order.
/// The time it takes grows with the clients of the new VMs; a caller that serves others allows no
/// more than kMostNewClients.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "balancer/core/new_vm.h"
#include "balancer/core/planner.h"
#include "placement/model/options.h"
#include "placement/model/plan.h"
#include "placement/model/snapshot.h"

namespace vmnuma::balancer {

inline constexpr std::size_t kMostNewClients = 512;

struct ClientMove {
  ClientId client;
  NodeIndex to = kNoNode;
};

struct Supposition {
  std::vector<NewVm> added;
  std::vector<VmId> removed;
  std::vector<ClientMove> moved;
  Options options;  ///< the whole set, with the supposed changes
};

struct Standing {
  CpuTime lost;        ///< per epoch, predicted, with the clients that spill now
  Permille imbalance;  ///< largest difference of owed / capacity between two nodes
  /// Share of the memory of clients with a home that lies on that home; absent if none is known.
  std::optional<Permille> locality;
  bool operator==(const Standing&) const = default;
};

struct WhatIf {
  Standing before;
  Standing after;
  std::vector<NewHome> homes;
  Snapshot supposed;  ///< the next epoch
  Plan plan;          ///< of that epoch
};

/// Removes the VM as if it had ended; nothing changes if there is none.
void remove_vm(Snapshot& snapshot, const VmId& id);

/// Returns both standings and the plan after the supposed changes. `now` is the last epoch with the
/// homes as they are since its plan, `options` are those in force. VMs and clients that are not in
/// `now` are ignored.
[[nodiscard]] WhatIf what_if(const Snapshot& now, const Options& options,
                             const Supposition& supposition, const Circumstances& circumstances);

}  // namespace vmnuma::balancer
