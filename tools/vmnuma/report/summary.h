// SPDX-License-Identifier: Apache-2.0
/// Condenses the figures of a report. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "balancer/model/view.h"
#include "stats/history/past.h"

namespace vmnuma::tools {

/// Return what clients want of the whole node, as a load average, and what processes other than VMs
/// use of it. Unknown for a node without CPUs.
[[nodiscard]] balancer::Figure vm_load_permille(const stats::NodeSampleRow& row);
[[nodiscard]] balancer::Figure non_vm_permille(const stats::NodeSampleRow& row);

/// Averages over time; the highest value is that of a single sample.
struct NodeSummary {
  std::int32_t node = 0;
  balancer::Figure vm_load_permille;
  balancer::Figure highest_vm_load_permille;
  balancer::Figure non_vm_permille;
  balancer::Figure owed_permille;  ///< of its capacity
};

/// All actions of one reason.
struct ReasonSummary {
  std::string reason;
  std::int64_t done = 0;
  std::int64_t undone = 0;
  std::int64_t dropped = 0;
  std::int64_t open = 0;
  std::int64_t measured =
      0;  ///< number of actions that were measured; the two values below refer to these
  balancer::Figure promised_ms;  ///< lost time saved per epoch; also absent if none was predicted
  balancer::Figure brought_ms;
};

struct ReportSummary {
  std::vector<NodeSummary> nodes;      ///< by number
  std::vector<ReasonSummary> reasons;  ///< by name
  balancer::Figure locality_first_permille;
  balancer::Figure locality_last_permille;
  std::int64_t moved_bytes = 0;
};

[[nodiscard]] ReportSummary summary_of(const stats::Past& past);

}  // namespace vmnuma::tools
