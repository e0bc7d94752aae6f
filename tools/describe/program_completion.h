// SPDX-License-Identifier: Apache-2.0
/// Shell completions of programs with options and no commands, made from their --help, which is
/// made from their own tables. What can be offered for a value follows from its name there
/// (completion_words.h).
///
/// Properties, tested with the shell: every option in --help is offered; where a file is expected,
/// files are, and where one of several words is, these.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "placement/base/result.h"
#include "tools/vmnuma/arguments/command_table.h"

namespace vmnuma::tools {

/// The options that a help lists. `value` is "one-of:..." if the words follow on lines of their
/// own.
[[nodiscard]] std::vector<OptionInfo> options_of_help(std::string_view help);

/// The completion for "bash", "fish" or "zsh". Error: invalid-argument (another shell, or a help
/// without options).
[[nodiscard]] Result<std::string> program_completion(std::string_view shell,
                                                     std::string_view program,
                                                     std::string_view help);

}  // namespace vmnuma::tools
