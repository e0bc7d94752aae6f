// SPDX-License-Identifier: Apache-2.0
/// Converts wake-ups between processes, whose counts restart from zero with the program that counts
/// them, to wake-ups between VMs, whose counts never decrease.
///
/// Properties:
///  - only processes that are known to belong to VMs count;
///  - a restart of vmnuma-wakeups loses only what it had not reported yet;
///  - the count of a restarted VM starts from zero.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "placement/model/sample.h"
#include "stats/linux/wakeup_counts.h"

namespace vmnuma::stats {

class WakeupTotals {
 public:
  /// Adds a reading. Returns the totals of the VMs that were read this epoch, ordered by a, b.
  [[nodiscard]] std::vector<WakeupSample> advance(const WakeupCounts& counts,
                                                  const std::vector<VmSample>& vms);

  /// Forgets the VMs for which `has_ended` is true.
  template <class Test>
  void forget_if(Test has_ended) {
    std::erase_if(pairs_, [&](const auto& entry) {
      return has_ended(entry.first.first) || has_ended(entry.first.second);
    });
  }

 private:
  struct Pair {
    VmProcess a;
    VmProcess b;
    std::int64_t last = 0;  ///< as counted
    std::int64_t total = 0;
  };

  std::map<std::pair<VmId, VmId>, Pair> pairs_;
};

}  // namespace vmnuma::stats
