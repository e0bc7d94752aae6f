// SPDX-License-Identifier: Apache-2.0
/// The part of the reader that load.cc and persisted_options.cc share.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "balancer/config/config.h"
#include "placement/result.h"

namespace vmnuma::balancer {

/// Options by name; only valid ones.
using OptionValues = std::map<std::string, std::int64_t>;

/// Reads a file that may have `[options]` and nothing else. Errors as parse_config().
[[nodiscard]] Result<OptionValues> parse_options(std::string_view text, std::string_view file);

/// Sets the options in `config` and notes where they come from.
void apply_options(Config& config, const OptionValues& values, Origin origin);

}  // namespace vmnuma::balancer
