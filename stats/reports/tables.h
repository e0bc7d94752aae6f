// SPDX-License-Identifier: Apache-2.0
/// Makes tables from rows. Only tables.cc defines the columns of each table, their order and names.
///
/// Properties:
///  - the columns are ESXi's, even for a table without rows;
///  - awk can select columns of every table's text by number;
///  - numa-migration has the eleven columns of newer versions;
///  - a figure that is unknown, or does not exist on this kind of host, has no value.
#pragma once

#include <span>
#include <string_view>

#include "stats/reports/report.h"
#include "stats/reports/rows.h"

namespace vmnuma::stats {

/// Added to ESXi's columns: the part of `used` that went to processes other than VMs.
inline constexpr std::string_view kNonVmColumn = "nonVm";

/// Added to tables of clients: the VM's own name.
inline constexpr std::string_view kVmNameColumn = "vmName";

[[nodiscard]] Report pnode_table(std::span<const PnodeRow> rows);
[[nodiscard]] Report client_table(std::span<const ClientRow> rows);
/// loadMig and monitorMig have no value: every one-way move for CPU load is a balanceMig, and there
/// is no monitor (VMM) whose memory could move separately.
[[nodiscard]] Report migration_table(std::span<const MigrationRow> rows);
/// anonMem and anonMemPct have no value: QEMU's own memory is not distinguished from the guest's.
[[nodiscard]] Report cnode_table(std::span<const CnodeRow> rows);
/// Our own columns: those of ESXi's table of this name are not public.
[[nodiscard]] Report latency_table(std::span<const LatencyRow> rows);
/// Its text has one "name: value" per line and no header.
[[nodiscard]] Report global_table(std::span<const GlobalRow> rows);

/// Replaces missing values by numbers, for scripts that expect them: 0 in general, -1 for a node or
/// a latency.
[[nodiscard]] Report with_numbers_only(Report report);

}  // namespace vmnuma::stats
