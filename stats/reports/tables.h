// SPDX-License-Identifier: Apache-2.0
/// Rows to tables: which columns a table has, in which order and under which names, is said in
/// tables.cc and nowhere else.
///
/// Properties: the columns are ESXi's, also of a table without rows; awk on column numbers reads
/// the text of every table; numa-migration has the eleven columns of newer versions.
#pragma once

#include <span>

#include "stats/reports/report.h"
#include "stats/reports/rows.h"

namespace vmnuma::stats {

[[nodiscard]] Report pnode_table(std::span<const PnodeRow> rows);
[[nodiscard]] Report client_table(std::span<const ClientRow> rows);
[[nodiscard]] Report migration_table(std::span<const MigrationRow> rows);
/// anonMem and anonMemPct are always 0: what QEMU itself needs is not told from the guest's memory.
[[nodiscard]] Report cnode_table(std::span<const CnodeRow> rows);
/// Ours: how ESXi's table of this name looks is not public.
[[nodiscard]] Report latency_table(std::span<const LatencyRow> rows);
/// Its text is one "name: value" a line, without a header.
[[nodiscard]] Report global_table(std::span<const GlobalRow> rows);

}  // namespace vmnuma::stats
