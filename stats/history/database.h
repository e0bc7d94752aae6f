// SPDX-License-Identifier: Apache-2.0
/// Opens the history's file, and provides what all accesses to it share: transactions, statements
/// and the translation of SQLite's exceptions into errors. Internal to stats/history.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
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

/// Opens or creates the file and its tables, and applies settings. A file that is unusable, or
/// known to be damaged, is set aside. Errors: as History::open().
[[nodiscard]] Result<OpenedDatabase> open_database(const std::filesystem::path& path,
                                                   bool is_damaged);

/// Checks that the file and those that SQLite keeps next to it are regular files or do not exist:
/// SQLite opens them unchecked, and a named pipe would block it forever. Error: invalid-argument.
[[nodiscard]] Result<void> check_files(const std::filesystem::path& path);

/// What a commit must survive. A crash of the process never undoes a commit, because the kernel
/// already has it.
enum class Outlive {
  kProcess,
  kHost,  ///< the commit, and all before it, are flushed to disk
};

/// Begins a write transaction, which is rolled back at the end of its scope unless committed.
[[nodiscard]] SQLite::Transaction begin_write(SQLite::Database& database, Outlive outlive);

/// Returns the error "cannot <do this> in '/var/lib/.../history.sqlite': database or disk is full".
/// `handle` may be null; it provides the errno.
[[nodiscard]] tl::unexpected<Error> sqlite_failure(const SQLite::Exception& exception,
                                                   std::string_view doing,
                                                   const std::filesystem::path& path,
                                                   sqlite3* handle);

/// Reads a VM's UUID. Error: corrupt.
[[nodiscard]] Result<VmId> vm_id_of(const SQLite::Column& column);

/// Converts a time to its stored form.
[[nodiscard]] inline std::int64_t to_ms(WallTime time) {
  return time.time_since_epoch().count();
}

/// Binds the parameter at `index`; an absent value is NULL.
template <class Value>
void bind_one(SQLite::Statement& statement, int index, const Value& value) {
  statement.bind(index, value);
}
inline void bind_one(SQLite::Statement& statement, int index, std::string_view value) {
  statement.bind(index, std::string(value));
}
inline void bind_one(SQLite::Statement& statement, int index, SampleSpan value) {
  statement.bind(index, static_cast<std::int64_t>(value));
}
template <class Value>
void bind_one(SQLite::Statement& statement, int index, const std::optional<Value>& value) {
  if (value) {
    statement.bind(index, *value);
  } else {
    statement.bind(index);
  }
}

/// Binds the first parameters of a statement.
template <class... Values>
void bind_all(SQLite::Statement& statement, const Values&... values) {
  int index = 0;
  (bind_one(statement, ++index, values), ...);
}

/// Prepares a statement with these parameters.
template <class... Values>
[[nodiscard]] SQLite::Statement prepare(SQLite::Database& database, const std::string& query,
                                        const Values&... values) {
  SQLite::Statement statement(database, query);
  bind_all(statement, values...);
  return statement;
}

/// Executes a statement with these parameters; returns the number of rows that it changed.
template <class... Values>
int execute(SQLite::Database& database, const std::string& query, const Values&... values) {
  return prepare(database, query, values...).exec();
}

}  // namespace vmnuma::stats
