// SPDX-License-Identifier: Apache-2.0
/// Which VMs talk to each other, and how much.
///
/// Problem: counters of wake-ups only grow, come and go with their VMs, and may not be available at
/// all; and a burst of talk is no reason to move a VM. Approach: the growth of a pair's counter
/// between two samples gives a rate; rates are averaged with the load's half-life, starting from
/// zero, so that only talk that lasts counts. If wake-ups are no longer counted, the averages are
/// held for a minute and then forgotten.
/// Properties:
///  1. A pair whose counter went back or did not exist before, or that has a new process, restarts
///     from zero.
///  2. Pairs that hardly talk are not in chats(), so that an idle host has none.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "placement/model/amounts.h"
#include "placement/model/sample.h"
#include "placement/model/snapshot.h"

namespace vmnuma::balancer {

struct RecordFields;

class Wakeups {
 public:
  /// Processes the next sample; `before` is the one before it, or null.
  void advance(const Sample* before, const Sample& now, CpuTime half_life);
  /// By a, b.
  [[nodiscard]] std::vector<Chat> chats() const;

  struct Pair {
    VmProcess a;
    VmProcess b;
    WakeupRate average;
  };

 private:
  friend struct RecordFields;  ///< of balancer/record: lists what a recording keeps of this
  std::map<std::pair<VmId, VmId>, Pair> pairs_;
  std::int64_t epochs_held_ = 0;
};

}  // namespace vmnuma::balancer
