// SPDX-License-Identifier: Apache-2.0
/// Opens the history's file, and has what every access to it shares: transactions and the
/// translation of SQLite's exceptions into errors. Internal to stats/history.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>
#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>

#include "placement/base/result.h"
#include "stats/history/rows.h"

namespace vmnuma::stats {

struct OpenedDatabase {
  SQLite::Database database;
  std::string notice;  ///< what was set aside and why; empty if nothing was
};

/// Opens or creates the file, sets an unusable one aside, and one that is known to be damaged,
/// applies migrations and settings. Errors: as History::open().
[[nodiscard]] Result<OpenedDatabase> open_database(const std::filesystem::path& path,
                                                   bool is_damaged);

/// Whether the file and those that SQLite keeps next to it are regular files, as far as they exist:
/// SQLite opens them unchecked, and a named pipe would block it for ever. Error: invalid-argument.
[[nodiscard]] Result<void> check_files(const std::filesystem::path& path);

/// What a commit must survive. A crash of the process never undoes a commit; the kernel has it.
enum class Outlive {
  kProcess,
  kHost,  ///< the commit, and all before it, are flushed to disk
};

/// Begins a writing transaction. Commit it, or it is rolled back at the end of its scope.
[[nodiscard]] SQLite::Transaction begin_write(SQLite::Database& database, Outlive outlive);

/// "cannot <do this> in '/var/lib/.../history.sqlite': database or disk is full". `handle` may be
/// null; the errno comes from it.
[[nodiscard]] tl::unexpected<Error> sqlite_failure(const SQLite::Exception& exception,
                                                   std::string_view doing,
                                                   const std::filesystem::path& path,
                                                   sqlite3* handle);

/// A time as stored.
[[nodiscard]] inline std::int64_t to_ms(WallTime time) {
  return time.time_since_epoch().count();
}

/// SQL NULL if not `present`.
template <class T>
void bind_or_null(SQLite::Statement& statement, int index, bool present, T value) {
  if (present) {
    statement.bind(index, value);
  } else {
    statement.bind(index);
  }
}

}  // namespace vmnuma::stats
