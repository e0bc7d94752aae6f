// SPDX-License-Identifier: Apache-2.0
#include "stats/history/homes.h"

#include <SQLiteCpp/Statement.h>

#include "placement/model/text.h"
#include "stats/history/database.h"

namespace vmnuma::stats {

Result<void> save_home(SQLite::Database& database, const HomeRow& home) {
  SQLite::Transaction transaction = begin_write(database, Outlive::kProcess);
  SQLite::Statement insert(database, "INSERT OR REPLACE INTO home VALUES (?, ?, ?)");
  insert.bind(1, to_text(home.vm));
  insert.bind(2, home.client);
  insert.bind(3, home.node.value);
  insert.exec();
  transaction.commit();
  return {};
}

Result<void> forget_homes(SQLite::Database& database, const VmId& vm) {
  SQLite::Transaction transaction = begin_write(database, Outlive::kProcess);
  SQLite::Statement remove(database, "DELETE FROM home WHERE vm = ?");
  remove.bind(1, to_text(vm));
  remove.exec();
  transaction.commit();
  return {};
}

Result<std::vector<HomeRow>> load_homes(SQLite::Database& database) {
  SQLite::Statement select(database, "SELECT vm, client, node FROM home ORDER BY vm, client");
  std::vector<HomeRow> homes;
  while (select.executeStep()) {
    const auto vm = parse_vm_id(select.getColumn(0).getString());
    if (!vm) {
      return failure(ErrorCode::kCorrupt, vm.error().message);
    }
    homes.push_back({*vm, select.getColumn(1).getInt(), {select.getColumn(2).getInt()}});
  }
  return homes;
}

std::optional<std::string> read_meta(SQLite::Database& database, std::string_view key) {
  SQLite::Statement select(database, "SELECT value FROM meta WHERE key = ?");
  select.bind(1, std::string(key));
  if (!select.executeStep()) {
    return std::nullopt;
  }
  return select.getColumn(0).getString();
}

Result<void> write_meta(SQLite::Database& database, std::string_view key, std::string_view value) {
  SQLite::Transaction transaction = begin_write(database, Outlive::kProcess);
  SQLite::Statement insert(database, "INSERT OR REPLACE INTO meta VALUES (?, ?)");
  insert.bind(1, std::string(key));
  insert.bind(2, std::string(value));
  insert.exec();
  transaction.commit();
  return {};
}

}  // namespace vmnuma::stats
