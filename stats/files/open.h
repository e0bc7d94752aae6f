// SPDX-License-Identifier: Apache-2.0
/// How files are opened.
///
/// Problem: opening a named pipe waits for its writer, and reading from one, from a terminal or
/// from a device may never end; whoever puts one in a file's place stops who reads it. Approach:
/// everything that reads files opens them here, which tools/check-layers sees to.
///
/// Properties:
///  - only regular files are opened, which all of procfs, sysfs and cgroup are;
///  - opening waits for nobody;
///  - no descriptor survives an exec;
///  - every error names the path.
#pragma once

#include <string>
#include <string_view>

#include "placement/base/result.h"
#include "stats/files/file_descriptor.h"

namespace vmnuma::files {

/// `path` is below `directory` (a descriptor, or AT_FDCWD),
/// `shown` is what messages call it. Errors: not-found, vanished (what the kernel's file describes
/// is gone), permission-denied, invalid-argument (not a regular file), io.
[[nodiscard]] Result<FileDescriptor> open_to_read(int directory, const std::string& path,
                                                  const std::string& shown);

/// For flock(2): the file at `path`, made if there is none, readable for owner and group. Errors:
/// as above, and io for a symbolic link.
[[nodiscard]] Result<FileDescriptor> open_to_lock(const std::string& path);

}  // namespace vmnuma::files
