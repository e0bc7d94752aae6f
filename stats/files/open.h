// SPDX-License-Identifier: Apache-2.0
/// Opens files.
///
/// Problem: opening a named pipe waits for its writer, and reading from one, from a terminal or
/// from a device may never end; if one of these takes a file's place, it blocks the reader.
/// Approach: all code that reads files opens them with these functions; tools/check-layers enforces
/// that.
///
/// Properties:
///  - only regular files are opened; those of procfs, sysfs and cgroup all are;
///  - opening never waits for another process;
///  - no descriptor survives an exec;
///  - every error names the path.
#pragma once

#include <cstddef>
#include <string>

#include "placement/base/result.h"
#include "stats/files/file_descriptor.h"

namespace vmnuma::files {

/// Opens a file for reading. `path` is relative to `directory` (a descriptor, or AT_FDCWD); `shown`
/// is its name in messages. Errors: not-found, vanished (what the kernel's file describes is gone),
/// permission-denied, invalid-argument (not a regular file), io.
[[nodiscard]] Result<FileDescriptor> open_to_read(int directory, const std::string& path,
                                                  const std::string& shown);

/// What a reader accepts: the size, and the error of a larger file.
struct MostBytes {
  std::size_t bytes = 0;
  ErrorCode otherwise{};
};
/// "'/etc/x' is larger than 10 bytes"
[[nodiscard]] tl::unexpected<Error> too_large(const std::string& shown, MostBytes most);

/// Opens a file as open_to_read() does and reads all of it. Errors also: `most.otherwise`.
[[nodiscard]] Result<std::string> read_whole(int directory, const std::string& path,
                                             const std::string& shown, MostBytes most);

/// Opens the file at `path` for flock(2); creates it if necessary, readable for owner and group.
/// Errors: as above, and io for a symbolic link.
[[nodiscard]] Result<FileDescriptor> open_to_lock(const std::string& path);

}  // namespace vmnuma::files
