// SPDX-License-Identifier: Apache-2.0
/// Writes a reading in Prometheus' text format, version 0.0.4.
///
/// Properties:
///  - every metric of the table that has a value appears, with HELP and TYPE, in the table's order,
///    and no others;
///  - no series appears twice, even if two VMs' names look alike;
///  - all bytes of a name are escaped if necessary;
///  - without the daemon there is `vmnuma_up 0` and what the exporter itself knows.
#pragma once

#include <string>

#include "tools/exporter/reading.h"

namespace vmnuma::tools {

[[nodiscard]] std::string metrics_text(const Reading& reading);

}  // namespace vmnuma::tools
