// SPDX-License-Identifier: Apache-2.0
/// Converts wake-ups between processes, which restart from zero with the program that counts them,
/// to wake-ups between VMs, which never decrease.
///
/// Properties: only processes known to be VMs' own count; a restart of vmnuma-wakeups loses only
/// what was not yet reported; a restarted VM starts its own count.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "placement/model/sample.h"
#include "stats/linux/wakeup_counts.h"

namespace vmnuma::stats {

class WakeupTotals {
 public:
  /// Adds a reading. Returns, by a, b, what is known about the VMs that were read this epoch.
  [[nodiscard]] std::vector<WakeupSample> advance(const WakeupCounts& counts,
                                                  const std::vector<VmSample>& vms);

  /// Forgets all other VMs.
  void keep_only(const std::set<VmId>& running);

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
