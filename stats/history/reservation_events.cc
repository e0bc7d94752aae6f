// SPDX-License-Identifier: Apache-2.0
#include "stats/history/reservation_events.h"

#include "stats/history/database.h"

namespace vmnuma::stats {

Result<void> record_reservation_event(SQLite::Database& database,
                                      const ReservationEventRow& event) {
  SQLite::Transaction transaction = begin_write(database, Outlive::kProcess);
  execute(database,
          "INSERT INTO reservation_event (time_ms, reservation, what, vm, vm_name, memory_bytes,"
          " detail) VALUES (?, ?, ?, ?, ?, ?, ?)",
          to_ms(event.time), event.reservation, event.what, event.vm_uuid, event.vm_name,
          event.memory.value, event.detail);
  transaction.commit();
  return {};
}

std::vector<ReservationEventRow> reservation_events(SQLite::Database& database,
                                                    const ReservationEventFilter& filter) {
  SQLite::Statement select = prepare(
      database,
      "SELECT time_ms, reservation, what, vm, vm_name, memory_bytes, detail FROM reservation_event"
      " WHERE time_ms >= ?1 AND (?2 = '' OR reservation = ?2) ORDER BY number DESC LIMIT ?3",
      to_ms(filter.since.value_or(WallTime::min())), filter.reservation, filter.limit);
  std::vector<ReservationEventRow> events;
  while (select.executeStep()) {
    events.push_back({.time = WallTime(std::chrono::milliseconds(select.getColumn(0).getInt64())),
                      .reservation = select.getColumn(1).getString(),
                      .what = select.getColumn(2).getString(),
                      .vm_uuid = select.getColumn(3).getString(),
                      .vm_name = select.getColumn(4).getString(),
                      .memory = Bytes{select.getColumn(5).getInt64()},
                      .detail = select.getColumn(6).getString()});
  }
  return events;
}

}  // namespace vmnuma::stats
