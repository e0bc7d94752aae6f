// SPDX-License-Identifier: Apache-2.0
/// Differences if the daemon runs on a simulated host or shows a recording: its folder, and its
/// configuration where the file does not set it.
#pragma once

#include <string>

#include "balancer/config/config.h"
#include "placement/base/result.h"
#include "tools/sim/scenario/scenario.h"

namespace vmnuma::tools {

/// The default scenario.
inline constexpr const char* kUsualScenario = "shifts";

/// Creates the folder with mode 0700, if it does not exist. Errors: permission-denied (it belongs
/// to another user, or is open to others), and those of creating it.
[[nodiscard]] Result<void> make_private_folder(const std::string& path);

/// Removes everything that an earlier daemon left in its state directory, except the lock: the
/// simulated host starts afresh each time, and so does its history. Errors: io.
[[nodiscard]] Result<void> forget_state(const std::string& state_dir);

/// Returns the configuration with a socket for this user alone and the state in `folder`, unless
/// set in the file that was read.
[[nodiscard]] balancer::Config private_config(balancer::Config read, const std::string& folder);

/// Likewise, with mode active and the scenario's options and strategy, unless the file sets them;
/// there is no connection to libvirt.
[[nodiscard]] balancer::Config simulated_config(balancer::Config read, const Scenario& scenario,
                                                const std::string& folder);

}  // namespace vmnuma::tools
