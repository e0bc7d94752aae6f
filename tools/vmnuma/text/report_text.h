// SPDX-License-Identifier: Apache-2.0
/// A table of `stats` for a terminal.
#pragma once

#include <string>

#include "stats/reports/report.h"

namespace vmnuma::tools {

/// Exactly as sched-stats prints it: columns may be wider than a terminal, and cells have no
/// blanks.
[[nodiscard]] std::string text_of(const stats::Report& report);

}  // namespace vmnuma::tools
