// SPDX-License-Identifier: Apache-2.0
#include "stats/history/homes.h"

#include "placement/model/text.h"
#include "stats/history/database.h"

namespace vmnuma::stats {

Result<void> save_home(SQLite::Database& database, const HomeRow& home) {
  SQLite::Transaction transaction = begin_write(database, Outlive::kProcess);
  execute(database, "INSERT OR REPLACE INTO home VALUES (?, ?, ?)", to_text(home.vm), home.client,
          home.node.value);
  transaction.commit();
  return {};
}

Result<void> forget_homes(SQLite::Database& database, const VmId& vm) {
  SQLite::Transaction transaction = begin_write(database, Outlive::kProcess);
  execute(database, "DELETE FROM home WHERE vm = ?", to_text(vm));
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
  SQLite::Statement select = prepare(database, "SELECT value FROM meta WHERE key = ?", key);
  if (!select.executeStep()) {
    return std::nullopt;
  }
  return select.getColumn(0).getString();
}

Result<void> write_meta(SQLite::Database& database, std::string_view key, std::string_view value) {
  SQLite::Transaction transaction = begin_write(database, Outlive::kProcess);
  execute(database, "INSERT OR REPLACE INTO meta VALUES (?, ?)", key, value);
  transaction.commit();
  return {};
}

}  // namespace vmnuma::stats
