// SPDX-License-Identifier: Apache-2.0
/// `vmnuma export --format host`: writes this host for `vmnuma advise --host`, only from its files.
#pragma once

#include "tools/vmnuma/arguments/invocation.h"
#include "tools/vmnuma/terminal/surroundings.h"

namespace vmnuma::tools {

/// Prints the host. Returns the exit code.
[[nodiscard]] int export_host(const ExportRun& run, const Invocation& invocation,
                              Surroundings& surroundings);

}  // namespace vmnuma::tools
