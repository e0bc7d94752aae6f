// SPDX-License-Identifier: Apache-2.0
#include "stats/linux/file_descriptor.h"

#include <system_error>

#include <unistd.h>

namespace vmnuma::stats {

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) {
    // Nothing was written through it, so close() has nothing to lose; and after EINTR Linux has
    // closed it too.
    (void)::close(fd_);
  }
}

Error system_error(int errno_value, std::string attempt) {
  ErrorCode code = ErrorCode::kIo;
  switch (errno_value) {
    case ENOENT:
      code = ErrorCode::kNotFound;
      break;
    case ESRCH:
    case ENODEV:
      code = ErrorCode::kVanished;
      break;
    case EACCES:
    case EPERM:
      code = ErrorCode::kPermissionDenied;
      break;
    default:
      break;
  }
  return Error{code, errno_value,
               std::move(attempt) + ": " + std::generic_category().message(errno_value)};
}

}  // namespace vmnuma::stats
