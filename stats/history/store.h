// SPDX-License-Identifier: Apache-2.0
/// The history's connection, and how every call of History uses it. Internal to stats/history.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "stats/history/database.h"
#include "stats/history/history.h"

namespace vmnuma::stats {

struct History::Store {
  HistoryOptions options;
  std::string notice;
  std::mutex mutex;
  SQLite::Database database;  // under `mutex`
  std::atomic<bool> is_damaged = false;

  /// Calls `function`, which returns a Result, with the database, and converts SQLite's exceptions
  /// to errors. `doing` completes "cannot ... in 'file'".
  template <class Function>
  [[nodiscard]] auto run(std::string_view doing, const Function& function)
      -> std::invoke_result_t<Function, SQLite::Database&> {
    const std::lock_guard lock(mutex);
    try {
      auto result = function(database);
      if (!result) {
        return failure(std::move(result).error(),
                       fmt::format("cannot {} in '{}'", doing, options.path.string()));
      }
      return result;
    } catch (const SQLite::Exception& exception) {
      auto failed = sqlite_failure(exception, doing, options.path, database.getHandle());
      if (failed.value().code == ErrorCode::kCorrupt) {
        is_damaged = true;
      }
      return failed;
    }
  }

  /// Likewise, within a transaction that is rolled back if the function returns an error.
  template <class Function>
  [[nodiscard]] Result<void> write(std::string_view doing, Outlive outlive,
                                   const Function& function) {
    return run(doing, [&](SQLite::Database& open) -> Result<void> {
      SQLite::Transaction transaction = begin_write(open, outlive);
      Result<void> written = function(open);
      if (written) {
        transaction.commit();
      }
      return written;
    });
  }
};

}  // namespace vmnuma::stats
