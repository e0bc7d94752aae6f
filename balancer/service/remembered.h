// SPDX-License-Identifier: Apache-2.0
/// The location of the history, and what the controller needs to know from it about the time before
/// the daemon's start.
///
/// Properties: what cannot be read counts as absent, and the daemon starts all the same; orders
/// that were not carried out count for nothing.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "balancer/config/config.h"
#include "balancer/controller/controller.h"
#include "balancer/controller/memory_steering.h"
#include "balancer/controller/originals.h"
#include "balancer/core/reservations.h"
#include "placement/base/result.h"
#include "placement/model/ids.h"
#include "placement/model/sample.h"
#include "stats/history/history.h"

namespace vmnuma::balancer {

using Released = std::map<VmId, VmProcess>;

struct Remembered {
  std::map<ClientId, NodeId> homes;
  Originals originals;
  bool originals_known = false;  ///< the history has all orders of these VMs
  Released released;
  std::vector<Reservation> reservations;
  MemoryOriginals memory_originals;
};

/// The file, and how long each kind of data is kept.
[[nodiscard]] stats::HistoryOptions history_options(const Config& config);

/// Disk I/O; before any other use of the history.
[[nodiscard]] Remembered remember(stats::History& history);

/// Keeps how VMs were found for the next start. The orders that tell it are kept for a limited time
/// only (HistoryOptions), VMs may run for longer. Errors: those of History::set_meta.
[[nodiscard]] Result<void> keep_originals(stats::History& history, const Originals& originals);

/// Keeps the list of released VMs for the next start. Errors: those of History::set_meta.
[[nodiscard]] Result<void> keep_released(stats::History& history, const Released& released);

/// Keeps the reservations for the next start. Errors: as above.
[[nodiscard]] Result<void> keep_reservations(stats::History& history,
                                             const std::vector<Reservation>& reservations);

/// Keeps the state of cgroups before their memory limits were changed. Errors: as above.
[[nodiscard]] Result<void> keep_memory_originals(stats::History& history,
                                                 const MemoryOriginals& originals);

/// Keeps all of it that a controller knew, in a new history. Errors: as above.
[[nodiscard]] Result<void> keep_known(stats::History& history, const ControllerSetup& known);

/// By name: units with changed memory limits, and whether systemd kept such settings for them
/// before.
using TouchedUnits = std::map<std::string, bool>;
/// Errors: the history's. They must not count as none, or settings that we added would count as
/// found.
[[nodiscard]] Result<TouchedUnits> remember_touched_units(stats::History& history);
/// Errors: as above.
[[nodiscard]] Result<void> keep_touched_units(stats::History& history, const TouchedUnits& units);

}  // namespace vmnuma::balancer
