// SPDX-License-Identifier: Apache-2.0
#include "stats/history/database.h"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include "placement/base/number.h"
#include "placement/model/text.h"
#include "stats/files/directory.h"
#include "stats/files/file_descriptor.h"
#include "stats/history/schema.h"

namespace vmnuma::stats {
namespace {

namespace fs = std::filesystem;

// How long a call waits for another program's lock. The daemon's own calls do not wait for each
// other here, because they share one connection.
constexpr int kBusyTimeoutMs = 250;
constexpr int kSetAsideKept = 3;
constexpr std::int64_t kPageBytes = 4096;
// The log is truncated to this size after a checkpoint.
constexpr std::int64_t kLogBytesKept = std::int64_t{16} << 20;

// Creates the file if necessary. SQLite would do that, too, but it reports only "unable to open
// database file" on failure, makes the file readable for all users, and does not check what it
// opens.
Result<void> ensure_file(const fs::path& path) {
  const files::FileDescriptor file(
      ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0640));
  if (file.get() < 0) {
    return tl::unexpected(
        files::system_error(errno, fmt::format("cannot open the history '{}'", path.string())));
  }
  return check_files(path);
}

// Flushes the directory, so that a file's name is as durable as its content.
void flush_directory(const fs::path& directory) {
  const files::FileDescriptor fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() >= 0) {
    (void)::fsync(fd.get());  // if the file system does not support this, nothing else would help
  }
}

// What the file contains. judge() throws SQLite::Exception, also with SQLITE_NOTADB.
enum class Content { kNothing, kHistory, kUnusable };
struct Judgement {
  Content content{};
  std::string reason;  // of kUnusable
};

Judgement judge(SQLite::Database& database) {
  const int application = database.execAndGet("PRAGMA application_id").getInt();
  const int version = database.execAndGet("PRAGMA user_version").getInt();
  const int objects = database.execAndGet("SELECT count(*) FROM sqlite_schema").getInt();
  if (application == 0 && version == 0 && objects == 0) {
    return {Content::kNothing, {}};
  }
  if (application != kApplicationId) {
    return {Content::kUnusable, "belongs to another program"};
  }
  if (version != kSchemaVersion) {
    return {Content::kUnusable,
            fmt::format("has version {}, {} than {}, the only one known here", version,
                        version < kSchemaVersion ? "older" : "newer", kSchemaVersion)};
  }
  // Check only the structure of the file: checking our own constraints, too, would take three times
  // as long.
  database.exec("PRAGMA ignore_check_constraints=ON");
  const std::string check = database.execAndGet("PRAGMA quick_check(1)").getString();
  database.exec("PRAGMA ignore_check_constraints=OFF");
  if (check != "ok") {
    return {Content::kUnusable, fmt::format("is damaged ({})", check)};
  }
  return {Content::kHistory, {}};
}

bool means_unusable(const SQLite::Exception& exception) {
  return exception.getErrorCode() == SQLITE_NOTADB || exception.getErrorCode() == SQLITE_CORRUPT;
}

