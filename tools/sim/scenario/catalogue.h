// SPDX-License-Identifier: Apache-2.0
/// Finds the scenarios that come with the program, which are files NAME.toml in one directory.
#pragma once

#include <string>
#include <vector>

#include "placement/base/result.h"
#include "tools/sim/scenario/scenario.h"

namespace vmnuma::tools {

/// Returns the directory of the scenarios, in ../share relative to the running program's directory,
/// both in the build and when installed.
[[nodiscard]] std::string scenario_directory();

/// Returns all scenarios of the directory, by name. Errors: those of reading the directory and each
/// file.
[[nodiscard]] Result<std::vector<Scenario>> list_scenarios(const std::string& directory);

/// Reads the scenario in the file `name`, from standard input for "-", or if there is no such file,
/// the scenario of that name in the directory. Errors: not-found (with the most similar existing
/// name), and those of read_scenario.
[[nodiscard]] Result<Scenario> find_scenario(const std::string& name, const std::string& directory);

}  // namespace vmnuma::tools
