// SPDX-License-Identifier: Apache-2.0
/// Writing a file in one step: whoever reads it finds the old contents or the new, never a part.
#pragma once

#include <string>
#include <string_view>

#include "placement/base/result.h"

namespace vmnuma::tools {

/// Replaces the file by way of "PATH.new". Errors: not-found (no such directory),
/// permission-denied, io.
[[nodiscard]] Result<void> write_counts_file(const std::string& path, std::string_view text);

/// Removes it; no error if there is none.
[[nodiscard]] Result<void> remove_counts_file(const std::string& path);

}  // namespace vmnuma::tools
