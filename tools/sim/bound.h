// SPDX-License-Identifier: Apache-2.0
/// Computes a bound that no policy can beat: the least time that must be lost in a scenario.
///
/// Problem: that the balancer loses 8 % says little unless it is known whether 7 of these 8 % would
/// be lost under any policy. Approach: for each epoch compute a lower bound of the lost time from
/// the truth, with full knowledge and moves that cost nothing. The integer program of `plan
/// --optimal` is not such a bound: there a client is on one node, while floating vCPUs spread over
/// nodes from one millisecond to the next, and gain by that. Therefore
///  - CPU time is divided arbitrarily: only demand that all nodes together cannot satisfy is owed;
///  - the memory of a client (a VM, or each of its guest cells) is on the node that is best for
///    all, for a whole epoch, and moves there for free (local_service.h). A client's near time is
///    at most what that node can give, and its share of the client's time is at most the share of
///    the client's memory that fits on the largest node. All other time is as far as the distance
///    between the host's two nearest nodes.
/// Losses due to crowded caches, communication between VMs, shared cores (SMT), and pins and masks
/// that must be kept are left out, and so is the memory of VMs that have not touched all of it yet.
/// Each of these makes the bound lower, never higher.
///
/// Properties, each with a test:
///  - no policy loses less, in any scenario, except for rounding;
///  - it is zero if all VMs fit onto the nodes without any being split;
///  - if a VM is wider than all nodes, it equals the time that is lost.
#pragma once

#include <map>
#include <vector>

#include "tools/sim/host/truth.h"
#include "tools/sim/local_service.h"
#include "tools/sim/scenario/scenario.h"
#include "tools/sim/simulation_result.h"

namespace vmnuma::tools {

class Simulation;

class Bound {
 public:
  /// Call after each epoch of a simulation in which no memory is moved.
  void epoch_ended(const Simulation& simulation);
  /// Returns the bound as a share of all demand of the epochs so far.
  [[nodiscard]] Percentage lost() const;

 private:
  struct Problem {
    std::vector<LocalClient> clients;
    std::vector<CpuTime> rooms;
    bool operator==(const Problem&) const = default;
  };

  [[nodiscard]] CpuTime far_loss(Problem problem);

  std::map<VmId, Bytes> resident_;  ///< at the end of the last epoch
  Problem last_;
  CpuTime last_loss_;
  CpuTime lost_;
  CpuTime wanted_;
};

}  // namespace vmnuma::tools
