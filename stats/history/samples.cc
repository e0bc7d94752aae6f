// SPDX-License-Identifier: Apache-2.0
#include "stats/history/samples.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <SQLiteCpp/Statement.h>
#include <fmt/format.h>

#include "placement/model/text.h"
#include "stats/history/database.h"

namespace vmnuma::stats {
namespace {

using placement::Bytes;
using placement::CpuTime;
using placement::NodeId;
using placement::Permille;

std::int64_t to_kib(Bytes bytes) {
  return bytes.value / placement::kKiB.value;
}
Bytes from_kib(std::int64_t kib) {
  return placement::kKiB * kib;
}
std::int64_t to_ms(WallTime time) {
  return time.time_since_epoch().count();
}
WallTime from_ms(std::int64_t ms) {
  return WallTime(std::chrono::milliseconds(ms));
}

std::int64_t span_of(SampleSpan span) {
  switch (span) {
    case SampleSpan::kEpoch:
      return kEpochSpan;
    case SampleSpan::kMinute:
      return kMinuteSpan;
    case SampleSpan::kHour:
      return kHourSpan;
  }
  return kEpochSpan;
}

/// One resolution made from the next finer one.
struct Level {
  std::int64_t span;
  std::int64_t finer;
  std::int64_t length_ms;
};
constexpr Level kLevels[] = {{kMinuteSpan, kEpochSpan, 60'000},
                             {kHourSpan, kMinuteSpan, 3'600'000}};

void insert_nodes(SQLite::Database& database, const EpochRows& epoch) {
  SQLite::Statement insert(database,
                           "INSERT OR REPLACE INTO node_sample"
                           " VALUES (0, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  for (const NodeSampleRow& row : epoch.nodes) {
    insert.bind(1, to_ms(epoch.time));
    insert.bind(2, row.node.value);
    insert.bind(3, epoch.epoch_length.value);
    insert.bind(4, row.used.value);
    insert.bind(5, row.non_vm.value);
    insert.bind(6, row.capacity.value);
    insert.bind(7, row.demand.value);
    insert.bind(8, row.entitled.value);
    insert.bind(9, row.owed.value);
    insert.bind(10, row.load_average.value);
    insert.bind(11, row.vcpus);
    insert.bind(12, to_kib(row.free));
    insert.bind(13, to_kib(row.total));
    bind_or_null(insert, 14, row.threads.has_value(), row.threads.value_or(CpuTime{}).value);
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
                           "INSERT OR REPLACE INTO client_sample VALUES (0, ?, (SELECT number FROM "
                           "vm WHERE uuid = ?), ?, 1,"
                           " ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  const ClientSampleRow* previous = nullptr;
  for (const ClientSampleRow& row : epoch.clients) {
    const std::string uuid = placement::to_text(row.vm);
    if (previous == nullptr || previous->vm != row.vm) {
      vm.bind(1, uuid);
      vm.bind(2, row.vm_name);
      vm.bind(3, to_ms(epoch.time));
      vm.bind(4, row.vm_memory_mib);
      vm.bind(5, row.vm_shares);
      vm.bind(6, row.guest_os);
      vm.exec();
      vm.reset();
    }
    previous = &row;
    const MemorySplit memory = row.memory.value_or(MemorySplit{});
    insert.bind(1, to_ms(epoch.time));
    insert.bind(2, uuid);
    insert.bind(3, row.client);
    insert.bind(4, epoch.epoch_length.value);
    bind_or_null(insert, 5, row.home.value >= 0, row.home.value);
    insert.bind(6, row.vcpus);
    insert.bind(7, row.used.value);
    insert.bind(8, row.ready.value);
    insert.bind(9, row.demand.value);
    insert.bind(10, row.entitled.value);
    insert.bind(11, row.owed.value);
    bind_or_null(insert, 12, row.memory.has_value(), to_kib(memory.local));
    bind_or_null(insert, 13, row.memory.has_value(), to_kib(memory.remote));
    insert.exec();
    insert.reset();
  }
}

void insert_vms(SQLite::Database& database, const EpochRows& epoch) {
  SQLite::Statement insert(database,
                           "INSERT OR REPLACE INTO vm_sample SELECT 0, ?, number, 1, ?, ?, ?, ?"
                           " FROM vm WHERE uuid = ?");
  for (const VmSampleRow& row : epoch.vms) {
    insert.bind(1, to_ms(epoch.time));
    insert.bind(2, epoch.epoch_length.value);
    int column = 3;
    for (const auto& share :
         {row.pressure.cpu_some, row.pressure.memory_some, row.pressure.memory_full}) {
      bind_or_null(insert, column++, share.has_value(), share.value_or(Permille{}).value);
    }
    insert.bind(column, placement::to_text(row.vm));
    insert.exec();
    insert.reset();
  }
}

// The earliest row of `span` at or after `since_ms`. Where VMs have rows, clients have some.
std::optional<std::int64_t> first_at_or_after(SQLite::Database& database, std::int64_t span,
                                              std::int64_t since_ms) {
  std::optional<std::int64_t> first;
  for (const char* table : {"node_sample", "client_sample"}) {
    SQLite::Statement select(
        database,
        fmt::format("SELECT min(time_ms) FROM {} WHERE span = ? AND time_ms >= ?", table));
    select.bind(1, span);
    select.bind(2, since_ms);
    if (select.executeStep() && !select.isColumnNull(0)) {
      const std::int64_t found = select.getColumn(0).getInt64();
      first = std::min(first.value_or(found), found);
    }
  }
  return first;
}

// A row counts as often as it has epochs. An average that exists is kept: it was made from more.
constexpr std::string_view kAverageNodes =
    "INSERT OR IGNORE INTO node_sample"
    " SELECT :span, :begin, node, SUM(epochs), SUM(epoch_us * epochs) / SUM(epochs),"
    " SUM(used_us * epochs) / SUM(epochs), SUM(non_vm_us * epochs) / SUM(epochs),"
    " SUM(capacity_us * epochs) / SUM(epochs), SUM(demand_us * epochs) / SUM(epochs),"
    " SUM(entitled_us * epochs) / SUM(epochs), SUM(owed_us * epochs) / SUM(epochs),"
    " SUM(load_permille * epochs) / SUM(epochs), SUM(vcpus * epochs) / SUM(epochs),"
    " SUM(free_kib * epochs) / SUM(epochs), SUM(total_kib * epochs) / SUM(epochs),"
    " SUM(threads_us * epochs) / SUM(iif(threads_us IS NULL, 0, epochs))"
    " FROM node_sample WHERE span = :finer AND time_ms >= :begin AND time_ms < :end GROUP BY node";

// Memory is averaged over the rows in which it is known (NULL if none: x / 0 is NULL). `home` comes
// from the row that has max(time_ms): SQLite's rule for bare columns beside a single max(),
// lang_select.html.
constexpr std::string_view kAverageClients =
    "INSERT OR IGNORE INTO client_sample"
    " SELECT :span, :begin, vm, client, epochs, epoch_us, home, vcpus, used_us, ready_us, "
    "demand_us,"
    " entitled_us, owed_us, local_kib, remote_kib FROM ("
    "SELECT vm, client, max(time_ms), home, SUM(epochs) AS epochs,"
    " SUM(epoch_us * epochs) / SUM(epochs) AS epoch_us, SUM(vcpus * epochs) / SUM(epochs) AS vcpus,"
    " SUM(used_us * epochs) / SUM(epochs) AS used_us,"
    " SUM(ready_us * epochs) / SUM(epochs) AS ready_us,"
    " SUM(demand_us * epochs) / SUM(epochs) AS demand_us,"
    " SUM(entitled_us * epochs) / SUM(epochs) AS entitled_us,"
    " SUM(owed_us * epochs) / SUM(epochs) AS owed_us,"
    " SUM(local_kib * epochs) / SUM(iif(local_kib IS NULL, 0, epochs)) AS local_kib,"
    " SUM(remote_kib * epochs) / SUM(iif(remote_kib IS NULL, 0, epochs)) AS remote_kib"
    " FROM client_sample WHERE span = :finer AND time_ms >= :begin AND time_ms < :end"
    " GROUP BY vm, client)";

// As memory of clients: over the rows in which it is known.
constexpr std::string_view kAverageVms =
    "INSERT OR IGNORE INTO vm_sample"
    " SELECT :span, :begin, vm, SUM(epochs), SUM(epoch_us * epochs) / SUM(epochs),"
    " SUM(cpu_some_permille * epochs) / SUM(iif(cpu_some_permille IS NULL, 0, epochs)),"
    " SUM(memory_some_permille * epochs) / SUM(iif(memory_some_permille IS NULL, 0, epochs)),"
    " SUM(memory_full_permille * epochs) / SUM(iif(memory_full_permille IS NULL, 0, epochs))"
    " FROM vm_sample WHERE span = :finer AND time_ms >= :begin AND time_ms < :end GROUP BY vm";

void average(SQLite::Database& database, const Level& level, std::int64_t begin_ms) {
  for (const std::string_view query : {kAverageNodes, kAverageClients, kAverageVms}) {
    SQLite::Statement insert(database, std::string(query));
    insert.bind(":span", level.span);
    insert.bind(":finer", level.finer);
    insert.bind(":begin", begin_ms);
    insert.bind(":end", begin_ms + level.length_ms);
    insert.exec();
  }
}

// Once an hour is enough: a VM's name is needed for as long as its hours are kept.
void note_vms_seen(SQLite::Database& database, std::int64_t begin_ms, std::int64_t end_ms) {
  SQLite::Statement update(
      database,
      "UPDATE vm SET last_seen_ms = :end WHERE last_seen_ms < :end AND number IN"
      " (SELECT vm FROM client_sample WHERE span = 60 AND time_ms >= :begin AND"
      " time_ms < :end)");
  update.bind(":begin", begin_ms);
  update.bind(":end", end_ms);
  update.exec();
}

void set_averaged_until(SQLite::Database& database, const Level& level, std::int64_t until_ms) {
  SQLite::Statement update(database, "UPDATE averaged SET until_ms = ? WHERE span = ?");
  update.bind(1, until_ms);
  update.bind(2, level.span);
  update.exec();
}

}  // namespace

void insert_epoch(SQLite::Database& database, const EpochRows& epoch) {
  insert_nodes(database, epoch);
  insert_clients(database, epoch);
  insert_vms(database, epoch);
}

std::int64_t averaged_until_ms(SQLite::Database& database, std::int64_t span) {
  for (const Level& level : kLevels) {
    if (level.finer == span) {
      SQLite::Statement select(database, "SELECT until_ms FROM averaged WHERE span = ?");
      select.bind(1, level.span);
      return select.executeStep() ? select.getColumn(0).getInt64() : 0;
    }
  }
  return std::numeric_limits<std::int64_t>::max();
}

void make_averages(SQLite::Database& database, std::int64_t now_ms) {
  std::int64_t complete_ms = now_ms;  // all finer rows before this are there
  for (const Level& level : kLevels) {
    const std::int64_t stored_ms = averaged_until_ms(database, level.finer);
    std::int64_t until_ms = stored_ms;
    if (until_ms > complete_ms) {  // the clock went back; this time is lived through again
      until_ms = complete_ms - complete_ms % level.length_ms;
    }
    if (const auto first = first_at_or_after(database, level.finer, until_ms)) {
      const std::int64_t begin_ms = *first - *first % level.length_ms;
      const std::int64_t end_ms = begin_ms + level.length_ms;
      if (end_ms <= complete_ms) {
        average(database, level, begin_ms);
        if (level.span == kHourSpan) {
          note_vms_seen(database, begin_ms, end_ms);
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
  SQLite::Statement select(
      database,
      "SELECT time_ms, epochs, epoch_us, node, used_us, non_vm_us, capacity_us, demand_us, "
      "entitled_us,"
      " owed_us, load_permille, vcpus, free_kib, total_kib, threads_us FROM node_sample"
      " WHERE span = ? AND time_ms >= ? AND time_ms < ? AND ifnull(node = ?, 1)"
      " ORDER BY time_ms, node LIMIT ?");
  select.bind(1, span_of(filter.span));
  select.bind(2, to_ms(filter.since));
  select.bind(3, to_ms(filter.until));
  bind_or_null(select, 4, filter.node.has_value(), filter.node.value_or(NodeId{}).value);
  select.bind(5, filter.limit);
  std::vector<Kept<NodeSampleRow>> samples;
  while (select.executeStep()) {
    int column = 0;
    const auto integer = [&] { return select.getColumn(column++).getInt64(); };
    Kept<NodeSampleRow>& kept = samples.emplace_back();
    kept.time = from_ms(integer());
    kept.epochs = integer();
    kept.epoch_length = {integer()};
    kept.row.node = {static_cast<std::int32_t>(integer())};
    kept.row.used = CpuTime{integer()};
    kept.row.non_vm = CpuTime{integer()};
    kept.row.capacity = CpuTime{integer()};
    kept.row.demand = CpuTime{integer()};
    kept.row.entitled = CpuTime{integer()};
    kept.row.owed = CpuTime{integer()};
    kept.row.load_average = Permille{integer()};
    kept.row.vcpus = static_cast<std::int32_t>(integer());
    kept.row.free = from_kib(integer());
    kept.row.total = from_kib(integer());
    if (!select.isColumnNull(column)) {
      kept.row.threads = CpuTime{integer()};
    }
  }
  return samples;
}

Result<std::vector<Kept<ClientSampleRow>>> read_client_samples(SQLite::Database& database,
                                                               const SampleFilter& filter) {
  SQLite::Statement select(
      database,
      "SELECT time_ms, epochs, epoch_us, uuid, name, memory_mib, shares, guest_os, client, home,"
      " vcpus, used_us, ready_us, demand_us,"
      " entitled_us, owed_us, local_kib, remote_kib FROM client_sample JOIN vm ON vm.number = vm"
      " WHERE span = ? AND time_ms >= ? AND time_ms < ? AND ifnull(uuid = ?, 1)"
      " ORDER BY time_ms, vm, client LIMIT ?");
  select.bind(1, span_of(filter.span));
  select.bind(2, to_ms(filter.since));
  select.bind(3, to_ms(filter.until));
  bind_or_null(select, 4, filter.vm.has_value(),
               placement::to_text(filter.vm.value_or(placement::VmId{})));
  select.bind(5, filter.limit);
  std::vector<Kept<ClientSampleRow>> samples;
  while (select.executeStep()) {
    const auto vm = placement::parse_vm_id(select.getColumn(3).getString());
    if (!vm) {
      return failure(ErrorCode::kCorrupt, vm.error().message);
    }
    int column = 0;
    const auto integer = [&] { return select.getColumn(column++).getInt64(); };
    Kept<ClientSampleRow>& kept = samples.emplace_back();
    kept.time = from_ms(integer());
    kept.epochs = integer();
    kept.epoch_length = {integer()};
    kept.row.vm = *vm;
    kept.row.vm_name = select.getColumn(4).getString();
    kept.row.vm_memory_mib = select.getColumn(5).getInt64();
    kept.row.vm_shares = select.getColumn(6).getInt64();
    kept.row.guest_os = select.getColumn(7).getString();
    column = 8;
    kept.row.client = static_cast<std::int32_t>(integer());
    kept.row.home =
        select.isColumnNull(column) ? NodeId{} : NodeId{select.getColumn(column).getInt()};
    ++column;
    kept.row.vcpus = static_cast<std::int32_t>(integer());
    kept.row.used = CpuTime{integer()};
    kept.row.ready = CpuTime{integer()};
    kept.row.demand = CpuTime{integer()};
    kept.row.entitled = CpuTime{integer()};
    kept.row.owed = CpuTime{integer()};
    if (!select.isColumnNull(column)) {
      MemorySplit& memory = kept.row.memory.emplace();
      memory.local = from_kib(integer());
      memory.remote = from_kib(integer());
    }
  }
  return samples;
}

Result<std::vector<Kept<VmSampleRow>>> read_vm_samples(SQLite::Database& database,
                                                       const SampleFilter& filter) {
  SQLite::Statement select(
      database,
      "SELECT time_ms, epochs, epoch_us, uuid, cpu_some_permille, memory_some_permille,"
      " memory_full_permille FROM vm_sample JOIN vm ON vm.number = vm"
      " WHERE span = ? AND time_ms >= ? AND time_ms < ? AND ifnull(uuid = ?, 1)"
      " ORDER BY time_ms, vm LIMIT ?");
  select.bind(1, span_of(filter.span));
  select.bind(2, to_ms(filter.since));
  select.bind(3, to_ms(filter.until));
  bind_or_null(select, 4, filter.vm.has_value(),
               placement::to_text(filter.vm.value_or(placement::VmId{})));
  select.bind(5, filter.limit);
  const auto share = [&select](int column) {
    return select.isColumnNull(column)
               ? std::nullopt
               : std::optional(Permille{select.getColumn(column).getInt64()});
  };
  std::vector<Kept<VmSampleRow>> samples;
  while (select.executeStep()) {
    const auto vm = placement::parse_vm_id(select.getColumn(3).getString());
    if (!vm) {
      return failure(ErrorCode::kCorrupt, vm.error().message);
    }
    samples.push_back({from_ms(select.getColumn(0).getInt64()),
                       select.getColumn(1).getInt64(),
                       {select.getColumn(2).getInt64()},
                       {*vm, {share(4), share(5), share(6)}}});
  }
  return samples;
}

std::string demand_query(std::int64_t span) {
  // `span > 0` is what lets SQLite use the partial index; left alone it would prefer the primary
  // key.
  return fmt::format(
      "SELECT SUM(demand_us) * 1000 / SUM(vcpus * epoch_us) FROM client_sample INDEXED BY "
      "demand_by_vm"
      " WHERE vm = (SELECT number FROM vm WHERE uuid = ?) AND span > 0 AND span = {} GROUP BY "
      "time_ms",
      span);
}

std::optional<Permille> read_cpu_p95(SQLite::Database& database, const placement::VmId& vm) {
  for (const std::int64_t span : {kMinuteSpan, kHourSpan}) {
    SQLite::Statement select(database, demand_query(span));
    select.bind(1, placement::to_text(vm));
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
