// SPDX-License-Identifier: Apache-2.0
/// Whole small files: bounded reading, and writing that leaves the old or the new file after a
/// crash.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "placement/base/result.h"

namespace vmnuma::files {

/// Reads a regular file of at most `most_bytes`. Errors: not-found, permission-denied,
/// invalid-argument (too large, or not a regular file), io.
[[nodiscard]] Result<std::string> read_file(const std::string& path, std::size_t most_bytes);

/// Replaces the file at `path` by `text`, through a new file of that mode in the same directory; on
/// disk when it returns. Errors: permission-denied, no-space, io; the old file is then untouched,
/// unless only its directory could not be synced.
[[nodiscard]] Result<void> replace_file(const std::string& path, std::string_view text,
                                        unsigned int mode = 0644);

}  // namespace vmnuma::files
