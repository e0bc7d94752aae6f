// SPDX-License-Identifier: Apache-2.0
#include "stats/files/file_descriptor.h"

#include <system_error>

#include <unistd.h>

namespace vmnuma::files {

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) {
    // Errors do not matter: data that must be on disk was synced before, and Linux closes the
    // descriptor even on EINTR.
    (void)::close(fd_);
  }
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = uninterrupted([&] { return ::write(fd, bytes.data(), bytes.size()); });
    if (written < 0) {
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

ErrorCode code_of_errno(int errno_value) {
  switch (errno_value) {
    case ENOENT:
    case ENOTDIR:
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
    case EEXIST:
      return ErrorCode::kInvalidArgument;
    default:
      return ErrorCode::kIo;
  }
}

Error system_error(int errno_value, std::string attempt) {
  return Error{code_of_errno(errno_value), errno_value,
               std::move(attempt) + ": " + std::generic_category().message(errno_value)};
}

}  // namespace vmnuma::files
