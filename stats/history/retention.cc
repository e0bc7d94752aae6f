// SPDX-License-Identifier: Apache-2.0
#include "stats/history/retention.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>

#include <SQLiteCpp/Statement.h>
#include <fmt/format.h>

#include "stats/history/samples.h"

namespace vmnuma::stats {
namespace {

// The sizes of a slice. An epoch adds the rows of one epoch and at most those of one minute and one
// hour, so these limits delete faster than rows are added.
constexpr int kTimesPerSlice = 4;
constexpr int kActionsPerSlice = 16;
constexpr int kVmsPerSlice = 16;
constexpr int kRoundsForBytes = 8;
constexpr int kPagesPerVacuum = 256;

std::int64_t pragma(SQLite::Database& database, const char* query) {
  return database.execAndGet(query).getInt64();
}

// Returns the first or last time of a span in either table.
std::optional<std::int64_t> extreme(SQLite::Database& database, const char* which,
                                    std::int64_t span) {
  SQLite::Statement select(
      database,
      fmt::format("SELECT {0}(time) FROM (SELECT {0}(time_ms) AS time FROM node_sample WHERE"
                  " span = ?1 UNION ALL SELECT {0}(time_ms) FROM client_sample WHERE span = ?1)",
                  which));
  select.bind(1, span);
  if (!select.executeStep() || select.isColumnNull(0)) {
    return std::nullopt;
  }
  return select.getColumn(0).getInt64();
}

void delete_time(SQLite::Database& database, std::int64_t span, std::int64_t time_ms) {
  for (const char* table : {"node_sample", "client_sample", "vm_sample"}) {
    SQLite::Statement remove(database,
                             fmt::format("DELETE FROM {} WHERE span = ? AND time_ms = ?", table));
    remove.bind(1, span);
    remove.bind(2, time_ms);
    remove.exec();
  }
}

void prune_samples_by_age(SQLite::Database& database, std::int64_t span, std::int64_t before_ms) {
  const std::int64_t limit_ms = std::min(before_ms, averaged_until_ms(database, span));
  for (int i = 0; i < kTimesPerSlice; ++i) {
    const auto oldest = extreme(database, "min", span);
    if (!oldest || *oldest >= limit_ms) {
      return;
    }
    delete_time(database, span, *oldest);
  }
}

// Returns whether there are records from kClockHoldsMs before `now_ms`, or up to kLongestGapMs
// earlier. If not, the clock was changed or the daemon was stopped for long.
bool clock_has_held(SQLite::Database& database, std::int64_t now_ms) {
  SQLite::Statement select(database,
                           "SELECT 1 FROM node_sample WHERE span IN (?, ?, ?) AND time_ms BETWEEN ?"
                           " AND ? LIMIT 1");
  select.bind(1, kEpochSpan);
  select.bind(2, kMinuteSpan);
  select.bind(3, kHourSpan);
  select.bind(4, now_ms - kClockHoldsMs - kLongestGapMs);
  select.bind(5, now_ms - kClockHoldsMs);
  return select.executeStep();
}

void prune_rows_by_age(SQLite::Database& database, const char* query, std::int64_t before_ms,
                       int limit) {
  SQLite::Statement remove(database, query);
  remove.bind(1, before_ms);
  remove.bind(2, limit);
  remove.exec();
}

// Returns the time of a span that may be deleted for lack of space: the oldest one that has been
// averaged, or else one that lies in the future because the clock was set back.
std::optional<std::int64_t> dispensable(SQLite::Database& database, std::int64_t span,
                                        std::int64_t now_ms) {
  const auto oldest = extreme(database, "min", span);
  if (oldest && *oldest < averaged_until_ms(database, span)) {
    return oldest;
  }
  const auto newest = extreme(database, "max", span);
  return newest && *newest > now_ms ? newest : std::nullopt;
}

struct OldAction {
  std::int64_t id;
  std::int64_t time_ms;
};

std::optional<OldAction> oldest_closed_action(SQLite::Database& database) {
  SQLite::Statement select(
      database,
      "SELECT id, time_ms FROM action WHERE state <> 'open' ORDER BY time_ms, id LIMIT 1");
  if (!select.executeStep()) {
    return std::nullopt;
  }
  return OldAction{select.getColumn(0).getInt64(), select.getColumn(1).getInt64()};
}

struct OldReservationEvent {
  std::int64_t number;
  std::int64_t time_ms;
};

std::optional<OldReservationEvent> oldest_reservation_event(SQLite::Database& database) {
  SQLite::Statement select(
      database, "SELECT number, time_ms FROM reservation_event ORDER BY time_ms, number LIMIT 1");
  if (!select.executeStep()) {
    return std::nullopt;
  }
  return OldReservationEvent{select.getColumn(0).getInt64(), select.getColumn(1).getInt64()};
}

void delete_one(SQLite::Database& database, const char* query, std::int64_t key) {
  SQLite::Statement remove(database, query);
  remove.bind(1, key);
  remove.exec();
}

// Deletes the oldest detail; returns false if nothing is left that may be deleted.
bool give_up_oldest(SQLite::Database& database, std::int64_t now_ms) {
  const auto epoch = dispensable(database, kEpochSpan, now_ms);
  const auto minute = dispensable(database, kMinuteSpan, now_ms);
  if (epoch && (!minute || *epoch <= *minute)) {
    delete_time(database, kEpochSpan, *epoch);
    return true;
  }
  if (minute) {
    delete_time(database, kMinuteSpan, *minute);
    return true;
  }
  const auto hour = dispensable(database, kHourSpan, now_ms);
  const auto action = oldest_closed_action(database);
  const auto event = oldest_reservation_event(database);
  if (hour && (!action || *hour <= action->time_ms) && (!event || *hour <= event->time_ms)) {
    delete_time(database, kHourSpan, *hour);
    return true;
  }
  if (action && (!event || action->time_ms <= event->time_ms)) {
    delete_one(database, "DELETE FROM action WHERE id = ?", action->id);
    return true;
  }
  if (event) {
    delete_one(database, "DELETE FROM reservation_event WHERE number = ?", event->number);
    return true;
  }
  return false;
}

void keep_below(SQLite::Database& database, std::int64_t now_ms, std::int64_t max_bytes) {
  const std::int64_t page_bytes = pragma(database, "PRAGMA page_size");
  const std::int64_t limit = max_bytes / 8 * 7;  // leaves room for one epoch and the journal
  const auto used = [&] {
    return (pragma(database, "PRAGMA page_count") - pragma(database, "PRAGMA freelist_count")) *
           page_bytes;
  };
  for (int i = 0; i < kRoundsForBytes && used() > limit; ++i) {
    if (!give_up_oldest(database, now_ms)) {
      break;
    }
  }
  // Free pages are reused. They are returned to the file system only if the file is larger than
  // allowed because the limit was lowered.
  if (pragma(database, "PRAGMA page_count") * page_bytes > max_bytes) {
    database.exec(fmt::format("PRAGMA incremental_vacuum({})", kPagesPerVacuum));
  }
}

void prune_by_age(SQLite::Database& database, std::int64_t now_ms, const KeptFor& kept) {
  const auto before_ms = [now_ms](std::chrono::milliseconds kept_for) {
    return now_ms - kept_for.count();
  };
  prune_samples_by_age(database, kEpochSpan, before_ms(kept.epochs));
  prune_samples_by_age(database, kMinuteSpan, before_ms(kept.minutes));
  prune_samples_by_age(database, kHourSpan, before_ms(kept.hours));
  prune_rows_by_age(
      database,
      "DELETE FROM action WHERE id IN (SELECT id FROM action WHERE time_ms < ? AND state"
      " <> 'open' ORDER BY time_ms LIMIT ?)",
      before_ms(kept.actions), kActionsPerSlice);
  prune_rows_by_age(
      database,
      "DELETE FROM reservation_event WHERE number IN (SELECT number FROM reservation_event WHERE"
      " time_ms < ? ORDER BY time_ms LIMIT ?)",
      before_ms(kept.actions), kActionsPerSlice);
  // VMs are kept a day longer than everything else, so that no sample is left without its VM. A VM
  // with an action keeps its homes, and a VM with homes stays in the table, because otherwise
  // nothing would delete the homes later.
  const std::int64_t vms_before_ms = before_ms(
      std::max<std::chrono::milliseconds>({kept.epochs, kept.minutes, kept.hours, kept.actions}) +
      std::chrono::days(1));
  prune_rows_by_age(
      database,
      "DELETE FROM home WHERE vm IN (SELECT uuid FROM vm WHERE last_seen_ms < ? AND uuid NOT IN"
      " (SELECT vm FROM relocation) ORDER BY last_seen_ms, number LIMIT ?)",
      vms_before_ms, kVmsPerSlice);
  prune_rows_by_age(
      database,
      "DELETE FROM vm WHERE number IN (SELECT number FROM vm WHERE last_seen_ms < ? AND uuid NOT IN"
      " (SELECT vm FROM home) ORDER BY last_seen_ms, number LIMIT ?)",
      vms_before_ms, kVmsPerSlice);
}

}  // namespace

void prune(SQLite::Database& database, std::int64_t now_ms, const HistoryOptions& options) {
  if (clock_has_held(database, now_ms)) {
    prune_by_age(database, now_ms, options.kept);
  }
  keep_below(database, now_ms, options.max_bytes);
}

}  // namespace vmnuma::stats
