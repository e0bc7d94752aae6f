// SPDX-License-Identifier: Apache-2.0
/// The configuration of this host's daemon, for commands that decide as it does without asking it.
#pragma once

#include <string>

#include "balancer/config/config.h"
#include "placement/base/result.h"
#include "tools/vmnuma/arguments/invocation.h"
#include "tools/vmnuma/terminal/surroundings.h"

namespace vmnuma::tools {

/// As a starting daemon would read it from its file below `root`, with options that were set with
/// --persist. A missing file is valid. For a user who may not read it, the defaults are used, and a
/// message says so. Error: invalid-argument, or that the file cannot be read for another reason.
[[nodiscard]] Result<balancer::Config> read_host_config(const std::string& root,
                                                        const Invocation& invocation,
                                                        Surroundings& surroundings);

}  // namespace vmnuma::tools
