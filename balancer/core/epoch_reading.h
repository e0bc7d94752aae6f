// SPDX-License-Identifier: Apache-2.0
/// The inputs from which VMs and nodes are measured in an epoch.
#pragma once

#include <cstdint>
#include <optional>

#include "placement/model/forecast.h"
#include "placement/model/options.h"
#include "placement/model/reserved_memory.h"
#include "placement/model/sample.h"
#include "placement/model/topology.h"

namespace vmnuma::balancer {

/// Refers to objects that the caller keeps.
struct EpochReading {
  const Topology& topology;
  const Options& options;
  const ReservedMemory& reserved;  ///< what each node keeps for the system
  const Sample* before;            ///< of the last epoch; null in the first and after a gap
  const Sample& now;
  /// Duration of a read of a node's own memory; absent if all VMs have the host's price.
  std::optional<std::int64_t> local_read_ns;
  const LoadForecasts* forecasts;  ///< null: there are no valid ones
};

}  // namespace vmnuma::balancer
