// SPDX-License-Identifier: Apache-2.0
#include "stats/history/samples.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "placement/model/text.h"
#include "stats/history/columns.h"
#include "stats/history/database.h"

namespace vmnuma::stats {
namespace {

/// One resolution, computed from the next finer one.
struct Level {
  SampleSpan span;
  SampleSpan finer;
  std::int64_t length_ms;
};
constexpr Level kLevels[] = {{SampleSpan::kMinute, SampleSpan::kEpoch, 60'000},
                             {SampleSpan::kHour, SampleSpan::kMinute, 3'600'000}};

/// Returns the statement that inserts an epoch's row. The first parameters are the time, the
/// epoch's length and the columns; the next one is used by `key` and `from`.
template <class Row>
std::string insert_text(std::string_view key, std::string_view from) {
  return fmt::format(
      "INSERT OR REPLACE INTO {} (span, time_ms, epochs, epoch_us, {}, {})"
      " SELECT 0, ?, 1, ?, {}, {}{}",
      SampleTable<Row>::kName, column_names<Row>(), SampleTable<Row>::kKey,
      column_list<Row>([](const auto& /*any*/) { return "?"; }), key, from);
}

/// Binds everything except the row's key, and returns the index of the key's parameter.
template <class Row>
int bind_row(SQLite::Statement& insert, const EpochRows& epoch, const Row& row) {
  insert.bind(1, to_ms(epoch.time));
  insert.bind(2, epoch.epoch_length.value);
  int index = 3;
  for (const Column<Row>& column : SampleTable<Row>::kColumns) {
    bind_one(insert, index++, column.get(row));
  }
  return index;
}

void insert_nodes(SQLite::Database& database, const EpochRows& epoch) {
  SQLite::Statement insert(database, insert_text<NodeSampleRow>("?", ""));
  for (const NodeSampleRow& row : epoch.nodes) {
    insert.bind(bind_row(insert, epoch, row), row.node.value);
    insert.exec();
    insert.reset();
  }
}

void insert_clients(SQLite::Database& database, const EpochRows& epoch) {
  SQLite::Statement vm(database,
                       "INSERT INTO vm (uuid, name, last_seen_ms, memory_mib, shares, guest_os)"
                       " VALUES (?, ?, ?, ?, ?, ?)"
                       " ON CONFLICT (uuid) DO UPDATE SET name = excluded.name,"
                       " memory_mib = excluded.memory_mib, shares = excluded.shares,"
                       " guest_os = excluded.guest_os"
                       " WHERE (name, memory_mib, shares, guest_os) <>"
                       " (excluded.name, excluded.memory_mib, excluded.shares, excluded.guest_os)");
  SQLite::Statement insert(database,
                           insert_text<ClientSampleRow>("number, ?", " FROM vm WHERE uuid = ?"));
  const ClientSampleRow* previous = nullptr;
  for (const ClientSampleRow& row : epoch.clients) {
    const std::string uuid = to_text(row.vm);
    if (previous == nullptr || previous->vm != row.vm) {
      bind_all(vm, uuid, row.vm_name, to_ms(epoch.time), row.vm_memory_mib, row.vm_shares,
               row.guest_os);
      vm.exec();
      vm.reset();
    }
    previous = &row;
    const int index = bind_row(insert, epoch, row);
    insert.bind(index, row.client);
    insert.bind(index + 1, uuid);
    insert.exec();
    insert.reset();
  }
}

void insert_vms(SQLite::Database& database, const EpochRows& epoch) {
  SQLite::Statement insert(database, insert_text<VmSampleRow>("number", " FROM vm WHERE uuid = ?"));
  for (const VmSampleRow& row : epoch.vms) {
    insert.bind(bind_row(insert, epoch, row), to_text(row.vm));
    insert.exec();
    insert.reset();
  }
}

// Returns the time of the earliest row of `span` at or after `since_ms`. The table of VMs need not
// be searched: whenever VMs have rows, clients do, too.
std::optional<std::int64_t> first_at_or_after(SQLite::Database& database, SampleSpan span,
                                              std::int64_t since_ms) {
  std::optional<std::int64_t> first;
  for (const char* table : {"node_sample", "client_sample"}) {
    SQLite::Statement select = prepare(
        database, fmt::format("SELECT min(time_ms) FROM {} WHERE span = ? AND time_ms >= ?", table),
        span, since_ms);
    if (select.executeStep() && !select.isColumnNull(0)) {
      const std::int64_t found = select.getColumn(0).getInt64();
      first = std::min(first.value_or(found), found);
    }
  }
  return first;
}

/// Computes averages. A row is weighted by its epochs, and unknown values do not count; if none is
/// known, the average is NULL, because x / 0 is NULL. An existing average is kept, because it was
/// computed from more rows. The latest value is taken from the row with max(time_ms), by SQLite's
/// rule for bare columns next to a single max() (lang_select.html). Parameters: the span, the finer
/// one, the begin and the end.
template <class Row>
std::string average_text() {
  using Table = SampleTable<Row>;
  const std::string values = column_list<Row>([](const Column<Row>& column) {
    return column.latest
               ? std::string(column.name)
               : fmt::format("SUM({0} * epochs) / SUM(iif({0} IS NULL, 0, epochs)) AS {0}",
                             column.name);
  });
  return fmt::format(
      "INSERT OR IGNORE INTO {0} (span, time_ms, epochs, epoch_us, {1}, {2})"
      " SELECT ?1, ?3, epochs, epoch_us, {1}, {2} FROM ("
      "SELECT max(time_ms), {2}, SUM(epochs) AS epochs,"
      " SUM(epoch_us * epochs) / SUM(epochs) AS epoch_us, {3} FROM {0}"
      " WHERE span = ?2 AND time_ms >= ?3 AND time_ms < ?4 GROUP BY {2})",
      Table::kName, column_names<Row>(), Table::kKey, values);
}

void average(SQLite::Database& database, const Level& level, std::int64_t begin_ms) {
  for (const std::string& query : {average_text<NodeSampleRow>(), average_text<ClientSampleRow>(),
                                   average_text<VmSampleRow>()}) {
    execute(database, query, level.span, level.finer, begin_ms, begin_ms + level.length_ms);
  }
}

// Called once an hour, which is sufficient: a VM's name is needed as long as its hours are kept.
void record_vms_seen(SQLite::Database& database, std::int64_t begin_ms, std::int64_t end_ms) {
  execute(database,
          "UPDATE vm SET last_seen_ms = ?2 WHERE last_seen_ms < ?2 AND number IN (SELECT vm FROM"
          " client_sample WHERE span = 60 AND time_ms >= ?1 AND time_ms < ?2)",
          begin_ms, end_ms);
}

void set_averaged_until(SQLite::Database& database, const Level& level, std::int64_t until_ms) {
  execute(database, "UPDATE averaged SET until_ms = ? WHERE span = ?", until_ms, level.span);
}

}  // namespace

void insert_epoch(SQLite::Database& database, const EpochRows& epoch) {
  insert_nodes(database, epoch);
  insert_clients(database, epoch);
  insert_vms(database, epoch);
}

std::int64_t averaged_until_ms(SQLite::Database& database, SampleSpan span) {
  for (const Level& level : kLevels) {
    if (level.finer == span) {
      SQLite::Statement select =
          prepare(database, "SELECT until_ms FROM averaged WHERE span = ?", level.span);
      return select.executeStep() ? select.getColumn(0).getInt64() : 0;
    }
  }
  return std::numeric_limits<std::int64_t>::max();
}

void make_averages(SQLite::Database& database, std::int64_t now_ms) {
  std::int64_t complete_ms = now_ms;  // all finer rows before this time exist
  for (const Level& level : kLevels) {
    const std::int64_t stored_ms = averaged_until_ms(database, level.finer);
    std::int64_t until_ms = stored_ms;
    if (until_ms > complete_ms) {  // the clock was set back; this time is repeated
      until_ms = complete_ms - complete_ms % level.length_ms;
    }
    if (const auto first = first_at_or_after(database, level.finer, until_ms)) {
      const std::int64_t begin_ms = *first - *first % level.length_ms;
      const std::int64_t end_ms = begin_ms + level.length_ms;
      if (end_ms <= complete_ms) {
        average(database, level, begin_ms);
        if (level.span == SampleSpan::kHour) {
          record_vms_seen(database, begin_ms, end_ms);
        }
        until_ms = end_ms;
      }
    }
    if (until_ms != stored_ms) {
      set_averaged_until(database, level, until_ms);
    }
    complete_ms = until_ms;
  }
}

std::vector<Kept<NodeSampleRow>> read_node_samples(SQLite::Database& database,
                                                   const SampleFilter& filter) {
  SQLite::Statement select = prepare(
      database,
      fmt::format("SELECT node, time_ms, epochs, epoch_us, {} FROM node_sample"
                  " WHERE span = ? AND time_ms >= ? AND time_ms < ? ORDER BY time_ms, node LIMIT ?",
                  column_names<NodeSampleRow>()),
      filter.span, to_ms(filter.since), to_ms(filter.until), filter.limit);
  std::vector<Kept<NodeSampleRow>> samples;
  while (select.executeStep()) {
    Kept<NodeSampleRow>& kept = samples.emplace_back();
    kept.row.node = {select.getColumn(0).getInt()};
    kept.time = WallTime(std::chrono::milliseconds(select.getColumn(1).getInt64()));
    kept.epochs = select.getColumn(2).getInt64();
    kept.epoch_length = {select.getColumn(3).getInt64()};
    read_columns(select, 4, kept.row);
  }
  return samples;
}

std::string demand_query(SampleSpan span) {
  // `span > 0` lets SQLite use the partial index; without it SQLite would prefer the primary key.
  return fmt::format(
      "SELECT SUM(demand_us) * 1000 / SUM(vcpus * epoch_us) FROM client_sample INDEXED BY "
      "demand_by_vm"
      " WHERE vm = (SELECT number FROM vm WHERE uuid = ?) AND span > 0 AND span = {} GROUP BY "
      "time_ms",
      static_cast<std::int64_t>(span));
}

std::optional<Permille> read_cpu_p95(SQLite::Database& database, const VmId& vm) {
  for (const SampleSpan span : {SampleSpan::kMinute, SampleSpan::kHour}) {
    SQLite::Statement select = prepare(database, demand_query(span), to_text(vm));
    std::vector<std::int64_t> demands;
    while (select.executeStep()) {
      if (!select.isColumnNull(0)) {
        demands.push_back(std::min<std::int64_t>(select.getColumn(0).getInt64(), 1000));
      }
    }
    if (!demands.empty()) {
      const std::size_t rank = (demands.size() * 95 + 99) / 100;  // rounded up, from 1
      const auto found = demands.begin() + static_cast<std::ptrdiff_t>(rank - 1);
      std::nth_element(demands.begin(), found, demands.end());
      return Permille{*found};
    }
  }
  return std::nullopt;
}

}  // namespace vmnuma::stats
