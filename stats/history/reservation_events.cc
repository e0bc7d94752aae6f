// SPDX-License-Identifier: Apache-2.0
#include "stats/history/reservation_events.h"

#include <string>

#include <SQLiteCpp/Statement.h>

#include "stats/history/database.h"

namespace vmnuma::stats {

Result<void> record_reservation_event(SQLite::Database& database,
                                      const ReservationEventRow& event) {
  SQLite::Transaction transaction = begin_write(database, Outlive::kProcess);
  SQLite::Statement insert(database,
                           "INSERT INTO reservation_event (time_ms, reservation, what, vm, vm_name,"
                           " memory_bytes, detail) VALUES (?, ?, ?, ?, ?, ?, ?)");
  insert.bind(1, to_ms(event.time));
  insert.bind(2, event.reservation);
  insert.bind(3, event.what);
  insert.bind(4, event.vm_uuid);
  insert.bind(5, event.vm_name);
  insert.bind(6, event.memory.value);
  insert.bind(7, event.detail);
  insert.exec();
  transaction.commit();
  return {};
}

std::vector<ReservationEventRow> reservation_events(SQLite::Database& database,
                                                    const ReservationEventFilter& filter) {
  std::string query =
      "SELECT time_ms, reservation, what, vm, vm_name, memory_bytes, detail FROM reservation_event"
      " WHERE 1";
  if (filter.since) {
    query += " AND time_ms >= :since";
  }
  if (!filter.reservation.empty()) {
    query += " AND reservation = :reservation";
  }
  SQLite::Statement select(database, query + " ORDER BY number DESC LIMIT :limit");
  if (filter.since) {
    select.bind(":since", to_ms(*filter.since));
  }
  if (!filter.reservation.empty()) {
    select.bind(":reservation", filter.reservation);
  }
  select.bind(":limit", filter.limit);
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
