// SPDX-License-Identifier: Apache-2.0
/// Reads the configuration of this host's daemon, for commands that decide like the daemon without
/// asking it.
#pragma once

#include <string>

#include "balancer/config/config.h"
#include "placement/base/result.h"
#include "tools/vmnuma/terminal/context.h"

namespace vmnuma::tools {

/// Reads the configuration as a starting daemon would, from its file below `root`, with options
/// that were set with --persist. A missing file is valid. If the user may not read it, the defaults
/// are used and a message is printed. Error: invalid-argument, or those of reading the file.
[[nodiscard]] Result<balancer::Config> read_host_config(const std::string& root,
                                                        const Context& context);

}  // namespace vmnuma::tools
