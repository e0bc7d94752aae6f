// SPDX-License-Identifier: Apache-2.0
/// Rows as public sched-stats output shows them, and the golden texts that must become of them.
#pragma once

#include <string>
#include <vector>

#include "stats/reports/rows.h"

namespace vmnuma::stats::tests {

[[nodiscard]] std::vector<PnodeRow> pnode_samples();
[[nodiscard]] std::vector<ClientRow> client_samples();
[[nodiscard]] std::vector<MigrationRow> migration_samples();
[[nodiscard]] std::vector<CnodeRow> cnode_samples();

/// The file of that name in tests/golden/reports.
[[nodiscard]] std::string golden_path(const std::string& name);
[[nodiscard]] std::string golden(const std::string& name);

}  // namespace vmnuma::stats::tests
