// SPDX-License-Identifier: Apache-2.0
/// What may stay in the history, and for how long. Internal to stats/history.
#pragma once

#include <cstdint>

#include <SQLiteCpp/Database.h>

#include "stats/history/history.h"

namespace vmnuma::stats {

inline constexpr std::int64_t kHourMs = 3'600'000;
/// Nothing counts as too old for the first hour after the clock jumped ahead by more than half a
/// day: time enough for an administrator to correct it.
inline constexpr std::int64_t kClockHoldsMs = kHourMs;
inline constexpr std::int64_t kLongestGapMs = 12 * kHourMs;

/// Within the caller's transaction: deletes a slice of what is too old at `now_ms`, once the clock
/// has held (above), and of the oldest detail if the file nears its largest size: first epochs and
/// minutes, whichever are older, then hours, closed actions and what happened to reservations.
/// Deletes nothing that is not yet averaged, and no open action. With the last of a VM its homes
/// go. Throws SQLite::Exception.
void prune(SQLite::Database& database, std::int64_t now_ms, const HistoryOptions& options);

}  // namespace vmnuma::stats
