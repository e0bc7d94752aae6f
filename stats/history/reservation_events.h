// SPDX-License-Identifier: Apache-2.0
/// The table reservation_event. Internal to stats/history; History documents each function. All of
/// them may throw SQLite::Exception.
#pragma once

#include <vector>

#include <SQLiteCpp/Database.h>

#include "placement/base/result.h"
#include "stats/history/rows.h"

namespace vmnuma::stats {

[[nodiscard]] Result<void> record_reservation_event(SQLite::Database& database,
                                                    const ReservationEventRow& event);
[[nodiscard]] std::vector<ReservationEventRow> reservation_events(
    SQLite::Database& database, const ReservationEventFilter& filter);

}  // namespace vmnuma::stats
