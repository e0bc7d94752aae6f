// SPDX-License-Identifier: Apache-2.0
/// Reads and writes whole small files: reads are bounded, and after a crash during a write either
/// the old or the new file is there.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "placement/base/result.h"

namespace vmnuma::files {

/// Reads a regular file of at most `most_bytes`. Errors: not-found, permission-denied,
/// invalid-argument (too large, or not a regular file), io.
[[nodiscard]] Result<std::string> read_file(const std::string& path, std::size_t most_bytes);

/// Replaces the contents of `path` with `text`, through a new file with that mode in the same
/// directory. The new file is on disk when the function returns. Errors: permission-denied,
/// no-space, io; the old file is then unchanged, unless only syncing its directory failed.
[[nodiscard]] Result<void> replace_file(const std::string& path, std::string_view text,
                                        unsigned int mode = 0644);

/// Renames the file to "PATH.damaged-N", with the lowest number that is free. Returns the new name.
/// Errors: no-space (there are too many already), io; the file is then where it was.
[[nodiscard]] Result<std::string> set_aside(const std::string& path);

}  // namespace vmnuma::files
