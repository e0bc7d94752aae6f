// SPDX-License-Identifier: Apache-2.0
/// A reading as Prometheus' text format, version 0.0.4.
///
/// Properties: every metric of the table appears with HELP and TYPE if it has a value, in the
/// table's order, and no other; no series appears twice, also if two VMs' names look alike; any
/// bytes in a name are escaped; without the daemon there is `vmnuma_up 0` and what the exporter
/// knows itself.
#pragma once

#include <string>

#include "tools/exporter/reading.h"

namespace vmnuma::tools {

[[nodiscard]] std::string metrics_text(const Reading& reading);

}  // namespace vmnuma::tools
