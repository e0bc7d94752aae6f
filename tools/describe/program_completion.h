// SPDX-License-Identifier: Apache-2.0
/// Makes shell completions of programs that have options but no commands, from their --help, which
/// is made from their own tables. What is offered for a value follows from its name in the help
/// (completion_words.h).
///
/// Properties, tested with the shell: every option in --help is offered; where a file is expected,
/// files are offered, and where one of several words is expected, these words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "placement/base/result.h"
#include "tools/vmnuma/arguments/command_table.h"

namespace vmnuma::tools {

/// Returns the options that a help lists. `value` is "one-of:..." if the possible words follow on
/// separate lines.
[[nodiscard]] std::vector<OptionInfo> options_of_help(std::string_view help);

/// Returns the completion for "bash", "fish" or "zsh". Error: invalid-argument (another shell, or a
/// help without options).
[[nodiscard]] Result<std::string> program_completion(std::string_view shell,
                                                     std::string_view program,
                                                     std::string_view help);

}  // namespace vmnuma::tools
