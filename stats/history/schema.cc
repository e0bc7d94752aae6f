// SPDX-License-Identifier: Apache-2.0
#include "stats/history/schema.h"

#include <string>

#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>

#include "placement/model/vm_figures.h"

namespace vmnuma::stats {
namespace {

// Times are ms since 1970, CPU times core-us per epoch, memory KiB in samples and bytes in actions.
// What is NULL in an action was not predicted, or not measured yet.
//
// Samples of all resolutions share a table: `span` is 0 for epochs, 60 for minutes, 3600 for hours,
// and the primary key keeps each span together in the order of time, so that appending touches one
// page and deleting the oldest frees whole pages. `epochs` is the number of epochs that a row
// covers.
//
// client_sample identifies its VM by a small number, because a UUID would double the row. It
// declares no foreign key: that would need an index on `vm` over every raw row, which costs more
// than the rows themselves.
constexpr const char* kTables = R"sql(
CREATE TABLE meta (
  key   TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE action (
  id                            INTEGER PRIMARY KEY AUTOINCREMENT,
  time_ms                       INTEGER NOT NULL,
  epoch                         INTEGER NOT NULL,
  reason                        TEXT NOT NULL,
  state                         TEXT NOT NULL DEFAULT 'open'
                                CHECK (state IN ('open', 'done', 'undone', 'dropped')),
  detail                        TEXT NOT NULL DEFAULT '',
  order_text                    TEXT NOT NULL,
  measured_lost_before_us       INTEGER,
  measured_lost_after_us        INTEGER,
  measured_imbalance_before     INTEGER,
  measured_imbalance_after      INTEGER,
  measured_locality_before      INTEGER,
  measured_locality_after       INTEGER,
  moved_bytes                   INTEGER,
  took_ms                       INTEGER,
  predicted_lost_before_us      INTEGER,
  predicted_lost_after_us       INTEGER,
  predicted_cost_us             INTEGER,
  predicted_imbalance_before    INTEGER,
  predicted_imbalance_after     INTEGER,
  predicted_locality_before     INTEGER,
  predicted_locality_after      INTEGER
) STRICT;
CREATE INDEX action_by_time ON action (time_ms);
CREATE INDEX open_action ON action (id) WHERE state = 'open';

CREATE TABLE relocation (
  action       INTEGER NOT NULL REFERENCES action ON DELETE CASCADE,
  number       INTEGER NOT NULL,
  vm           TEXT NOT NULL,
  vm_name      TEXT NOT NULL,
  client       INTEGER NOT NULL,
  from_node    INTEGER,
  to_node      INTEGER,
  memory_bytes INTEGER NOT NULL,
  spill_node   INTEGER,
  PRIMARY KEY (action, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX relocation_by_vm      ON relocation (vm, vm_name, action);
CREATE INDEX relocation_by_vm_name ON relocation (vm_name, action);

CREATE TABLE step (
  action  INTEGER NOT NULL REFERENCES action ON DELETE CASCADE,
  number  INTEGER NOT NULL,
  text    TEXT NOT NULL,
  outcome TEXT,
  PRIMARY KEY (action, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE vm (
  number       INTEGER PRIMARY KEY,
  uuid         TEXT NOT NULL UNIQUE,
  name         TEXT NOT NULL,
  last_seen_ms INTEGER NOT NULL,
  memory_mib   INTEGER NOT NULL,
  shares       INTEGER NOT NULL,
  guest_os     TEXT NOT NULL
) STRICT;
CREATE INDEX vm_by_last_seen ON vm (last_seen_ms);

CREATE TABLE node_sample (
  span          INTEGER NOT NULL CHECK (span IN (0, 60, 3600)),
  time_ms       INTEGER NOT NULL,
  node          INTEGER NOT NULL,
  epochs        INTEGER NOT NULL,
  epoch_us      INTEGER NOT NULL,
  used_us       INTEGER NOT NULL,
  non_vm_us     INTEGER NOT NULL,
  capacity_us   INTEGER NOT NULL,
  demand_us     INTEGER NOT NULL,
  entitled_us   INTEGER NOT NULL,
  owed_us       INTEGER NOT NULL,
  load_permille INTEGER NOT NULL,
  vcpus         INTEGER NOT NULL,
  free_kib      INTEGER NOT NULL,
  total_kib     INTEGER NOT NULL,
  threads_us    INTEGER NOT NULL,
  PRIMARY KEY (span, time_ms, node)
) STRICT, WITHOUT ROWID;

CREATE TABLE client_sample (
  span        INTEGER NOT NULL CHECK (span IN (0, 60, 3600)),
  time_ms     INTEGER NOT NULL,
  vm          INTEGER NOT NULL,
  client      INTEGER NOT NULL,
  epochs      INTEGER NOT NULL,
  epoch_us    INTEGER NOT NULL,
  home        INTEGER,
  vcpus       INTEGER NOT NULL,
  used_us     INTEGER NOT NULL,
  ready_us    INTEGER NOT NULL,
  demand_us   INTEGER NOT NULL,
  entitled_us INTEGER NOT NULL,
  owed_us     INTEGER NOT NULL,
  local_kib   INTEGER,
  remote_kib  INTEGER,
  PRIMARY KEY (span, time_ms, vm, client)
) STRICT, WITHOUT ROWID;
-- All that a VM's busy times are computed from, for the averages only.
CREATE INDEX demand_by_vm ON client_sample (vm, span, time_ms, demand_us, vcpus, epoch_us)
  WHERE span > 0;

-- Its other columns are the figures of a VM, added by add_vm_figures().
CREATE TABLE vm_sample (
  span     INTEGER NOT NULL CHECK (span IN (0, 60, 3600)),
  time_ms  INTEGER NOT NULL,
  vm       INTEGER NOT NULL,
  epochs   INTEGER NOT NULL,
  epoch_us INTEGER NOT NULL,
  PRIMARY KEY (span, time_ms, vm)
) STRICT, WITHOUT ROWID;

-- Up to where minutes (60) and hours (3600) have been made.
CREATE TABLE averaged (
  span     INTEGER NOT NULL PRIMARY KEY,
  until_ms INTEGER NOT NULL
) STRICT;
INSERT INTO averaged VALUES (60, 0), (3600, 0);

CREATE TABLE home (
  vm     TEXT NOT NULL,
  client INTEGER NOT NULL,
  node   INTEGER NOT NULL,
  PRIMARY KEY (vm, client)
) STRICT, WITHOUT ROWID;

CREATE TABLE reservation_event (
  number       INTEGER PRIMARY KEY,
  time_ms      INTEGER NOT NULL,
  reservation  TEXT NOT NULL,
  what         TEXT NOT NULL,
  vm           TEXT NOT NULL,
  vm_name      TEXT NOT NULL,
  memory_bytes INTEGER NOT NULL,
  detail       TEXT NOT NULL
) STRICT;
CREATE INDEX reservation_event_by_time ON reservation_event (time_ms);
)sql";

}  // namespace

void create_tables(SQLite::Database& database) {
  SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
  database.exec(kTables);
  database.exec("PRAGMA application_id=" + std::to_string(kApplicationId));
  database.exec("PRAGMA user_version=" + std::to_string(kSchemaVersion));
  transaction.commit();
}

void add_vm_figures(SQLite::Database& database) {
  SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
  for (const VmFigureInfo& figure : kVmFigures) {
    const std::string name(figure.name);
    SQLite::Statement known(database,
                            "SELECT 1 FROM pragma_table_info('vm_sample') WHERE name = ?");
    known.bind(1, name);
    if (!known.executeStep()) {
      database.exec("ALTER TABLE vm_sample ADD COLUMN " + name + " INTEGER");
    }
  }
  transaction.commit();
}

}  // namespace vmnuma::stats
