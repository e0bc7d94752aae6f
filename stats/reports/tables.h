// SPDX-License-Identifier: Apache-2.0
/// Rows to tables: tables.cc alone defines which columns a table has, in which order and under
/// which names.
///
/// Properties: the columns are ESXi's, also for a table without rows; awk on column numbers can
/// read the text of every table; numa-migration has the eleven columns of newer versions; a figure
/// that is unknown, or does not exist here, has no value.
#pragma once

#include <span>
#include <string_view>

#include "stats/reports/report.h"
#include "stats/reports/rows.h"

namespace vmnuma::stats {

/// In addition to ESXi's columns: how much of `used` went to processes other than VMs.
inline constexpr std::string_view kNonVmColumn = "nonVm";

/// In tables of clients: the VM's own name.
inline constexpr std::string_view kVmNameColumn = "vmName";

[[nodiscard]] Report pnode_table(std::span<const PnodeRow> rows);
[[nodiscard]] Report client_table(std::span<const ClientRow> rows);
/// loadMig and monitorMig have no value: every one-way move for CPU load is a balanceMig, and there
/// is no monitor with memory that could move alone.
[[nodiscard]] Report migration_table(std::span<const MigrationRow> rows);
/// anonMem and anonMemPct have no value: QEMU's own memory is not distinguished from the guest's.
[[nodiscard]] Report cnode_table(std::span<const CnodeRow> rows);
/// Our own: what ESXi's table of this name looks like is not public.
[[nodiscard]] Report latency_table(std::span<const LatencyRow> rows);
/// Its text is one "name: value" per line, without a header.
[[nodiscard]] Report global_table(std::span<const GlobalRow> rows);

/// For scripts, which expect numbers: 0 for no value, -1 for no node and no latency.
[[nodiscard]] Report with_numbers_only(Report report);

}  // namespace vmnuma::stats
