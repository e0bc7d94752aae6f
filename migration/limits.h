// SPDX-License-Identifier: Apache-2.0
/// The limits that the executor observes: a value, replaced as a whole when the configuration or
/// the host changes.
#pragma once

#include <vector>

#include "placement/model/amounts.h"
#include "placement/model/ids.h"
#include "placement/model/options.h"
#include "placement/model/topology.h"

namespace vmnuma::migration {

struct Limits {
  bool move_memory = true;          ///< Numa.PageMigEnable
  Bytes bytes_per_second;           ///< of the whole host; zero = unlimited
  Bytes vm_bytes_per_second;        ///< of one VM; zero = unlimited
  Microseconds stall_target{5000};  ///< the longest that one page migration call should take
  Permille node_reserve{20};        ///< share of a node's memory that moves leave available
  std::vector<CpuId> all_cpus;      ///< what a pin to "any CPU of the host" means, ascending
  bool operator==(const Limits&) const = default;
};

/// The limits that follow from the administrator's options and the host's topology.
[[nodiscard]] Limits limits_from(const Options& options, const Topology& topology);

}  // namespace vmnuma::migration
