// SPDX-License-Identifier: Apache-2.0
/// Shared by the forecasting commands.
#pragma once

#include <filesystem>
#include <string>

#include "stats/forecast/model_file.h"

namespace vmnuma::tools {

/// Returns the model's path, which is in the directory of the history unless a path is given.
[[nodiscard]] inline std::filesystem::path model_or_default(const std::string& path,
                                                            const std::filesystem::path& history) {
  return path.empty() ? history.parent_path() / stats::kModelFile : std::filesystem::path(path);
}

}  // namespace vmnuma::tools
