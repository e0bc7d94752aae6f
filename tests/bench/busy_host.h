// SPDX-License-Identifier: Apache-2.0
/// Hosts of any size under three kinds of load, the same in every run: what decisions are timed and
/// counted on.
#pragma once

#include <cstdint>
#include <vector>

#include "balancer/core/ledger.h"
#include "balancer/core/what_if.h"

namespace vmnuma::tests {

/// kCalm: every node wants half of its cores. kImbalanced: a quarter of them wants 1.6 times.
/// kOverloaded: all want 1.5 times.
enum class HostLoad { kCalm, kImbalanced, kOverloaded };

/// Nodes of 32 cores with two threads each, VMs of 2 to 8 vCPUs and 8 GiB, spread evenly.
class BusyHost {
 public:
  BusyHost(std::int32_t nodes, std::int32_t clients, HostLoad load);

  [[nodiscard]] Sample next_sample();
  [[nodiscard]] const Snapshot& snapshot() const { return snapshot_; }
  [[nodiscard]] balancer::Ledger& ledger() { return ledger_; }

 private:
  std::int32_t nodes_;
  balancer::Ledger ledger_;
  std::vector<VmDescription> vms_;
  std::vector<std::int64_t> busy_us_;
  std::int64_t sequence_ = 0;
  Snapshot snapshot_;
};

/// New VMs for such a host, of so many clients each: as many as may be supposed at a time.
[[nodiscard]] balancer::Supposition most_new_vms(std::int32_t of_clients);

}  // namespace vmnuma::tests
