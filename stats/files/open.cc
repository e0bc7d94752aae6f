// SPDX-License-Identifier: Apache-2.0
#include "stats/files/open.h"

#include <algorithm>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

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

tl::unexpected<Error> too_large(const std::string& shown, MostBytes most) {
  return failure(most.otherwise,
                 "'" + shown + "' is larger than " + std::to_string(most.bytes) + " bytes");
}

Result<std::string> read_whole(int directory, const std::string& path, const std::string& shown,
                               MostBytes most) {
  constexpr std::size_t kFirstBytes = 4096;  // most files are smaller
  VMNUMA_ASSIGN_OR_RETURN(const auto file, open_to_read(directory, path, shown));
  std::string text;
  std::size_t length = 0;
  while (length <= most.bytes) {
    if (length == text.size()) {
      text.resize(std::min(std::max(2 * length, kFirstBytes), most.bytes + 1));
    }
    const ssize_t got = uninterrupted(
        [&] { return ::read(file.get(), text.data() + length, text.size() - length); });
    if (got < 0) {
      return tl::unexpected(system_error(errno, "cannot read '" + shown + "'"));
    }
    if (got == 0) {
      text.resize(length);
      return text;
    }
    length += static_cast<std::size_t>(got);
  }
  return too_large(shown, most);
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
