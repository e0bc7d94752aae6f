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

/// Units with changed memory limits, by name, and whether systemd kept such settings for them
/// before.
using TouchedUnits = std::map<std::string, bool>;

/// Stores for the next start: Originals (the orders that show how VMs were found are kept for a
/// limited time only (HistoryOptions), and VMs may run for longer), Released, reservations,
/// MemoryOriginals, or TouchedUnits. Errors: those of History::set_meta.
template <class T>
[[nodiscard]] Result<void> keep_in(stats::History& history, const T& value);

/// Stores everything that a controller knew in a new history. Errors: as above.
[[nodiscard]] Result<void> keep_known(stats::History& history, const Remembered& known);

/// Reads the units. Errors: the history's; these must not be treated as "none", or settings that we
/// added would count as found.
[[nodiscard]] Result<TouchedUnits> remember_touched_units(stats::History& history);

}  // namespace vmnuma::balancer
