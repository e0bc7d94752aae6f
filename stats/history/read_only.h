// SPDX-License-Identifier: Apache-2.0
/// Read access to a history from outside the daemon. Internal to stats/history.
#pragma once

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include "placement/base/result.h"
#include "stats/files/file_descriptor.h"
#include "stats/history/database.h"
#include "stats/history/schema.h"

namespace vmnuma::stats {

/// Opens the file, checks that it is a history, and passes it to `read`, which returns a Result.
/// While no program has the file open, SQLite can read it only for a user who may also write in its
/// directory.
/// Errors: those of `read`; not-found, permission-denied, invalid-argument (not a regular file),
/// busy, unsupported (a file of another version), corrupt, io. All name the file.
template <class Read>
[[nodiscard]] std::invoke_result_t<Read, SQLite::Database&> read_from(
    const std::filesystem::path& path, Read read) {
  constexpr int kBusyMs = 2000;  // how long another program may hold the file
  std::error_code problem;
  if (!std::filesystem::exists(path, problem)) {
    return failure(problem ? ErrorCode::kPermissionDenied : ErrorCode::kNotFound,
                   fmt::format("there is no history '{}'{}", path.string(),
                               problem ? " that may be read: " + problem.message() : ""),
                   problem.value());
  }
  VMNUMA_RETURN_IF_ERROR(check_files(path));
  const std::string context = fmt::format("cannot read '{}'", path.string());
  if (::eaccess(path.c_str(), R_OK) != 0) {
    return tl::unexpected(files::system_error(errno, context));
  }
  try {
    SQLite::Database database(path.string(), SQLite::OPEN_READONLY, kBusyMs);
    if (database.execAndGet("PRAGMA application_id").getInt() != kApplicationId ||
        database.execAndGet("PRAGMA user_version").getInt() != kSchemaVersion) {
      return failure(Error{ErrorCode::kUnsupported, 0, "it is not a history of this version"},
                     context);
    }
    auto result = read(database);
    if (!result) {
      return failure(std::move(result).error(), context);
    }
    return result;
  } catch (const SQLite::Exception& exception) {
    const int code = exception.getErrorCode();
    if (code == SQLITE_READONLY || code == SQLITE_CANTOPEN) {
      return failure(ErrorCode::kPermissionDenied,
                     context + ": while vmnumad does not run, this is for root only");
    }
    return sqlite_failure(exception, "look back", path, nullptr);
  }
}

}  // namespace vmnuma::stats
