// SPDX-License-Identifier: Apache-2.0
/// The location of the history, and what the controller needs to know from it about the time before
/// the daemon's start.
///
/// Properties: what cannot be read counts as absent and is set aside, which is logged, and the
/// daemon starts all the same; orders that were not carried out are ignored.
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
#include "balancer/service/event_log.h"
#include "placement/base/result.h"
#include "placement/model/ids.h"
#include "placement/model/sample.h"
#include "stats/history/history.h"

namespace vmnuma::balancer {

using Released = std::map<VmId, VmProcess>;

/// The history's file, and how long each kind of data is kept.
[[nodiscard]] stats::HistoryOptions history_options(const Config& config);

/// Reads what is needed. Disk I/O; to be called before any other use of the history.
[[nodiscard]] Remembered remember(stats::History& history, EventLog& log);

/// Stores how VMs were found for the next start. The orders that show it are kept for a limited
/// time only (HistoryOptions), and VMs may run for longer. Errors: those of History::set_meta.
[[nodiscard]] Result<void> keep_originals(stats::History& history, const Originals& originals);

/// Stores the list of released VMs for the next start. Errors: those of History::set_meta.
[[nodiscard]] Result<void> keep_released(stats::History& history, const Released& released);

/// Stores the reservations for the next start. Errors: as above.
[[nodiscard]] Result<void> keep_reservations(stats::History& history,
                                             const std::vector<Reservation>& reservations);

/// Stores the state of cgroups before their memory limits were changed. Errors: as above.
[[nodiscard]] Result<void> keep_memory_originals(stats::History& history,
                                                 const MemoryOriginals& originals);

/// Stores everything that a controller knew in a new history. Errors: as above.
[[nodiscard]] Result<void> keep_known(stats::History& history, const Remembered& known);

/// Reads the units with changed memory limits. Errors: the history's; these must not be treated as
/// "none", or settings that we added would count as found.
[[nodiscard]] Result<TouchedUnits> remember_touched_units(stats::History& history);
/// Stores the units. Errors: as above.
[[nodiscard]] Result<void> keep_touched_units(stats::History& history, const TouchedUnits& units);

}  // namespace vmnuma::balancer
