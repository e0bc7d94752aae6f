// SPDX-License-Identifier: Apache-2.0
#include "stats/history/schema.h"

#include <string>

#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>

#include "placement/model/vm_figures.h"

namespace vmnuma::stats {
namespace {

// Version 1.
//
// Times are ms since 1970, CPU times core-us per epoch, memory KiB in samples and bytes in actions.
// Samples of all resolutions share a table: `span` is 0 for epochs, 60 for minutes, 3600 for hours,
// and the primary key keeps each span together in the order of time, so that appending touches one
// page and deleting the oldest frees whole pages. `epochs` is the number of epochs that a row
// covers.
//
// client_sample identifies its VM by a small number, because a UUID would double the row. It
// declares no foreign key: that would need an index on `vm` over every raw row, which costs more
// than the rows themselves.
constexpr const char* kVersion1 = R"sql(
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
  predicted_lost_before_us      INTEGER NOT NULL,
  predicted_lost_after_us       INTEGER NOT NULL,
  predicted_cost_us             INTEGER NOT NULL,
  predicted_imbalance_before    INTEGER NOT NULL,
  predicted_imbalance_after     INTEGER NOT NULL,
  predicted_locality_before     INTEGER NOT NULL,
  predicted_locality_after      INTEGER NOT NULL,
  measured_lost_before_us       INTEGER,
  measured_lost_after_us        INTEGER,
  measured_imbalance_before     INTEGER,
  measured_imbalance_after      INTEGER,
  measured_locality_before      INTEGER,
  measured_locality_after       INTEGER,
  moved_bytes                   INTEGER,
  took_ms                       INTEGER
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
  PRIMARY KEY (action, number)
) STRICT, WITHOUT ROWID;

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
  last_seen_ms INTEGER NOT NULL
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
)sql";

// Version 2: properties of a VM, for forecasting.
constexpr const char* kVersion2 = R"sql(
ALTER TABLE vm ADD COLUMN memory_mib INTEGER NOT NULL DEFAULT 0;
ALTER TABLE vm ADD COLUMN shares     INTEGER NOT NULL DEFAULT 100;
ALTER TABLE vm ADD COLUMN guest_os   TEXT    NOT NULL DEFAULT '';
)sql";

// Version 3: how long a VM's tasks waited, in thousandths of the time, NULL if unknown; and a
// node's total CPU time, of which `non_vm_us` and the clients' use are shares.
constexpr const char* kVersion3 = R"sql(
ALTER TABLE node_sample ADD COLUMN threads_us INTEGER;
CREATE TABLE vm_sample (
  span                 INTEGER NOT NULL CHECK (span IN (0, 60, 3600)),
  time_ms              INTEGER NOT NULL,
  vm                   INTEGER NOT NULL,
  epochs               INTEGER NOT NULL,
  epoch_us             INTEGER NOT NULL,
  cpu_some_permille    INTEGER,
  memory_some_permille INTEGER,
  memory_full_permille INTEGER,
  PRIMARY KEY (span, time_ms, vm)
) STRICT, WITHOUT ROWID;
)sql";

// Version 4: writers name the columns, so that vm_sample may have more columns than a program
// knows: one per figure of a VM, added by add_vm_figures().
constexpr const char* kVersion4 = "";

// Version 5: values that were not predicted are NULL, for example if a home was chosen before
// anything had been measured, or if a start was not admitted. NOT NULL columns cannot be altered,
// only replaced.
constexpr const char* kVersion5 = R"sql(
ALTER TABLE action RENAME COLUMN predicted_lost_before_us   TO former_lost_before;
ALTER TABLE action RENAME COLUMN predicted_lost_after_us    TO former_lost_after;
ALTER TABLE action RENAME COLUMN predicted_cost_us          TO former_cost;
ALTER TABLE action RENAME COLUMN predicted_imbalance_before TO former_imbalance_before;
ALTER TABLE action RENAME COLUMN predicted_imbalance_after  TO former_imbalance_after;
ALTER TABLE action RENAME COLUMN predicted_locality_before  TO former_locality_before;
ALTER TABLE action RENAME COLUMN predicted_locality_after   TO former_locality_after;
ALTER TABLE action ADD COLUMN predicted_lost_before_us   INTEGER;
ALTER TABLE action ADD COLUMN predicted_lost_after_us    INTEGER;
ALTER TABLE action ADD COLUMN predicted_cost_us          INTEGER;
ALTER TABLE action ADD COLUMN predicted_imbalance_before INTEGER;
ALTER TABLE action ADD COLUMN predicted_imbalance_after  INTEGER;
ALTER TABLE action ADD COLUMN predicted_locality_before  INTEGER;
ALTER TABLE action ADD COLUMN predicted_locality_after   INTEGER;
UPDATE action SET predicted_lost_before_us   = former_lost_before,
                  predicted_lost_after_us    = former_lost_after,
                  predicted_cost_us          = former_cost,
                  predicted_imbalance_before = former_imbalance_before,
                  predicted_imbalance_after  = former_imbalance_after,
                  predicted_locality_before  = former_locality_before,
                  predicted_locality_after   = former_locality_after
  WHERE reason <> 'admission';
ALTER TABLE action DROP COLUMN former_lost_before;
ALTER TABLE action DROP COLUMN former_lost_after;
ALTER TABLE action DROP COLUMN former_cost;
ALTER TABLE action DROP COLUMN former_imbalance_before;
ALTER TABLE action DROP COLUMN former_imbalance_after;
ALTER TABLE action DROP COLUMN former_locality_before;
ALTER TABLE action DROP COLUMN former_locality_after;
)sql";

// Version 6: events of reservations.
constexpr const char* kVersion6 = R"sql(
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

// Version 7: the second node of a client that spills.
constexpr const char* kVersion7 = R"sql(
ALTER TABLE relocation ADD COLUMN spill_node INTEGER;
)sql";

// Version 8: the actions of a VM are found without reading those of all others. Deletes the homes
// that earlier versions left behind when they deleted VMs.
constexpr const char* kVersion8 = R"sql(
CREATE INDEX relocation_by_vm      ON relocation (vm, vm_name, action);
CREATE INDEX relocation_by_vm_name ON relocation (vm_name, action);
DELETE FROM home WHERE vm NOT IN (SELECT uuid FROM vm) AND vm NOT IN (SELECT vm FROM relocation);
)sql";

constexpr const char* kMigrations[] = {kVersion1, kVersion2, kVersion3, kVersion4,
                                       kVersion5, kVersion6, kVersion7, kVersion8};

}  // namespace

std::span<const char* const> migrations() {
  return kMigrations;
}

std::int32_t newest_version() {
  return static_cast<std::int32_t>(std::size(kMigrations));
}

void migrate(SQLite::Database& database, std::span<const char* const> steps) {
  const int version = database.execAndGet("PRAGMA user_version").getInt();
  for (std::size_t step = static_cast<std::size_t>(version); step < steps.size(); ++step) {
    SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
    database.exec(steps[step]);
    database.exec("PRAGMA application_id=" + std::to_string(kApplicationId));
    database.exec("PRAGMA user_version=" + std::to_string(step + 1));
    transaction.commit();
  }
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
