// SPDX-License-Identifier: Apache-2.0
/// How files are opened.
///
/// Problem: opening a named pipe waits for its writer, and reading from one, from a terminal or
/// from a device may never end; one put in a file's place blocks its reader. Approach: everything
/// that reads files opens them here; tools/check-layers enforces that.
///
/// Properties:
///  - only regular files are opened, as all of procfs, sysfs and cgroup are;
///  - opening never waits for another process;
///  - no descriptor survives an exec;
///  - every error names the path.
#pragma once

#include <string>
#include <string_view>

#include "placement/base/result.h"
#include "stats/files/file_descriptor.h"

namespace vmnuma::files {

/// `path` is below `directory` (a descriptor, or AT_FDCWD), `shown` is its name in messages.
/// Errors: not-found, vanished (what the kernel's file describes is gone), permission-denied,
/// invalid-argument (not a regular file), io.
[[nodiscard]] Result<FileDescriptor> open_to_read(int directory, const std::string& path,
                                                  const std::string& shown);

/// Opens the file at `path` for flock(2); creates it if there is none, readable for owner and
/// group. Errors: as above, and io for a symbolic link.
[[nodiscard]] Result<FileDescriptor> open_to_lock(const std::string& path);

}  // namespace vmnuma::files