// Returns the numbers n of the files "<path>.damaged-<n>", ascending.
std::vector<int> numbers_set_aside(const fs::path& path) {
  const std::string prefix = path.filename().string() + ".damaged-";
  std::vector<int> numbers;
  // An unreadable directory counts as empty; the rename then reports the error.
  const auto names =
      files::Directory::open(path.parent_path()).and_then([](const files::Directory& folder) {
        return folder.names();
      });
  for (const std::string& name : names.value_or(std::vector<std::string>{})) {
    if (name.starts_with(prefix)) {
      const auto number = whole_number<int>(std::string_view(name).substr(prefix.size()));
      if (number.value_or(0) > 0) {
        numbers.push_back(*number);
      }
    }
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

fs::path with_suffix(const fs::path& path, std::string_view suffix) {
  return fs::path(path.string().append(suffix));
}

// Renames the file and its log out of the way and returns the new name. The main file is renamed
// last: if this is interrupted before, the next attempt finds the file unusable again and
// continues.
Result<fs::path> set_aside(const fs::path& path) {
  std::vector<int> numbers = numbers_set_aside(path);
  const int number = numbers.empty() ? 1 : numbers.back() + 1;
  const fs::path target = with_suffix(path, fmt::format(".damaged-{}", number));
  std::error_code error;
  for (const char* log : {"-wal", "-journal"}) {
    fs::rename(with_suffix(path, log), with_suffix(target, log), error);
    if (error && error != std::errc::no_such_file_or_directory) {
      return tl::unexpected(files::system_error(
          error.value(), fmt::format("cannot set '{}{}' aside", path.string(), log)));
    }
  }
  fs::remove(with_suffix(path, "-shm"), error);  // only an index of the log; recreated when needed
  fs::rename(path, target, error);
  if (error) {
    return tl::unexpected(
        files::system_error(error.value(), fmt::format("cannot set '{}' aside", path.string())));
  }
  numbers.push_back(number);
  for (std::size_t i = 0; i + kSetAsideKept < numbers.size(); ++i) {
    const fs::path old = with_suffix(path, fmt::format(".damaged-{}", numbers[i]));
    for (const char* part : {"", "-wal", "-journal"}) {
      fs::remove(with_suffix(old, part), error);  // best effort: the file only takes up space
    }
  }
  return target;
}

// Sets whether closing the file merges its log into it. Off until the file is known to be good, so
// that a file that is set aside stays as it was found.
void fold_log_at_close(SQLite::Database& database, bool fold) {
  (void)sqlite3_db_config(database.getHandle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, fold ? 0 : 1,
                          nullptr);
}

// Throws SQLite::Exception.
void configure(SQLite::Database& database) {
  // The page size and auto_vacuum only take effect on an empty file.
  database.exec(fmt::format("PRAGMA page_size={}", kPageBytes));
  database.exec("PRAGMA auto_vacuum=INCREMENTAL");
  database.exec("PRAGMA journal_mode=WAL");
  database.exec(fmt::format("PRAGMA journal_size_limit={}", kLogBytesKept));
  database.exec("PRAGMA foreign_keys=ON");
  database.exec("PRAGMA secure_delete=OFF");  // Debian's default costs a write for every freed page
  database.exec("PRAGMA temp_store=MEMORY");
}

}  // namespace

Result<void> check_files(const fs::path& path) {
  for (const char* suffix : {"", "-wal", "-journal", "-shm"}) {
    const fs::path file = with_suffix(path, suffix);
    std::error_code unknown;
    const fs::file_status status = fs::status(file, unknown);
    if (fs::exists(status) && !fs::is_regular_file(status)) {
      return failure(ErrorCode::kInvalidArgument,
                     fmt::format("'{}' is not a regular file", file.string()));
    }
  }
  return {};
}

Result<OpenedDatabase> open_database(const fs::path& path, bool is_damaged) {
  std::string notice;
  // There is a second round only if an unusable file was set aside; the file is then new and empty.
  for (bool retried = false;; retried = true) {
    VMNUMA_RETURN_IF_ERROR(ensure_file(path));
    std::string reason;
    std::optional<SQLite::Database> database;
    try {
      database.emplace(path.string(), SQLite::OPEN_READWRITE, kBusyTimeoutMs);
      fold_log_at_close(*database, false);
      Judgement judgement = judge(*database);
      if (is_damaged && !retried && judgement.content == Content::kHistory) {
        judgement = {Content::kUnusable, "is damaged"};
      }
      if (judgement.content != Content::kUnusable) {
        configure(*database);
        if (judgement.content == Content::kNothing) {
          create_tables(*database);
          flush_directory(path.parent_path());
        }
        add_vm_figures(*database);
        fold_log_at_close(*database, true);
        return OpenedDatabase{std::move(*database), std::move(notice)};
      }
      reason = judgement.reason;
    } catch (const SQLite::Exception& exception) {
      if (!means_unusable(exception)) {
        return sqlite_failure(exception, "open the history", path,
                              database ? database->getHandle() : nullptr);
      }
      reason = fmt::format("is damaged ({})", exception.getErrorStr());
    }
    if (retried) {
      return failure(ErrorCode::kCorrupt,
                     fmt::format("the new history '{}' {}", path.string(), reason));
    }
    database.reset();
    const auto target = set_aside(path);
    if (!target) {
      return failure(target.error(), fmt::format("the history '{}' {}", path.string(), reason));
    }
    notice = fmt::format("the history '{}' {}; it was set aside as '{}' and a new one begun",
                         path.string(), reason, target->string());
  }
}

SQLite::Transaction begin_write(SQLite::Database& database, Outlive outlive) {
  database.exec(outlive == Outlive::kHost ? "PRAGMA synchronous=FULL"
                                          : "PRAGMA synchronous=NORMAL");
  return SQLite::Transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
}

Result<VmId> vm_id_of(const SQLite::Column& column) {
  return parse_vm_id(column.getString()).map_error([](Error error) {
    return Error{ErrorCode::kCorrupt, 0, std::move(error.message)};
  });
}

tl::unexpected<Error> sqlite_failure(const SQLite::Exception& exception, std::string_view doing,
                                     const fs::path& path, sqlite3* handle) {
  // SQLite remembers the errno of the last system call that failed, which concerns this failure
  // only if this is a system failure.
  const bool from_system =
      exception.getErrorCode() == SQLITE_IOERR || exception.getErrorCode() == SQLITE_CANTOPEN;
  const int errno_value = from_system && handle != nullptr ? sqlite3_system_errno(handle) : 0;
  ErrorCode code = ErrorCode::kIo;
  switch (exception.getErrorCode()) {
    case SQLITE_FULL:
      code = ErrorCode::kNoSpace;
      break;
    case SQLITE_READONLY:
    case SQLITE_PERM:
      code = ErrorCode::kPermissionDenied;
      break;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      code = ErrorCode::kBusy;
      break;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      code = ErrorCode::kCorrupt;
      break;
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR:
      code = errno_value != 0 ? files::code_of_errno(errno_value) : ErrorCode::kIo;
      break;
    default:
      break;
  }
  std::string message =
      fmt::format("cannot {} in '{}': {}", doing, path.string(), exception.what());
  if (errno_value != 0) {
    message += fmt::format(" ({})", std::generic_category().message(errno_value));
  }
  return failure(code, std::move(message), errno_value);
}

}  // namespace vmnuma::stats
