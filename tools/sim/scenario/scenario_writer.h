// SPDX-License-Identifier: Apache-2.0
/// Writes scenario files, vmnuma-scenario(5).
///
/// Approach: default values are left out, so that a file shows what is special about its scenario.
/// `on_off`, which becomes random steps of `load` when a file is read, is written as those steps.
///
/// Properties:
///  - reading the text gives an equal scenario, except for the name, which is that of the file.
#pragma once

#include <string>

#include "tools/sim/scenario/scenario.h"

namespace vmnuma::tools {

/// Returns the text of the scenario's file.
[[nodiscard]] std::string to_toml(const Scenario& scenario);

}  // namespace vmnuma::tools
