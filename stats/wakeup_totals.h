// SPDX-License-Identifier: Apache-2.0
/// From wake-ups between processes, which begin anew with whoever counts them, to wake-ups between
/// VMs that never go back.
///
/// Properties: only processes that are surely VMs' own count; a restart of vmnuma-wakeups loses
/// what was not yet told and nothing else; a VM that is started anew begins at its own count.
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
  /// Takes a reading in. Returns by a, b what is known of the VMs that were read this epoch.
  [[nodiscard]] std::vector<placement::WakeupSample> advance(
      const WakeupCounts& counts, const std::vector<placement::VmSample>& vms);

  /// Forgets all VMs but these.
  void keep_only(const std::set<placement::VmId>& running);

 private:
  struct Pair {
    placement::VmProcess a;
    placement::VmProcess b;
    std::int64_t last = 0;  ///< as counted
    std::int64_t total = 0;
  };

  std::map<std::pair<placement::VmId, placement::VmId>, Pair> pairs_;
};

}  // namespace vmnuma::stats
