// SPDX-License-Identifier: Apache-2.0
#include "stats/files/open.h"

#include <fcntl.h>
#include <sys/stat.h>

namespace vmnuma::files {

namespace {

/// Returns `fd`, which open() just returned, if it is a regular file.
Result<FileDescriptor> only_regular(FileDescriptor fd, const std::string& shown) {
  if (fd.get() < 0) {
    return tl::unexpected(system_error(errno, "cannot open '" + shown + "'"));
  }
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) {
    return tl::unexpected(system_error(errno, "cannot look at '" + shown + "'"));
  }
  if (!S_ISREG(status.st_mode)) {
    return failure(ErrorCode::kInvalidArgument, "'" + shown + "' is not a regular file");
  }
  return fd;
}

}  // namespace

Result<FileDescriptor> open_to_read(int directory, const std::string& path,
                                    const std::string& shown) {
  // O_NONBLOCK: without it a named pipe would block here until another process opens it for
  // writing. O_NOCTTY: a terminal must not become the daemon's own.
  return only_regular(FileDescriptor(uninterrupted([&] {
                        return ::openat(directory, path.c_str(),
                                        O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
                      })),
                      shown);
}

Result<FileDescriptor> open_to_lock(const std::string& path) {
  constexpr mode_t kOwnerAndGroup = 0640;
  return only_regular(FileDescriptor(uninterrupted([&] {
                        return ::open(
                            path.c_str(),
                            O_RDONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
                            kOwnerAndGroup);
                      })),
                      path);
}

}  // namespace vmnuma::files
