// SPDX-License-Identifier: Apache-2.0
/// Formats a table of `stats` for a terminal.
#pragma once

#include <string>

#include "stats/reports/report.h"

namespace vmnuma::tools {

/// If the table has names of VMs, formats it for people; otherwise exactly as sched-stats prints
/// it, for scripts: cells have no blanks. Columns may be wider than a terminal.
[[nodiscard]] std::string text_of(const stats::Report& report);

}  // namespace vmnuma::tools
