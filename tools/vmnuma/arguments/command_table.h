// SPDX-License-Identifier: Apache-2.0
/// The command line of `vmnuma` as a table, for completions.
#pragma once

#include <string>
#include <vector>

namespace vmnuma::tools {

struct OptionInfo {
  std::vector<std::string> names;  ///< "-h", "--help"
  std::string value;               ///< the kind of its value, "VM" or "a|b"; empty for a switch
  std::string help;
  bool repeatable = false;
};

struct ArgumentInfo {
  std::string name;  ///< "VM"
  std::string help;
  bool repeatable = false;
};

struct CommandInfo {
  std::string name;
  std::string help;
  std::vector<std::string> examples;  ///< command lines as typed
  std::vector<OptionInfo> options;    ///< its own; options of its parent commands are valid as well
  std::vector<ArgumentInfo> arguments;
  std::vector<CommandInfo> commands;
};

/// Returns the whole command line; its name is "vmnuma".
[[nodiscard]] CommandInfo command_table();

}  // namespace vmnuma::tools
