// SPDX-License-Identifier: Apache-2.0
/// Rows to tables: which columns a table has, in which order and under which names, is said in
/// tables.cc and nowhere else.
///
/// Properties: the columns are ESXi's, also of a table without rows; awk on column numbers reads
/// the text of every table; numa-migration has the eleven columns of newer versions; a figure that
/// is not known, or does not exist here, has no value.
#pragma once

#include <span>
#include <string_view>

#include "stats/reports/report.h"
#include "stats/reports/rows.h"

namespace vmnuma::stats {

/// Beside ESXi's columns: how much of `used` was for others than VMs.
inline constexpr std::string_view kNonVmColumn = "nonVm";

/// Of tables of clients: the VM's own name.
inline constexpr std::string_view kVmNameColumn = "vmName";

[[nodiscard]] Report pnode_table(std::span<const PnodeRow> rows);
[[nodiscard]] Report client_table(std::span<const ClientRow> rows);
/// loadMig and monitorMig have no value: every one-way move for CPU load is a balanceMig, and there
/// is no monitor whose memory could move alone.
[[nodiscard]] Report migration_table(std::span<const MigrationRow> rows);
/// anonMem and anonMemPct have no value: what QEMU itself needs is not told from the guest's
/// memory.
[[nodiscard]] Report cnode_table(std::span<const CnodeRow> rows);
/// Ours: how ESXi's table of this name looks is not public.
[[nodiscard]] Report latency_table(std::span<const LatencyRow> rows);
/// Its text is one "name: value" a line, without a header.
[[nodiscard]] Report global_table(std::span<const GlobalRow> rows);

/// For scripts, which count on numbers: 0 where there is no value, -1 for no node and no latency.
[[nodiscard]] Report with_numbers_only(Report report);

}  // namespace vmnuma::stats
