// SPDX-License-Identifier: Apache-2.0
/// What the forecasting commands share.
#pragma once

#include <filesystem>
#include <string>

#include "balancer/config/config.h"
#include "placement/forecast/predictors.h"
#include "stats/forecast/model_file.h"
#include "stats/history/loads.h"

namespace vmnuma::tools {

/// What the history knows of a VM.
[[nodiscard]] inline placement::VmFacts facts_of(const stats::VmLoads& loads) {
  placement::VmFacts facts;
  facts.name = loads.name;
  facts.vcpus = loads.vcpus;
  return facts;
}

/// The daemon's history if none is named.
[[nodiscard]] inline std::filesystem::path history_or_default(const std::string& path) {
  return path.empty() ? balancer::Config().state_dir + "/history.sqlite" : path;
}

/// The model lies beside the history if none is named.
[[nodiscard]] inline std::filesystem::path model_or_default(const std::string& path,
                                                            const std::filesystem::path& history) {
  return path.empty() ? history.parent_path() / stats::kModelFile : std::filesystem::path(path);
}

}  // namespace vmnuma::tools
