// SPDX-License-Identifier: Apache-2.0
#include "stats/reports/tables.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "stats/reports/latency_rows.h"

namespace vmnuma::stats {
namespace {

/// One column: its name, how a row fills it, and what scripts get if there is no value.
template <class Row>
struct Column {
  std::string_view name;
  Cell (*cell)(const Row& row);
  std::int64_t for_scripts = 0;
};

constexpr std::int64_t kNone = -1;  // used where 0 would be taken for a node or a figure

Cell cell_of(const Figure& amount) {
  return amount ? Cell(*amount) : Cell(NoValue{});
}

/// Fills a column whose figure does not exist on this kind of host.
template <class Row>
Cell no_value(const Row& /*row*/) {
  return NoValue{};
}

template <class Row>
Report table(std::string_view type, std::span<const Row> rows, std::span<const Column<Row>> columns,
             std::span<const Column<Row>> extra_columns = {}) {
  Report report;
  report.type = type;
  for (const Column<Row>& column : columns) {
    report.columns.emplace_back(column.name);
  }
  for (const Column<Row>& column : extra_columns) {
    report.extra_columns.emplace_back(column.name);
  }
  for (const Row& row : rows) {
    std::vector<Cell>& cells = report.rows.emplace_back();
    for (const Column<Row>& column : columns) {
      cells.push_back(column.cell(row));
    }
    if (!extra_columns.empty()) {
      std::vector<Cell>& extra_cells = report.extra_cells.emplace_back();
      for (const Column<Row>& column : extra_columns) {
        extra_cells.push_back(column.cell(row));
      }
    }
  }
  return report;
}

template <class Row>
constexpr Column<Row> kGroupName{"groupName",
                                 [](const Row& row) -> Cell { return row.key.group_name; }};
template <class Row>
constexpr Column<Row> kGroupId{"groupID", [](const Row& row) -> Cell { return row.key.group_id; }};
template <class Row>
constexpr Column<Row> kClientId{"clientID", [](const Row& row) -> Cell { return row.key.client; }};
template <class Row>
constexpr Column<Row> kVmNames[] = {
    {kVmNameColumn, [](const Row& row) -> Cell { return row.key.vm_name; }},
    {"vmUuid", [](const Row& row) -> Cell { return row.key.vm_uuid; }},
};

constexpr Column<PnodeRow> kPnode[] = {
    {"nodeID", [](const PnodeRow& row) -> Cell { return row.node; }},
    {"used", [](const PnodeRow& row) -> Cell { return cell_of(row.used_ms); }},
    {"idle", [](const PnodeRow& row) -> Cell { return cell_of(row.idle_ms); }},
    {"entitled", [](const PnodeRow& row) -> Cell { return cell_of(row.entitled_ms); }},
    {"owed", [](const PnodeRow& row) -> Cell { return cell_of(row.owed_ms); }},
    {"loadAvgPct", [](const PnodeRow& row) -> Cell { return cell_of(row.load_average_pct); }},
    {"nVcpu", [](const PnodeRow& row) -> Cell { return cell_of(row.vcpus); }},
    {"freeMem", [](const PnodeRow& row) -> Cell { return cell_of(row.free_kb); }},
    {"totalMem", [](const PnodeRow& row) -> Cell { return cell_of(row.total_kb); }},
};

constexpr Column<PnodeRow> kPnodeOfOurs[] = {
    {kNonVmColumn, [](const PnodeRow& row) -> Cell { return cell_of(row.non_vm_ms); }},
};

constexpr Column<ClientRow> kClientNamesAndCpus[] = {
    kVmNames<ClientRow>[0],
    kVmNames<ClientRow>[1],
    { "cpus", [](const ClientRow& row) -> Cell { return row.cpus; } },
};

constexpr Column<ClientRow> kClients[] = {
    kGroupName<ClientRow>,
    kGroupId<ClientRow>,
    kClientId<ClientRow>,
    {"homeNode", [](const ClientRow& row) -> Cell { return cell_of(row.home); }, kNone},
    {"affinity", [](const ClientRow& row) -> Cell { return row.affinity; }},
    {"nWorlds", [](const ClientRow& row) -> Cell { return cell_of(row.worlds); }},
    {"vmmWorlds", [](const ClientRow& row) -> Cell { return row.vmm_worlds; }},
    {"localMem", [](const ClientRow& row) -> Cell { return cell_of(row.local_kb); }},
    {"remoteMem", [](const ClientRow& row) -> Cell { return cell_of(row.remote_kb); }},
    {"currLocal%", [](const ClientRow& row) -> Cell { return cell_of(row.current_local_pct); }},
    {"cummLocal%", [](const ClientRow& row) -> Cell { return cell_of(row.cumulative_local_pct); }},
};

constexpr Column<MigrationRow> kMigration[] = {
    kGroupName<MigrationRow>,
    kGroupId<MigrationRow>,
    kClientId<MigrationRow>,
    {"balanceMig", [](const MigrationRow& row) -> Cell { return row.moves.balance; }},
    {"loadMig", no_value<MigrationRow>},
    {"localityMig", [](const MigrationRow& row) -> Cell { return row.moves.locality; }},
    {"longTermMig", [](const MigrationRow& row) -> Cell { return row.moves.long_term; }},
    {"monitorMig", no_value<MigrationRow>},
    {"loadSwap", [](const MigrationRow& row) -> Cell { return row.moves.load_swap; }},
    {"localitySwap", [](const MigrationRow& row) -> Cell { return row.moves.locality_swap; }},
    {"pageMigRate", [](const MigrationRow& row) -> Cell { return row.moves.page_rate; }},
};

constexpr Column<CnodeRow> kCnode[] = {
    kGroupName<CnodeRow>,
    kGroupId<CnodeRow>,
    kClientId<CnodeRow>,
    {"nodeID", [](const CnodeRow& row) -> Cell { return row.node; }},
    {"time", [](const CnodeRow& row) -> Cell { return row.time; }},
    {"timePct", [](const CnodeRow& row) -> Cell { return cell_of(row.time_pct); }},
    {"memory", [](const CnodeRow& row) -> Cell { return cell_of(row.memory_kb); }},
    {"memoryPct", [](const CnodeRow& row) -> Cell { return cell_of(row.memory_pct); }},
    {"anonMem", no_value<CnodeRow>},
    {"anonMemPct", no_value<CnodeRow>},
    {"avgEpochs", [](const CnodeRow& row) -> Cell { return cell_of(row.average_epochs); }},
    {"memMigHere", [](const CnodeRow& row) -> Cell { return row.memory_moves; }},
};

constexpr Column<LatencyRow> kLatency[] = {
    {"cpuNode", [](const LatencyRow& row) -> Cell { return row.cpu_node; }},
    {"memNode", [](const LatencyRow& row) -> Cell { return row.memory_node; }},
    {"readNs", [](const LatencyRow& row) -> Cell { return cell_of(row.read_ns); }, kNone},
    {"relative", [](const LatencyRow& row) -> Cell { return cell_of(row.relative); }, kNone},
    {"slit", [](const LatencyRow& row) -> Cell { return row.slit; }},
    {"hmatNs", [](const LatencyRow& row) -> Cell { return cell_of(row.hmat_ns); }, kNone},
    {"state", [](const LatencyRow& row) -> Cell { return row.state; }},
};

constexpr Column<GlobalRow> kGlobal[] = {
    {"name", [](const GlobalRow& row) -> Cell { return row.name; }},
    {"value", [](const GlobalRow& row) -> Cell { return cell_of(row.value); }},
};

/// Returns what scripts get in the columns of that name, in any table.
std::int64_t for_scripts(std::string_view name) {
  const auto value_in = [name](const auto& columns) -> std::int64_t {
    for (const auto& column : columns) {
      if (column.name == name) {
        return column.for_scripts;
      }
    }
    return 0;
  };
  return std::min(value_in(kClients), value_in(kLatency));
}

}  // namespace

Report pnode_table(std::span<const PnodeRow> rows) {
  return table<PnodeRow>("numa-pnode", rows, kPnode, kPnodeOfOurs);
}

Report client_table(std::span<const ClientRow> rows) {
  const bool all_have_homes_whole =
      std::all_of(rows.begin(), rows.end(), [](const ClientRow& row) { return row.cpus.empty(); });
  return all_have_homes_whole
             ? table<ClientRow>("numa-clients", rows, kClients, kVmNames<ClientRow>)
             : table<ClientRow>("numa-clients", rows, kClients, kClientNamesAndCpus);
}

Report migration_table(std::span<const MigrationRow> rows) {
  return table<MigrationRow>("numa-migration", rows, kMigration, kVmNames<MigrationRow>);
}

Report cnode_table(std::span<const CnodeRow> rows) {
  return table<CnodeRow>("numa-cnode", rows, kCnode, kVmNames<CnodeRow>);
}

Report latency_table(std::span<const LatencyRow> rows) {
  return table<LatencyRow>(kLatencyTable, rows, kLatency);
}

Report global_table(std::span<const GlobalRow> rows) {
  return table<GlobalRow>("numa-global", rows, kGlobal);
}

Report with_numbers_only(Report report) {
  for (std::vector<Cell>& row : report.rows) {
    for (std::size_t i = 0; i < std::min(row.size(), report.columns.size()); ++i) {
      if (std::holds_alternative<NoValue>(row[i])) {
        row[i] = for_scripts(report.columns[i]);
      }
    }
  }
  return report;
}

}  // namespace vmnuma::stats
