// SPDX-License-Identifier: Apache-2.0
/// What VMs and nodes are measured by in an epoch.
#pragma once

#include <cstdint>
#include <optional>

#include "placement/model/forecast.h"
#include "placement/model/options.h"
#include "placement/model/reserved_memory.h"
#include "placement/model/sample.h"
#include "placement/model/topology.h"

namespace vmnuma::balancer {

/// Refers to what the caller keeps.
struct EpochReading {
  const placement::Topology& topology;
  const placement::Options& options;
  const placement::ReservedMemory& reserved;  ///< what each node keeps for the system
  const placement::Sample* before;            ///< of the last epoch; null in the first
  const placement::Sample& now;
  /// What a read of a node's own memory takes; none if all VMs have the host's price.
  std::optional<std::int64_t> local_read_ns;
  const placement::LoadForecasts* forecasts;  ///< null: none that hold
};

}  // namespace vmnuma::balancer
