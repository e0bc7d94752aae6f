// SPDX-License-Identifier: Apache-2.0
/// Reads and writes scenario files, vmnuma-scenario(5).
///
/// Approach: default values are left out when a file is written, so that it shows what is special
/// about its scenario. `on_off`, which becomes random steps of `load` when a file is read, is
/// written as those steps.
///
/// Properties:
///  - reading what was written gives an equal scenario, except for the name, which is that of the
///    file.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "placement/base/result.h"
#include "tools/sim/scenario/scenario.h"

namespace vmnuma::tools {

/// Settings of a VM's policy that have the same name and the same values as in vmnuma.toml(5).
inline constexpr std::array<std::string_view, 9> kPolicySettings{
    "memory_mode", "consolidate", "do_not_move", "strategy",       "cpu_binding",
    "cpu_policy",  "class",       "reservation", "locality_weight"};

/// Reads the text of a scenario file. `file` is its path, for messages and the scenario's name.
/// Error: invalid-argument, with one line "FILE:LINE: what" per problem: keys that do not exist
/// (with the most similar key), values of the wrong kind or out of range, VMs and nodes that do not
/// exist.
[[nodiscard]] Result<Scenario> parse_scenario(std::string_view text, const std::string& file);

/// Reads a file of at most 1 MiB. Errors also: not-found, permission-denied, io.
[[nodiscard]] Result<Scenario> read_scenario(const std::string& path);

/// Returns the text of the scenario's file.
[[nodiscard]] std::string to_toml(const Scenario& scenario);

}  // namespace vmnuma::tools
