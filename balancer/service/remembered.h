// SPDX-License-Identifier: Apache-2.0
/// What the controller is to know from before the daemon's start, out of the history.
///
/// Properties: what cannot be read is not there, and the daemon starts all the same; orders that
/// came to nothing count for nothing.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "balancer/originals.h"
#include "placement/model/ids.h"
#include "placement/model/sample.h"
#include "placement/result.h"
#include "stats/history/history.h"

namespace vmnuma::balancer {

using Released = std::map<placement::VmId, placement::VmProcess>;

struct Remembered {
  std::map<placement::ClientId, placement::NodeId> homes;
  Originals originals;
  bool originals_known = false;  ///< the history has all orders of these VMs
  Released released;
};

/// Disk I/O; before anybody else uses the history.
[[nodiscard]] Remembered remember(stats::History& history);

/// Keeps the list of released VMs for the next start. Errors: those of History::set_meta.
[[nodiscard]] Result<void> keep_released(stats::History& history, const Released& released);

}  // namespace vmnuma::balancer
