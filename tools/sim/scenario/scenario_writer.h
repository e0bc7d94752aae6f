// SPDX-License-Identifier: Apache-2.0
/// Writing scenario files, vmnuma-scenario(5).
///
/// Approach: default values are left out, so that a file shows what is special about its scenario.
/// Spells of `on_off`, which are drawn when a file is read, are written as the steps of `load` that
/// they became.
///
/// Properties:
///  - what is read back is equal, except for the name, which is the file's.
#pragma once

#include <string>

#include "tools/sim/scenario/scenario.h"

namespace vmnuma::tools {

/// The text of the scenario's file.
[[nodiscard]] std::string to_toml(const Scenario& scenario);

}  // namespace vmnuma::tools
