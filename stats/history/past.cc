// SPDX-License-Identifier: Apache-2.0
#include "stats/history/past.h"

#include <fmt/format.h>

#include "stats/history/actions.h"
#include "stats/history/columns.h"
#include "stats/history/database.h"
#include "stats/history/read_only.h"
#include "stats/history/samples.h"

namespace vmnuma::stats {
namespace {

SampleSpan span_for(std::chrono::milliseconds length) {
  if (length <= std::chrono::hours(1)) {
    return SampleSpan::kEpoch;
  }
  return length <= std::chrono::days(2) ? SampleSpan::kMinute : SampleSpan::kHour;
}

std::vector<LocalityPoint> read_locality(SQLite::Database& database, const SampleFilter& filter) {
  SQLite::Statement select = prepare(
      database,
      "SELECT time_ms, sum(local_kib), sum(remote_kib) FROM client_sample"
      " WHERE span = ? AND time_ms >= ? AND time_ms < ?"
      " AND local_kib IS NOT NULL AND home IS NOT NULL GROUP BY time_ms ORDER BY time_ms LIMIT ?",
      filter.span, to_ms(filter.since), to_ms(filter.until), filter.limit);
  std::vector<LocalityPoint> points;
  while (select.executeStep()) {
    points.push_back({WallTime(std::chrono::milliseconds(select.getColumn(0).getInt64())),
                      Bytes{select.getColumn(1).getInt64() * kKiB.value},
                      Bytes{select.getColumn(2).getInt64() * kKiB.value}});
  }
  return points;
}

/// Returns false for a column that the daemon lacks because it is older than this program.
bool has_column(SQLite::Database& database, std::string_view table, std::string_view name) {
  return prepare(database, "SELECT 1 FROM pragma_table_info(?) WHERE name = ?", table, name)
      .executeStep();
}

std::vector<VmPast> read_vms(SQLite::Database& database, const SampleFilter& filter) {
  using Table = SampleTable<VmSampleRow>;
  // avg() ignores NULLs, and is NULL if all values are.
  SQLite::Statement select = prepare(
      database,
      fmt::format(
          "SELECT name, uuid, {} FROM {} JOIN vm ON vm.number = vm"
          " WHERE span = ? AND time_ms >= ? AND time_ms < ? GROUP BY vm ORDER BY name, uuid",
          column_list<VmSampleRow>([&](const Column<VmSampleRow>& column) {
            return has_column(database, Table::kName, column.name)
                       ? fmt::format("CAST(avg({}) AS INTEGER)", column.name)
                       : std::string("NULL");
          }),
          Table::kName),
      filter.span, to_ms(filter.since), to_ms(filter.until));
  std::vector<VmPast> vms;
  while (select.executeStep()) {
    VmSampleRow row;
    read_columns(select, 2, row);
    vms.push_back({select.getColumn(0).getString(), select.getColumn(1).getString(), row.figures});
  }
  return vms;
}

Result<Past> read(SQLite::Database& database, WallTime since, WallTime until) {
  // All reads see the same state of the file.
  SQLite::Transaction transaction(database);
  const SampleFilter filter{.span = span_for(until - since), .since = since, .until = until};
  Past past;
  past.span = filter.span;
  past.nodes = read_node_samples(database, filter);
  past.locality = read_locality(database, filter);
  past.vms = read_vms(database, filter);
  ActionFilter actions;
  actions.since = since;
  actions.limit = kMostPastActions;
  VMNUMA_ASSIGN_OR_RETURN(auto found, recent_actions(database, actions));
  past.actions = std::move(found);
  return past;
}

}  // namespace

Result<Past> read_past(const std::filesystem::path& path, WallTime since, WallTime until) {
  return read_from(path, [&](SQLite::Database& database) { return read(database, since, until); });
}

}  // namespace vmnuma::stats
