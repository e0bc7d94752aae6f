// SPDX-License-Identifier: Apache-2.0
/// What is different if the daemon runs on a simulated host or shows a recording: where it is at
/// home, and what its configuration is unless a file says otherwise.
#pragma once

#include <string>

#include "balancer/config/config.h"
#include "placement/base/result.h"
#include "tools/sim/scenario/scenario.h"

namespace vmnuma::tools {

/// The scenario that is simulated if none is named.
inline constexpr const char* kUsualScenario = "shifts";

/// Makes the folder with mode 0700, if it is not there. Errors: permission-denied (it is somebody
/// else's, or open to others), and those of making it.
[[nodiscard]] Result<void> make_private_folder(const std::string& path);

/// Removes what an earlier daemon has left in its state directory, but not the lock: the simulated
/// host begins anew with each start, and so does its history. Errors: io.
[[nodiscard]] Result<void> forget_state(const std::string& state_dir);

/// A socket for this user alone and state in `folder`, each unless the file that was read sets it.
[[nodiscard]] balancer::Config private_config(balancer::Config read, const std::string& folder);

/// That, and mode active and the scenario's options and strategy, unless the file sets them; a
/// connection to libvirt is none.
[[nodiscard]] balancer::Config simulated_config(balancer::Config read, const Scenario& scenario,
                                                const std::string& folder);

}  // namespace vmnuma::tools
