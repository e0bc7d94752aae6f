// SPDX-License-Identifier: Apache-2.0
/// What the forecasting commands share.
#pragma once

#include <filesystem>
#include <string>

#include "stats/forecast/model_file.h"

namespace vmnuma::tools {

/// The model lies beside the history if none is named.
[[nodiscard]] inline std::filesystem::path model_or_default(const std::string& path,
                                                            const std::filesystem::path& history) {
  return path.empty() ? history.parent_path() / stats::kModelFile : std::filesystem::path(path);
}

}  // namespace vmnuma::tools
