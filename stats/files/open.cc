// SPDX-License-Identifier: Apache-2.0
#include "stats/files/open.h"

#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace vmnuma::files {

namespace {

ErrorCode code_of(int errno_value) {
  switch (errno_value) {
    case ENOENT:
      return ErrorCode::kNotFound;
    case ESRCH:
    case ENODEV:
      return ErrorCode::kVanished;
    case EACCES:
    case EPERM:
    case EROFS:
      return ErrorCode::kPermissionDenied;
    case ENOSPC:
    case EDQUOT:
      return ErrorCode::kNoSpace;
    default:
      return ErrorCode::kIo;
  }
}

}  // namespace

Error system_error(int errno_value, std::string attempt) {
  return Error{code_of(errno_value), errno_value,
               std::move(attempt) + ": " + std::generic_category().message(errno_value)};
}

Result<int> open_to_read(int directory, const std::string& path, const std::string& shown) {
  // O_NONBLOCK: without it a named pipe would block here until somebody writes to it. O_NOCTTY: a
  // terminal must not become the daemon's own.
  int fd = -1;
  do {
    fd = ::openat(directory, path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) {
    return tl::unexpected(system_error(errno, "cannot open '" + shown + "'"));
  }
  struct stat status {};
  if (::fstat(fd, &status) != 0) {
    Error error = system_error(errno, "cannot look at '" + shown + "'");
    (void)::close(fd);  // only read from; nothing to lose
    return tl::unexpected(std::move(error));
  }
  if (!S_ISREG(status.st_mode)) {
    (void)::close(fd);  // likewise
    return failure(ErrorCode::kInvalidArgument, "'" + shown + "' is not a regular file");
  }
  return fd;
}

}  // namespace vmnuma::files
