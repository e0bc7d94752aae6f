// SPDX-License-Identifier: Apache-2.0
/// What no policy can beat: how much of the lost time of a scenario could be won at all.
///
/// Problem: that the balancer loses 8 % says little as long as it is unknown whether 7 of them are
/// lost under any policy. Approach: for each epoch a lower bound of the time lost in it, computed
/// from the truth with full knowledge, and with moves that cost nothing. The integer program of
/// `plan --optimal` is no such bound: there a client is on one node, while floating vCPUs spread
/// over nodes from one millisecond to the next, and do gain by that. So
///  - CPU time is handed out in pieces of any size: only what all nodes together cannot give is
///    owed;
///  - the memory of a client (a VM, or each of its guest cells) is on the node that is best for
///    all, for a whole epoch, and moves there for free (local_service.h). No more of a client's
///    time is near than that node can give, and no larger share of it than the share of its memory
///    that the largest node holds. All other time is as far as the host's nearest other node.
/// What is lost to crowded caches, to talk, to the SMT threads of a core and to pins and masks that
/// must be kept is left out, and so is the memory of VMs that have not touched all of it yet. All
/// of this makes the bound lower, never higher.
///
/// Properties, each with a test:
///  - no policy loses less, in any scenario, except for rounding;
///  - it is zero if every VM fits onto a node next to the others;
///  - it is what is lost if a VM is wider than all nodes.
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
  /// To be called after each epoch of a simulation in which no memory is moved.
  void epoch_ended(const Simulation& simulation);
  /// As a share of all demand of the epochs so far.
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
