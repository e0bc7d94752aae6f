// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/history/rows.h"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

#include "placement/model/text.h"
#include "stats/history/columns.h"
#include "stats/history/database.h"
#include "stats/history/samples.h"

namespace vmnuma::stats::tests {

WallTime at(std::chrono::milliseconds since) {
  return WallTime(std::chrono::sys_days(std::chrono::year(2024) / 1 / 1)) + since;
}

VmId vm_id(std::uint8_t number) {
  VmId id;
  id.uuid.back() = number;
  return id;
}

EpochRows epoch_at(WallTime time, std::int64_t used_us) {
  EpochRows epoch{.time = time, .epoch_length = {2'000'000}, .nodes = {}, .clients = {}};
  for (std::int32_t node = 0; node < 2; ++node) {
    epoch.nodes.push_back({.node = {node},
                           .used = CpuTime{used_us / (node + 1)},
                           .non_vm = CpuTime{1000},
                           .capacity = CpuTime{8'000'000},
                           .demand = CpuTime{used_us / (node + 1) + 100},
                           .entitled = CpuTime{used_us},
                           .owed = CpuTime{100},
                           .load_average = Permille{125},
                           .vcpus = 4,
                           .free = kGiB * 5,
                           .total = kGiB * 16,
                           .threads = CpuTime{16'000'000}});
  }
  return epoch;
}

ClientSampleRow client_row(std::uint8_t vm, std::int32_t client, std::int64_t demand_us) {
  return {.vm = vm_id(vm),
          .vm_name = "vm" + std::to_string(vm),
          .vm_memory_mib = 4096,
          .vm_shares = 200,
          .guest_os = "http://debian.org/debian/12",
          .client = client,
          .home = {1},
          .vcpus = 4,
          .used = CpuTime{demand_us / 2},
          .ready = CpuTime{demand_us - demand_us / 2},
          .demand = CpuTime{demand_us},
          .entitled = CpuTime{demand_us},
          .owed = CpuTime{demand_us - demand_us / 2},
          .memory = MemorySplit{kGiB * 3, kGiB}};
}

ActionRow action_row(std::int64_t id, WallTime time) {
  return {
      .id = id,
      .time = time,
      .epoch = 17,
      .reason = "load-move",
      .relocations =
          {{.vm = vm_id(1), .vm_name = "vm1", .client = 0, .from = {0}, .to = {1}, .memory = kGiB}},
      .predicted = {.lost_before = CpuTime{900'000},
                    .lost_after = CpuTime{100'000},
                    .cost = CpuTime{50'000},
                    .imbalance_before = Permille{300},
                    .imbalance_after = Permille{40},
                    .locality_before = Permille{1000},
                    .locality_after = Permille{0}},
      .order_text = "{\"action\":" + std::to_string(id) + "}"};
}

void HistoryTest::reopen() {
  history_.reset();
  auto opened = History::open(options_);
  ASSERT_TRUE(opened) << opened.error().message;
  history_ = std::move(*opened);
}

History& HistoryTest::history() {
  if (!history_) {
    reopen();
  }
  return *history_;
}

std::int64_t HistoryTest::number(const std::string& query) const {
  SQLite::Database database(file(), SQLite::OPEN_READONLY);
  return database.execAndGet(query).getInt64();
}

std::vector<Kept<NodeSampleRow>> HistoryTest::stored_nodes(const SampleFilter& filter) const {
  SQLite::Database database(file(), SQLite::OPEN_READONLY);
  return read_node_samples(database, filter);
}

std::vector<Kept<ClientSampleRow>> HistoryTest::stored_clients(SampleSpan span) const {
  SQLite::Database database(file(), SQLite::OPEN_READONLY);
  SQLite::Statement select = prepare(
      database,
      "SELECT time_ms, epochs, epoch_us, uuid, name, memory_mib, shares, guest_os, client, " +
          column_names<ClientSampleRow>() +
          " FROM client_sample JOIN vm ON vm.number = vm WHERE span = ?"
          " ORDER BY time_ms, vm, client",
      span);
  std::vector<Kept<ClientSampleRow>> samples;
  while (select.executeStep()) {
    Kept<ClientSampleRow>& kept = samples.emplace_back();
    kept.time = WallTime(std::chrono::milliseconds(select.getColumn(0).getInt64()));
    kept.epochs = select.getColumn(1).getInt64();
    kept.epoch_length = {select.getColumn(2).getInt64()};
    kept.row.vm = parse_vm_id(select.getColumn(3).getString()).value();
    kept.row.vm_name = select.getColumn(4).getString();
    kept.row.vm_memory_mib = select.getColumn(5).getInt64();
    kept.row.vm_shares = select.getColumn(6).getInt64();
    kept.row.guest_os = select.getColumn(7).getString();
    kept.row.client = select.getColumn(8).getInt();
    read_columns(select, 9, kept.row);
  }
  return samples;
}

}  // namespace vmnuma::stats::tests
