// SPDX-License-Identifier: Apache-2.0
#include "stats/history/retention.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "stats/history/database.h"
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
                                    SampleSpan span) {
  SQLite::Statement select = prepare(
      database,
      fmt::format("SELECT {0}(time) FROM (SELECT {0}(time_ms) AS time FROM node_sample WHERE"
                  " span = ?1 UNION ALL SELECT {0}(time_ms) FROM client_sample WHERE span = ?1)",
                  which),
      span);
  if (!select.executeStep() || select.isColumnNull(0)) {
    return std::nullopt;
  }
  return select.getColumn(0).getInt64();
}

void delete_time(SQLite::Database& database, SampleSpan span, std::int64_t time_ms) {
  for (const char* table : {"node_sample", "client_sample", "vm_sample"}) {
    execute(database, fmt::format("DELETE FROM {} WHERE span = ? AND time_ms = ?", table), span,
            time_ms);
  }
}

void prune_samples_by_age(SQLite::Database& database, SampleSpan span, std::int64_t before_ms) {
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
  return prepare(database,
                 "SELECT 1 FROM node_sample WHERE span IN (0, 60, 3600) AND time_ms BETWEEN ? AND ?"
                 " LIMIT 1",
                 now_ms - kClockHoldsMs - kLongestGapMs, now_ms - kClockHoldsMs)
      .executeStep();
}

// Returns the time of a span that may be deleted for lack of space: the oldest one that has been
// averaged, or else one that lies in the future because the clock was set back.
std::optional<std::int64_t> dispensable(SQLite::Database& database, SampleSpan span,
                                        std::int64_t now_ms) {
  const auto oldest = extreme(database, "min", span);
  if (oldest && *oldest < averaged_until_ms(database, span)) {
    return oldest;
  }
  const auto newest = extreme(database, "max", span);
  return newest && *newest > now_ms ? newest : std::nullopt;
}

struct Old {
  std::int64_t key;
  std::int64_t time_ms;
};

// Returns the first row of a query for a key and a time.
std::optional<Old> oldest(SQLite::Database& database, const char* query) {
  SQLite::Statement select(database, query);
  if (!select.executeStep()) {
    return std::nullopt;
  }
  return Old{select.getColumn(0).getInt64(), select.getColumn(1).getInt64()};
}

// Deletes the oldest detail; returns false if nothing is left that may be deleted.
bool give_up_oldest(SQLite::Database& database, std::int64_t now_ms) {
  const auto epoch = dispensable(database, SampleSpan::kEpoch, now_ms);
  const auto minute = dispensable(database, SampleSpan::kMinute, now_ms);
  if (epoch && (!minute || *epoch <= *minute)) {
    delete_time(database, SampleSpan::kEpoch, *epoch);
    return true;
  }
  if (minute) {
    delete_time(database, SampleSpan::kMinute, *minute);
    return true;
  }
  const auto hour = dispensable(database, SampleSpan::kHour, now_ms);
  const auto action =
      oldest(database,
             "SELECT id, time_ms FROM action WHERE state <> 'open' ORDER BY time_ms, id LIMIT 1");
  const auto event = oldest(
      database, "SELECT number, time_ms FROM reservation_event ORDER BY time_ms, number LIMIT 1");
  if (hour && (!action || *hour <= action->time_ms) && (!event || *hour <= event->time_ms)) {
    delete_time(database, SampleSpan::kHour, *hour);
    return true;
  }
  if (action && (!event || action->time_ms <= event->time_ms)) {
    execute(database, "DELETE FROM action WHERE id = ?", action->key);
    return true;
  }
  if (event) {
    execute(database, "DELETE FROM reservation_event WHERE number = ?", event->key);
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
  prune_samples_by_age(database, SampleSpan::kEpoch, before_ms(kept.epochs));
  prune_samples_by_age(database, SampleSpan::kMinute, before_ms(kept.minutes));
  prune_samples_by_age(database, SampleSpan::kHour, before_ms(kept.hours));
  execute(database,
          "DELETE FROM action WHERE id IN (SELECT id FROM action WHERE time_ms < ? AND state"
          " <> 'open' ORDER BY time_ms LIMIT ?)",
          before_ms(kept.actions), kActionsPerSlice);
  execute(
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
  execute(database,
          "DELETE FROM home WHERE vm IN (SELECT uuid FROM vm WHERE last_seen_ms < ? AND uuid NOT IN"
          " (SELECT vm FROM relocation) ORDER BY last_seen_ms, number LIMIT ?)",
          vms_before_ms, kVmsPerSlice);
  execute(
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
