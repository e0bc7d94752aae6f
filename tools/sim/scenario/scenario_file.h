// SPDX-License-Identifier: Apache-2.0
/// Reads scenario files, vmnuma-scenario(5).
#pragma once

#include <string>
#include <string_view>

#include "placement/base/result.h"
#include "tools/sim/scenario/scenario.h"

namespace vmnuma::tools {

/// Reads the text of a scenario file. `file` is its path, for messages and the scenario's name.
/// Error: invalid-argument, with one line "FILE:LINE: what" per problem: keys that do not exist
/// (with the most similar key), values of the wrong kind or out of range, VMs and nodes that do not
/// exist.
[[nodiscard]] Result<Scenario> parse_scenario(std::string_view text, const std::string& file);

/// Reads a file of at most 1 MiB. Errors also: not-found, permission-denied, io.
[[nodiscard]] Result<Scenario> read_scenario(const std::string& path);

}  // namespace vmnuma::tools
