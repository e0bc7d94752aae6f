// SPDX-License-Identifier: Apache-2.0
/// The parts of the reader that other readers need, too.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "balancer/config/config.h"
#include "placement/base/result.h"

namespace vmnuma::balancer {

/// Valid options only, by name.
using OptionValues = std::map<std::string, std::int64_t>;

struct ParsedOptions {
  OptionValues values;           ///< valid ones
  std::optional<Error> problem;  ///< the invalid ones, in the form of parse_config()
};

/// Reads a file that may only contain `[options]`.
[[nodiscard]] ParsedOptions parse_options(std::string_view text, std::string_view file);

/// Sets the options in `config` and records their origin.
void apply_options(Config& config, const OptionValues& values, Origin origin);

}  // namespace vmnuma::balancer
