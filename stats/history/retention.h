// SPDX-License-Identifier: Apache-2.0
/// Decides what is kept in the history, and for how long. Internal to stats/history.
#pragma once

#include <cstdint>

#include <SQLiteCpp/Database.h>

#include "stats/history/history.h"

namespace vmnuma::stats {

inline constexpr std::int64_t kHourMs = 3'600'000;
/// Nothing counts as too old during the first hour after the clock jumped ahead by more than half a
/// day, so that an administrator has time to correct it.
inline constexpr std::int64_t kClockHoldsMs = kHourMs;
inline constexpr std::int64_t kLongestGapMs = 12 * kHourMs;

/// Within the caller's transaction, deletes a slice of what is too old at `now_ms`, unless the
/// clock has just jumped (above). If the file approaches its maximum size, also deletes a slice of
/// the oldest detail: first epochs and minutes, whichever are older, then hours, closed actions and
/// events of reservations. Never deletes open actions, nor rows that are not averaged yet, except,
/// for lack of space, rows that lie in the future because the clock was set back. When nothing else
/// of a VM is left, deletes its homes. Throws SQLite::Exception.
void prune(SQLite::Database& database, std::int64_t now_ms, const HistoryOptions& options);

}  // namespace vmnuma::stats
