// SPDX-License-Identifier: Apache-2.0
#include "stats/history/history.h"

#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "placement/model/text.h"
#include "stats/history/database.h"
#include "stats/history/retention.h"
#include "stats/history/samples.h"
#include "stats/history/store.h"

namespace vmnuma::stats {
namespace {

constexpr std::int64_t kLeastBytes = std::int64_t{1} << 20;
// The log stays near 4 MiB unless a long read keeps it from being merged into the file.
constexpr std::uintmax_t kMostLogBytes = std::uintmax_t{64} << 20;

}  // namespace

History::History(std::unique_ptr<Store> store) : store_(std::move(store)) {}
History::~History() = default;

Result<std::unique_ptr<History>> History::open(const HistoryOptions& options) {
  if (options.max_bytes < kLeastBytes) {
    return failure(ErrorCode::kInvalidArgument,
                   fmt::format("the history needs at least {} bytes, {} are too few", kLeastBytes,
                               options.max_bytes));
  }
  std::error_code error;
  const std::filesystem::path path = std::filesystem::absolute(options.path, error);
  if (error || !path.has_filename()) {
    return failure(ErrorCode::kInvalidArgument,
                   fmt::format("'{}' is not the path of a file", options.path.string()),
                   error.value());
  }
  VMNUMA_ASSIGN_OR_RETURN(OpenedDatabase opened, open_database(path, options.is_damaged));
  return std::unique_ptr<History>(
      new History(std::unique_ptr<Store>(new Store{{path, options.max_bytes, options.kept},
                                                   std::move(opened.notice),
                                                   {},
                                                   std::move(opened.database)})));
}

const std::filesystem::path& History::path() const {
  return store_->options.path;
}
const std::string& History::notice() const {
  return store_->notice;
}
bool History::is_damaged() const {
  return store_->is_damaged;
}

Result<void> History::record_reservation_event(const ReservationEventRow& event) {
  return store_->write(
      "record what happened to a reservation", Outlive::kProcess,
      [&](SQLite::Database& database) -> Result<void> {
        execute(database,
                "INSERT INTO reservation_event (time_ms, reservation, what, vm, vm_name,"
                " memory_bytes, detail) VALUES (?, ?, ?, ?, ?, ?, ?)",
                to_ms(event.time), event.reservation, event.what, event.vm_uuid, event.vm_name,
                event.memory.value, event.detail);
        return {};
      });
}

Result<std::vector<ReservationEventRow>> History::reservation_events(
    const ReservationEventFilter& filter) {
  return store_->run(
      "read what happened to reservations",
      [&](SQLite::Database& database) -> Result<std::vector<ReservationEventRow>> {
        SQLite::Statement select = prepare(
            database,
            "SELECT time_ms, reservation, what, vm, vm_name, memory_bytes, detail"
            " FROM reservation_event WHERE time_ms >= ?1 AND (?2 = '' OR reservation = ?2)"
            " ORDER BY number DESC LIMIT ?3",
            to_ms(filter.since.value_or(WallTime::min())), filter.reservation, filter.limit);
        std::vector<ReservationEventRow> events;
        while (select.executeStep()) {
          events.push_back(
              {.time = WallTime(std::chrono::milliseconds(select.getColumn(0).getInt64())),
               .reservation = select.getColumn(1).getString(),
               .what = select.getColumn(2).getString(),
               .vm_uuid = select.getColumn(3).getString(),
               .vm_name = select.getColumn(4).getString(),
               .memory = Bytes{select.getColumn(5).getInt64()},
               .detail = select.getColumn(6).getString()});
        }
        return events;
      });
}

Result<void> History::append_epoch(const EpochRows& epoch) {
  return store_->run("record an epoch", [&](SQLite::Database& database) -> Result<void> {
    std::error_code no_log;
    const std::uintmax_t log_bytes =
        std::filesystem::file_size(store_->options.path.string() + "-wal", no_log);
    if (!no_log && log_bytes > kMostLogBytes &&
        database.execAndGet("PRAGMA wal_checkpoint(TRUNCATE)").getInt() != 0) {
      return failure(
          ErrorCode::kBusy,
          fmt::format("the log '{}-wal' has {} bytes because another program has been reading"
                      " the history for long; epochs are not kept until it ends",
                      store_->options.path.string(), log_bytes));
    }
    const std::int64_t now_ms = epoch.time.time_since_epoch().count();
    SQLite::Transaction transaction = begin_write(database, Outlive::kProcess);
    prune(database, now_ms, store_->options);
    insert_epoch(database, epoch);
    make_averages(database, now_ms);
    transaction.commit();
    return {};
  });
}

Result<std::optional<Permille>> History::cpu_p95_permille(const VmId& vm) {
  return store_->run("read a VM's demand",
                     [&](SQLite::Database& database) -> Result<std::optional<Permille>> {
                       return read_cpu_p95(database, vm);
                     });
}

Result<void> History::save_home(const VmId& vm, std::int32_t client, NodeId node) {
  return store_->write("record a home", Outlive::kProcess,
                       [&](SQLite::Database& database) -> Result<void> {
                         execute(database, "INSERT OR REPLACE INTO home VALUES (?, ?, ?)",
                                 to_text(vm), client, node.value);
                         return {};
                       });
}

Result<void> History::forget_homes(const VmId& vm) {
  return store_->write("forget homes", Outlive::kProcess,
                       [&](SQLite::Database& database) -> Result<void> {
                         execute(database, "DELETE FROM home WHERE vm = ?", to_text(vm));
                         return {};
                       });
}

Result<std::vector<HomeRow>> History::load_homes() {
  return store_->run(
      "read the homes", [](SQLite::Database& database) -> Result<std::vector<HomeRow>> {
        SQLite::Statement select(database, "SELECT vm, client, node FROM home ORDER BY vm, client");
        std::vector<HomeRow> homes;
        while (select.executeStep()) {
          VMNUMA_ASSIGN_OR_RETURN(const VmId vm, vm_id_of(select.getColumn(0)));
          homes.push_back({vm, select.getColumn(1).getInt(), {select.getColumn(2).getInt()}});
        }
        return homes;
      });
}

Result<std::optional<std::string>> History::meta(std::string_view key) {
  return store_->run(
      "read a note", [&](SQLite::Database& database) -> Result<std::optional<std::string>> {
        SQLite::Statement select = prepare(database, "SELECT value FROM meta WHERE key = ?", key);
        if (!select.executeStep()) {
          return std::nullopt;
        }
        return select.getColumn(0).getString();
      });
}

Result<void> History::set_meta(std::string_view key, std::string_view value) {
  return store_->write("record a note", Outlive::kProcess,
                       [&](SQLite::Database& database) -> Result<void> {
                         execute(database, "INSERT OR REPLACE INTO meta VALUES (?, ?)", key, value);
                         return {};
                       });
}

}  // namespace vmnuma::stats
