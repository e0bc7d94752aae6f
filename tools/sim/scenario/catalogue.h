// SPDX-License-Identifier: Apache-2.0
/// The scenarios that come with the program: one file each, named NAME.toml, in one directory.
#pragma once

#include <string>
#include <vector>

#include "placement/base/result.h"
#include "tools/sim/scenario/scenario.h"

namespace vmnuma::tools {

/// Their directory for the running program, in the build as well as when installed: in ../share
/// relative to its directory.
[[nodiscard]] std::string scenario_directory();

/// All scenarios of the directory, by name. Errors: of reading the directory and of each file.
[[nodiscard]] Result<std::vector<Scenario>> list_scenarios(const std::string& directory);

/// The scenario in the file `name`, on standard input for "-", or if there is no such file, the one
/// of that name in the directory. Errors: not-found (with the nearest name there is), and those of
/// read_scenario.
[[nodiscard]] Result<Scenario> find_scenario(const std::string& name, const std::string& directory);

}  // namespace vmnuma::tools
